//! Jobs: submitting, following, ending and repeating them, and what they leave.

use crate::call::{Rows, call, rows};

/// Routes that are tried on every machine; the others need jobs, which need isolation.
pub(crate) const WITHOUT_JOBS: [&str; 6] = [
    "jobs.check",
    "jobs.list",
    "jobs.measurements",
    "jobs.schema",
    "jobs.trusted_refs",
    "jobs.trust_refs",
];

const FORM: &str = "multipart/form-data; boundary=B";

/// Sources in a zip file whose bytes are all ASCII, since forms of rows are text.
const SOURCES: &[u8] =
    b"--B\r\nContent-Disposition: form-data; name=\"ci_yaml\"\r\n\r\nci.yml\r\n\
    --B\r\nContent-Disposition: form-data; name=\"archive\"; filename=\"a.zip\"\r\n\r\n\
    PK\x03\x04\n\0\0\0\0\0\0\0!\0>V>\n=\0\0\0=\0\0\0\x06\0\0\0ci.yml\
    version: 1\nbuilds: [{ id: a, steps: [{ run: 'true' }] }]\n# 2\n\
    PK\x01\x02\n\0\n\0\0\0\0\0\0\0!\0>V>\n=\0\0\0=\0\0\0\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0ci.yml\
    PK\x05\x06\0\0\0\0\x01\0\x01\0\x34\0\0\0\x61\0\0\0\0\0\r\n--B--\r\n";

const NO_ARCHIVE: &[u8] = b"--B\r\nContent-Disposition: form-data; name=\"ci_yaml\"\r\n\r\n\
    ci.yml\r\n--B\r\nContent-Disposition: form-data; name=\"archive\"; filename=\"a.zip\"\r\n\r\n\
    plain text\r\n--B--\r\n";

const HELLO: &str = r#"{"definition":"version: 1\nbuilds: [{ id: fw, steps: [{ run: 'true' }] }]\n","name":"hello","ref":"main"}"#;

const CHECKED: &str =
    r#"{"definition":"version: 1\nbuilds: [{ id: fw, steps: [{ run: 'true' }] }]\n","ref":"main"}"#;

const BYE: &str =
    r#"{"definition":"version: 1\nbuilds: [{ id: fw, steps: [{ run: 'false' }] }]\n"}"#;

pub(super) fn all() -> Vec<Rows> {
    let mut all = queue();
    all.extend(one());
    all.extend(evidence());
    all
}

