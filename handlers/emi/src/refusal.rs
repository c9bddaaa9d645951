//! Why a request about boards is refused.

use guest::emi::Error;
use guest::{ApiError, Refusal};

/// Seconds until it is worth asking for a run again when too many wait: a run takes seconds.
const BUSY_RETRY_AFTER_S: u32 = 5;

/// Seconds that a server needs to be back.
const STOPPING_RETRY_AFTER_S: u32 = 10;

/// `what` (`project`, `board`, `run`, `artifact`) with this id was asked for.
pub(crate) fn of(error: Error, what: &str, id: &str) -> ApiError {
    match error {
        Error::NotFound => ApiError::not_found(what, id),
        Error::Invalid((field, rule)) => ApiError::field(field, rule),
        Error::NotOffered(sentence) => ApiError::of(Refusal::NotOffered, sentence),
        Error::Finished => ApiError::of(Refusal::Finished, "the run has ended already"),
        Error::NotFailed => ApiError::of(
            Refusal::WrongState,
            "only a run that failed or timed out can be run once more",
        ),
        Error::NotReceived => ApiError::of(
            Refusal::NotReceived,
            "the bytes of this key have not come; send them to the upload_url that came with it, or ask for another",
        ),
        Error::Unfinished => ApiError::of(
            Refusal::Unfinished,
            "the run is not done; wait for it, or look at its error",
        ),
        Error::WrongDigest => ApiError::of(
            Refusal::WrongDigest,
            "the bytes do not have the SHA-256 that was said; send the file again",
        ),
        Error::TooLarge(bytes) => ApiError::new(
            413,
            "body_too_large",
            format!("the file is over the {bytes} bytes that there is room for"),
        ),
        Error::Quota(sentence) => ApiError::of(Refusal::QuotaExceeded, sentence),
        Error::Busy(sentence) => {
            ApiError::of(Refusal::TooManyRuns, sentence).retry_after(BUSY_RETRY_AFTER_S)
        }
        Error::Signature => ApiError::of(
            Refusal::LinkRefused,
            "the address was not made by this server as it stands, or its time is over; ask for it again",
        ),
        Error::Stopping => ApiError::of(
            Refusal::Stopping,
            "the server is about to stop; ask again when it is back",
        )
        .retry_after(STOPPING_RETRY_AFTER_S),
        Error::Other(cause) => ApiError::internal(cause),
    }
}

#[cfg(test)]
mod tests {
    use guest::emi::Error;

    use super::of;

    #[test]
    fn statuses_and_codes() {
        let sentence = || "a sentence".to_owned();
        for (error, status, code) in [
            (Error::NotFound, 404, "not_found"),
            (
                Error::Invalid(("params".into(), "must be less".into())),
                400,
                "invalid_request",
            ),
            (Error::NotOffered(sentence()), 403, "not_offered"),
            (Error::Finished, 409, "finished"),
            (Error::NotFailed, 409, "wrong_state"),
            (Error::NotReceived, 409, "not_received"),
            (Error::Unfinished, 409, "unfinished"),
            (Error::WrongDigest, 422, "wrong_digest"),
            (Error::TooLarge(5), 413, "body_too_large"),
            (Error::Quota(sentence()), 409, "quota_exceeded"),
            (Error::Busy(sentence()), 429, "too_many_runs"),
            (Error::Signature, 403, "link_refused"),
            (Error::Stopping, 503, "stopping"),
            (Error::Other(sentence()), 500, "internal"),
        ] {
            let error = of(error, "board", "01X");
            assert_eq!((error.status, error.code), (status, code));
        }
        let busy = of(Error::Busy(sentence()), "run", "");
        assert_eq!(busy.retry_after_s, Some(5));
        assert_eq!(
            of(Error::NotFound, "board", "01X").message,
            "board not found: 01X"
        );
    }
}
