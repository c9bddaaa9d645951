//! Boards: projects, uploads, runs, what they found, and signed addresses.

use crate::call::{Rows, call, rows};

const BYTES: &str = "application/octet-stream";

pub(super) fn all() -> Vec<Rows> {
    let mut all = projects();
    all.extend(uploads());
    all.extend(boards());
    all.extend(runs());
    all.extend(results());
    all
}

fn projects() -> Vec<Rows> {
    vec![
        rows("emi.features").success(200, call("/emi/features")),
        rows("emi.local_status").success(200, call("/local/status")),
        rows("emi.rules").success(200, call("/emi/rules")),
        rows("emi.projects")
            .success(200, call("/emi/projects"))
            .success(200, call("/emi/projects?limit=1"))
            .refusal(400, "invalid_request", call("/emi/projects?limit=201"))
            .refusal(400, "invalid_request", call("/emi/projects?cursor=!!")),
        rows("emi.project_create")
            .success(
                201,
                call("/emi/projects").json(r#"{"name":"sensor","source_kind":"gerber"}"#),
            )
            .success(201, call("/emi/projects").json(r#"{"name":"sensor"}"#))
            .refusal(
                400,
                "invalid_request",
                call("/emi/projects").json(r#"{"name":"a","source_kind":"paper"}"#),
            ),
        rows("emi.project_get")
            .success(200, call("/emi/projects/<project>"))
            .refusal(404, "not_found", call("/emi/projects/<missing>")),
        rows("emi.project_report")
            .success(
                200,
                // Its report is that of this run.
                call("/emi/projects/<project>/report").header("x-made-by", "<run>"),
            )
            .refusal(
                409,
                "unfinished",
                call("/emi/projects/<new-project>/report"),
            )
            .refusal(404, "not_found", call("/emi/projects/<missing>/report")),
        rows("emi.project_remove")
            .success(204, call("/emi/projects/<new-project>"))
            .refusal(404, "not_found", call("/emi/projects/<missing>")),
    ]
}

fn uploads() -> Vec<Rows> {
    vec![
        rows("emi.upload_begin")
            .success(
                200,
                call("/emi/projects/<project>/uploads").json(
                    r#"{"filename":"a.zip","content_type":"application/zip","size_bytes":4,
                        "sha256":"BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD"}"#,
                ),
            )
            .success(
                200,
                call("/emi/projects/<project>/uploads").json(r#"{"filename":"a.kicad_pcb"}"#),
            )
            .refusal(
                413,
                "body_too_large",
                call("/emi/projects/<project>/uploads")
                    .json(r#"{"filename":"a","size_bytes":9007199254740991}"#),
            )
            .refusal(
                400,
                "invalid_request",
                call("/emi/projects/<project>/uploads").json(r#"{"filename":"../a"}"#),
            )
            .refusal(
                404,
                "not_found",
                call("/emi/projects/<missing>/uploads").json(r#"{"filename":"a"}"#),
            ),
        rows("emi.upload")
            .success(
                200,
                call("/emi/uploads/<new-upload>?expires=<new-upload.expires>&signature=<new-upload.signature>")
                    .bytes(BYTES, b"(kicad_pcb)"),
            )
            .success(
                200,
                call("/emi/uploads/<upload>?expires=<upload.expires>&signature=<upload.signature>")
                    .bytes(BYTES, b"(kicad_pcb)"),
            )
            .refusal(
                403,
                "link_refused",
                call("/emi/uploads/<upload>?expires=1&signature=<upload.signature>")
                    .bytes(BYTES, b"(kicad_pcb)"),
            )
            .refusal(
                403,
                "link_refused",
                call("/emi/uploads/<missing>?expires=<upload.expires>&signature=AA")
                    .bytes(BYTES, b"(kicad_pcb)"),
            )
            .refusal(
                400,
                "invalid_request",
                call("/emi/uploads/<upload>").bytes(BYTES, b"(kicad_pcb)"),
            ),
    ]
}

fn boards() -> Vec<Rows> {
    vec![
        rows("emi.board_create")
            .success(
                201,
                call("/emi/projects/<project>/boards").json(r#"{"input_key":"<new-key.received>"}"#),
            )
            .refusal(
                409,
                "not_received",
                call("/emi/projects/<project>/boards").json(r#"{"input_key":"<new-upload>"}"#),
            )
            .refusal(
                422,
                "wrong_digest",
                call("/emi/projects/<project>/boards").json(
                    r#"{"input_key":"<key.received>",
                        "sha256":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}"#,
                ),
            ),
        rows("emi.boards")
            .success(200, call("/emi/projects/<project>/boards"))
            .refusal(404, "not_found", call("/emi/projects/<missing>/boards")),
        rows("emi.board_lookup")
            .success(
                200,
                call("/emi/boards/lookup?sha256=ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            )
            .refusal(400, "invalid_request", call("/emi/boards/lookup"))
            .refusal(400, "invalid_request", call("/emi/boards/lookup?sha256=xy")),
        rows("emi.board_get")
            .success(200, call("/emi/boards/<board>"))
            .success(200, call("/emi/boards/<board.wrong>"))
            .refusal(404, "not_found", call("/emi/boards/<missing>")),
        rows("emi.board_remove")
            .success(204, call("/emi/boards/<new-board>"))
            .refusal(404, "not_found", call("/emi/boards/<missing>")),
        rows("emi.diff")
            .success(200, call("/emi/boards/<board>/diff?against=<board>"))
            .refusal(
                409,
                "unfinished",
                call("/emi/boards/<board>/diff?against=<board.wrong>"),
            )
            .refusal(
                404,
                "not_found",
                call("/emi/boards/<board>/diff?against=<missing>"),
            )
            .refusal(400, "invalid_request", call("/emi/boards/<board>/diff")),
    ]
}

fn runs() -> Vec<Rows> {
    vec![
        rows("emi.run_create")
            .success(
                201,
                call("/emi/projects/<project>/runs")
                    .json(r#"{"board_id":"<board>","kind":"ingest","params":{"board":{"max_frequency_hz":5e8}}}"#),
            )
            .success(
                201,
                call("/emi/projects/<project>/runs")
                    .json(r#"{"board_id":"<board>","kind":"compliance"}"#),
            )
            .refusal(
                403,
                "not_offered",
                call("/emi/projects/<project>/runs").json(r#"{"board_id":"<board>","kind":"solve"}"#),
            )
            .refusal(
                400,
                "invalid_request",
                call("/emi/projects/<project>/runs").json(r#"{"board_id":"<board>","kind":"all"}"#),
            )
            .refusal(
                400,
                "invalid_request",
                call("/emi/projects/<project>/runs")
                    .json(r#"{"board_id":"<board>","kind":"ingest","params":{"magic":1}}"#),
            )
            .refusal(
                404,
                "not_found",
                call("/emi/projects/<project>/runs")
                    .json(r#"{"board_id":"<missing>","kind":"ingest"}"#),
            ),
        rows("emi.runs")
            .success(200, call("/emi/projects/<project>/runs"))
            .success(200, call("/emi/projects/<project>/runs?limit=2"))
            .refusal(404, "not_found", call("/emi/projects/<missing>/runs")),
        rows("emi.run_get")
            .success(200, call("/emi/runs/<run>"))
            .success(200, call("/emi/runs/<run.failed>"))
            .refusal(404, "not_found", call("/emi/runs/<missing>")),
        rows("emi.run_stop")
            .success(200, call("/emi/runs/<new-run.long>/stop"))
            .refusal(409, "finished", call("/emi/runs/<run>/stop"))
            .refusal(404, "not_found", call("/emi/runs/<missing>/stop")),
        rows("emi.run_retry")
            .success(200, call("/emi/runs/<new-run.failed>/retry"))
            .refusal(409, "wrong_state", call("/emi/runs/<run>/retry"))
            .refusal(404, "not_found", call("/emi/runs/<missing>/retry")),
    ]
}

fn results() -> Vec<Rows> {
    vec![
        rows("emi.findings")
            .success(200, call("/emi/runs/<run>/findings"))
            .success(200, call("/emi/runs/<run>/findings?severity=info&limit=1"))
            .success(200, call("/emi/runs/<run>/findings?rule=plane-gap&net=SCK"))
            .refusal(409, "unfinished", call("/emi/runs/<run.failed>/findings"))
            .refusal(
                400,
                "invalid_request",
                call("/emi/runs/<run>/findings?severity=bad"),
            )
            .refusal(
                400,
                "invalid_request",
                call("/emi/runs/<run>/findings?cursor=x"),
            )
            .refusal(404, "not_found", call("/emi/runs/<missing>/findings")),
        rows("emi.artifacts")
            .success(200, call("/emi/runs/<run>/artifacts"))
            .success(200, call("/emi/runs/<run.failed>/artifacts"))
            .refusal(404, "not_found", call("/emi/runs/<missing>/artifacts")),
        rows("emi.artifact")
            .success(200, call("/emi/runs/<run>/artifacts/rules.json"))
            .refusal(404, "not_found", call("/emi/runs/<run>/artifacts/none.json"))
            .refusal(404, "not_found", call("/emi/runs/<missing>/artifacts/rules.json")),
        rows("emi.file")
            .success(
                200,
                call("/emi/files/<org>/<run>/rules.json?expires=<file.expires>&signature=<file.signature>"),
            )
            .refusal(
                403,
                "link_refused",
                call("/emi/files/<org>/<run>/spectrum.csv?expires=<file.expires>&signature=<file.signature>"),
            )
            .refusal(
                400,
                "invalid_request",
                call("/emi/files/<org>/<run>/rules.json"),
            ),
    ]
}