fn queue() -> Vec<Rows> {
    vec![
        rows("jobs.submit")
            .success(201, call("/jobs/submit").json(HELLO))
            .success(201, call("/jobs/submit").bytes(FORM, SOURCES))
            .success(
                201,
                call("/jobs/submit")
                    .json(HELLO)
                    .header("idempotency-key", "k"),
            )
            .success(
                201,
                call("/jobs/submit")
                    .json(HELLO)
                    .header("idempotency-key", "k"),
            )
            .refusal(
                409,
                "idempotency_key_reused",
                call("/jobs/submit")
                    .json(BYE)
                    .header("idempotency-key", "k"),
            )
            .refusal(
                400,
                "invalid_request",
                call("/jobs/submit")
                    .json(HELLO)
                    .header("idempotency-key", ""),
            )
            .refusal(
                400,
                "invalid_request",
                call("/jobs/submit").json(r#"{"definition":""}"#),
            )
            .refusal(
                422,
                "invalid_definition",
                call("/jobs/submit").json(r#"{"definition":"version: 1\nbuild: []\n"}"#),
            )
            .refusal(
                422,
                "archive_refused",
                call("/jobs/submit").bytes(FORM, NO_ARCHIVE),
            )
            .refusal(
                415,
                "unsupported_media_type",
                call("/jobs/submit").bytes("text/yaml", b"version: 1"),
            ),
        rows("jobs.check")
            .success(200, call("/jobs/check").json(CHECKED))
            .success(
                200,
                call("/jobs/check").json(
                    r#"{"definition":"version: 1\nbenches: [{ id: b, device: { name: nowhere }, steps: [{ reset: {} }] }]\n"}"#,
                ),
            )
            .refusal(
                422,
                "invalid_definition",
                call("/jobs/check").json(r#"{"definition":"version: 1\nbuild: []\n"}"#),
            ),
        rows("jobs.list")
            .success(200, call("/jobs"))
            .success(200, call("/jobs?limit=1"))
            .success(200, call("/jobs?state=finished&name=hello&ref=main"))
            .success(
                200,
                call("/jobs?verdict=failure&text=hello&since=2026-01-31"),
            )
            .refusal(400, "invalid_request", call("/jobs?limit=0"))
            .refusal(400, "invalid_request", call("/jobs?state=done"))
            .refusal(400, "invalid_request", call("/jobs?cursor=!!")),
        rows("jobs.cases")
            .success(200, call("/jobs/cases"))
            .success(
                200,
                call("/jobs/cases?name=hello&ref=main&since=2026-01-31&text=boot&limit=1"),
            )
            .refusal(400, "invalid_request", call("/jobs/cases?limit=101")),
        rows("jobs.measurements")
            .success(200, call("/measurements"))
            .success(
                200,
                call("/measurements?limit=1&name=3V3&device=demo&serial=B7"),
            )
            .success(200, call("/measurements?ref=main&since=2026-01-31"))
            .success(200, call("/measurements?since=2026-01-31T09:30:00Z"))
            .success(200, call("/measurements?job=<missing>"))
            .success(
                200,
                call("/measurements?cursor=01JGZ5V9T3N8W2K4Q7R6D1M0XJ-00002-00041"),
            )
            .refusal(400, "invalid_request", call("/measurements?limit=0"))
            .refusal(400, "invalid_request", call("/measurements?since=today"))
            .refusal(400, "invalid_request", call("/measurements?cursor=!!")),
        rows("jobs.trusted_refs").success(200, call("/jobs/trusted-refs")),
        rows("jobs.trust_refs")
            .success(
                200,
                call("/jobs/trusted-refs").json(r#"{"refs":["main","v*"]}"#),
            )
            .success(200, call("/jobs/trusted-refs").json(r#"{"refs":[]}"#))
            .refusal(
                400,
                "invalid_request",
                call("/jobs/trusted-refs").json(r#"{"refs":["/main"]}"#),
            ),
        rows("jobs.schema").success(200, call("/jobs/schema.json")),
    ]
}

fn one() -> Vec<Rows> {
    vec![
        rows("jobs.get")
            .success(200, call("/jobs/<job>"))
            .success(200, call("/jobs/<job.waiting>"))
            .refusal(404, "not_found", call("/jobs/<missing>")),
        rows("jobs.why")
            .success(200, call("/jobs/<job>/why"))
            .success(200, call("/jobs/<job.waiting>/why"))
            .refusal(404, "not_found", call("/jobs/<missing>/why")),
        rows("jobs.cancel")
            .success(200, call("/jobs/<new-job.waiting>/cancel"))
            .refusal(409, "finished", call("/jobs/<job>/cancel"))
            .refusal(404, "not_found", call("/jobs/<missing>/cancel")),
        rows("jobs.retry")
            .success(201, call("/jobs/<job>/retry"))
            .refusal(409, "unfinished", call("/jobs/<job.waiting>/retry"))
            .refusal(404, "not_found", call("/jobs/<missing>/retry")),
        rows("jobs.live")
            .success(101, call("/jobs/<job>/ws"))
            .success(101, call("/jobs/<job.waiting>/ws"))
            .refusal(404, "not_found", call("/jobs/<missing>/ws"))
            .refusal(
                403,
                "foreign_origin",
                call("/jobs/<job>/ws").header("origin", "http://elsewhere.example"),
            ),
    ]
}

fn evidence() -> Vec<Rows> {
    vec![
        rows("jobs.log")
            .success(200, call("/jobs/<job>/log?attempt=1"))
            .success(200, call("/jobs/<job>/log?attempt=1&offset=4"))
            .success(200, call("/jobs/<job>/log"))
            .success(200, call("/jobs/<job.waiting>/log"))
            .refusal(400, "invalid_request", call("/jobs/<job>/log?offset=4"))
            .refusal(404, "not_found", call("/jobs/<job>/log?attempt=2"))
            .refusal(404, "not_found", call("/jobs/<missing>/log")),
        rows("jobs.artifacts")
            .success(200, call("/jobs/<job>/artifacts"))
            .success(200, call("/jobs/<job.waiting>/artifacts"))
            .refusal(404, "not_found", call("/jobs/<missing>/artifacts")),
        rows("jobs.artifact")
            .success(200, call("/jobs/<job>/artifacts/fw.a/fw.bin"))
            .refusal(404, "not_found", call("/jobs/<job>/artifacts/fw.a/none"))
            .refusal(404, "not_found", call("/jobs/<job>/artifacts/fw/fw.bin")),
        rows("jobs.capture")
            .success(200, call("/jobs/<job.recorded>/captures/<capture.of-job>"))
            .refusal(404, "not_found", call("/jobs/<job.recorded>/captures/none"))
            .refusal(
                404,
                "not_found",
                call("/jobs/<job>/captures/<capture.of-job>"),
            )
            .refusal(404, "not_found", call("/jobs/<job>/captures/<capture>"))
            .refusal(
                404,
                "not_found",
                call("/jobs/<missing>/captures/<capture.of-job>"),
            ),
        rows("jobs.junit")
            .success(200, call("/jobs/<job>/junit.xml"))
            .refusal(409, "unfinished", call("/jobs/<job.waiting>/junit.xml"))
            .refusal(404, "not_found", call("/jobs/<missing>/junit.xml")),
        rows("jobs.report")
            .success(200, call("/jobs/<job>/report"))
            .refusal(409, "unfinished", call("/jobs/<job.waiting>/report"))
            .refusal(404, "not_found", call("/jobs/<missing>/report")),
        rows("jobs.trace")
            .success(200, call("/jobs/<job>/trace.json"))
            .refusal(409, "unfinished", call("/jobs/<job.waiting>/trace.json"))
            .refusal(404, "not_found", call("/jobs/<missing>/trace.json")),
    ]
}
