//! Why a request about jobs is refused.

use guest::jobs::{Error, Problem};
use guest::{ApiError, Refusal, TextProblem};

/// Seconds until it is worth submitting again when too many jobs wait: jobs take minutes.
const FULL_RETRY_AFTER_S: u32 = 30;

/// Seconds that a server needs to be back.
const STOPPING_RETRY_AFTER_S: u32 = 10;

/// Too much of one kind waits. The shares are the caller's, and nothing is broken: a 503 would say that the server is.
pub(crate) fn full(sentence: String) -> ApiError {
    ApiError::of(Refusal::TooManyJobs, sentence).retry_after(FULL_RETRY_AFTER_S)
}

/// `what` (`job`, `attempt`, `artifact`) with this id was asked for.
pub(crate) fn of(error: Error, what: &str, id: &str) -> ApiError {
    match error {
        Error::NotFound => ApiError::not_found(what, id),
        Error::Finished => ApiError::of(Refusal::Finished, "the job has ended already"),
        Error::Unfinished => ApiError::of(
            Refusal::Unfinished,
            "the job has not ended; wait for it, or cancel it",
        ),
        Error::Definition(problems) => definition(problems),
        Error::Archive((word, sentence)) => {
            ApiError::of(Refusal::ArchiveRefused, archive(&sentence)).reason(word)
        }
        Error::ArchiveTooLarge((word, sentence)) => {
            ApiError::of(Refusal::ArchiveTooLarge, archive(&sentence)).reason(word)
        }
        Error::Invalid((field, rule)) => ApiError::field(field, rule),
        Error::KeyReused => ApiError::of(
            Refusal::IdempotencyKeyReused,
            "the Idempotency-Key came with another request before; use another key for another job",
        ),
        Error::Full(sentence) => full(sentence),
        Error::Forbidden(sentence) => ApiError::forbidden(sentence),
        Error::Quota(sentence) => ApiError::of(Refusal::QuotaExceeded, sentence),
        Error::WrongState(sentence) => ApiError::of(Refusal::WrongState, sentence),
        // No `retry-after`: it stays so until somebody changes the machine.
        Error::NoIsolation(sentence) => ApiError::of(Refusal::NoIsolation, sentence),
        Error::Stopping => ApiError::of(
            Refusal::Stopping,
            "the server is about to stop; submit the job again when it is back",
        )
        .retry_after(STOPPING_RETRY_AFTER_S),
        Error::Other(cause) => ApiError::internal(cause),
    }
}

fn archive(sentence: &str) -> String {
    format!("the archive is not taken: {sentence}")
}

fn definition(problems: Vec<Problem>) -> ApiError {
    let sentence = match problems.as_slice() {
        [] => return ApiError::internal("a pipeline was refused without a problem"),
        [only] => first(only),
        [one, rest @ ..] => format!("{} (and {} more)", first(one), rest.len()),
    };
    let problems = problems.into_iter().map(|problem| TextProblem {
        line: problem.line,
        column: problem.column,
        code: problem.code,
        path: problem.path,
        message: problem.message,
    });
    ApiError::of(Refusal::InvalidDefinition, sentence).problems(problems.collect())
}

fn first(problem: &Problem) -> String {
    let Problem { line, column, .. } = problem;
    format!(
        "the pipeline is wrong in line {line}, column {column}: {}",
        problem.message
    )
}

#[cfg(test)]
mod tests {
    use guest::jobs::{Error, Problem};
    use guest::testing::json;
    use serde_json::json;

    use super::of;

    #[test]
    fn statuses_and_codes() {
        let pair = || ("path_escapes".to_owned(), "entry 'x' leads out".to_owned());
        for (error, status, code, retry_after_s) in [
            (Error::NotFound, 404, "not_found", None),
            (Error::Finished, 409, "finished", None),
            (Error::Unfinished, 409, "unfinished", None),
            (Error::Archive(pair()), 422, "archive_refused", None),
            (
                Error::ArchiveTooLarge(pair()),
                413,
                "archive_too_large",
                None,
            ),
            (
                Error::Invalid(("ci_yaml".into(), "must be a path".into())),
                400,
                "invalid_request",
                None,
            ),
            (Error::KeyReused, 409, "idempotency_key_reused", None),
            (
                Error::Full("2000 wait".into()),
                429,
                "too_many_jobs",
                Some(30),
            ),
            (Error::Forbidden("ask".into()), 403, "forbidden", None),
            (Error::Quota("50".into()), 409, "quota_exceeded", None),
            (
                Error::WrongState("it runs".into()),
                409,
                "wrong_state",
                None,
            ),
            (Error::NoIsolation("cure".into()), 503, "no_isolation", None),
            (Error::Stopping, 503, "stopping", Some(10)),
            (Error::Other("disk".into()), 500, "internal", None),
            (Error::Definition(Vec::new()), 500, "internal", None),
        ] {
            let error = of(error, "job", "01X");
            assert_eq!((error.status, error.code), (status, code));
            assert_eq!(error.retry_after_s, retry_after_s, "{code}");
        }
        assert_eq!(
            of(Error::NotFound, "job", "01X").message,
            "job not found: 01X"
        );
    }

    #[test]
    fn an_archive_is_refused_with_a_finer_word() {
        let pair = ("path_escapes".to_owned(), "entry 'x' leads out".to_owned());
        assert_eq!(
            json(&of(Error::Archive(pair), "job", "").into_response("R1")),
            json!({
                "error": "the archive is not taken: entry 'x' leads out",
                "code": "archive_refused",
                "request_id": "R1",
                "reason": "path_escapes"
            })
        );
    }

    #[test]
    fn all_problems_of_a_pipeline_are_told() {
        let problem = |line: u32, path: &str| Problem {
            line,
            column: 5,
            code: "unknown_key".into(),
            path: path.into(),
            message: "there is no key `x` here".into(),
        };
        let both = vec![problem(4, "builds[0].x"), problem(9, "x")];
        assert_eq!(
            json(&of(Error::Definition(both), "job", "").into_response("R1")),
            json!({
                "error": "the pipeline is wrong in line 4, column 5: there is no key `x` here (and 1 more)",
                "code": "invalid_definition",
                "request_id": "R1",
                "problems": [
                    {
                        "line": 4, "column": 5, "code": "unknown_key", "path": "builds[0].x",
                        "message": "there is no key `x` here"
                    },
                    {
                        "line": 9, "column": 5, "code": "unknown_key", "path": "x",
                        "message": "there is no key `x` here"
                    }
                ]
            })
        );
        let one = of(Error::Definition(vec![problem(4, "x")]), "job", "");
        assert!(one.message.ends_with("no key `x` here"));
    }
}
