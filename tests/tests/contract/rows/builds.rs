//! Builds of CI and their files.

use crate::call::{Rows, call, rows};

const BYTES: &str = "application/octet-stream";

pub(super) fn all() -> Vec<Rows> {
    vec![
        rows("builds.create").success(
            201,
            call("/cloud/builds")
                .json(r#"{"repo_owner":"acme","repo":"made","ref":"main","wiring":{"swclk":1}}"#),
        ),
        rows("builds.artifacts.add")
            .success(
                201,
                call("/cloud/builds/<build>/artifacts?name=fw.elf").bytes(BYTES, b"abc"),
            )
            .refusal(
                409,
                "wrong_state",
                call("/cloud/builds/<build.finished>/artifacts?name=b.elf").bytes(BYTES, b"abc"),
            )
            .refusal(
                409,
                "name_taken",
                call("/cloud/builds/<build.open>/artifacts?name=fw.elf").bytes(BYTES, b"other"),
            )
            .refusal(
                400,
                "invalid_request",
                call("/cloud/builds/<build>/artifacts").bytes(BYTES, b"abc"),
            ),
        rows("builds.logs.add")
            .success(
                201,
                call("/cloud/builds/<build>/logs?name=pytest.log").bytes("text/plain", b"2 passed"),
            )
            .refusal(
                409,
                "wrong_state",
                call("/cloud/builds/<build.finished>/logs?name=pytest.log")
                    .bytes("text/plain", b"x"),
            ),
        rows("builds.finish")
            .success(
                200,
                call("/cloud/builds/<new-build>/status")
                    .json(r#"{"success":true,"reason":"12 passed"}"#),
            )
            .refusal(
                409,
                "wrong_state",
                call("/cloud/builds/<build.finished>/status").json(r#"{"success":false}"#),
            ),
        rows("builds.artifact")
            .success(200, call("/bench/builds/artifact?build=<build.finished>"))
            .success(
                200,
                call("/bench/builds/artifact?repo=twins&artifact=b.elf&build=<build.twins>"),
            )
            .refusal(
                409,
                "ambiguous",
                call("/bench/builds/artifact?build=<build.twins>"),
            )
            .refusal(
                404,
                "not_found",
                call("/bench/builds/artifact?repo=nowhere"),
            )
            .refusal(400, "invalid_request", call("/bench/builds/artifact?job=1")),
        rows("builds.download")
            .success(
                200,
                call("/bench/builds/<build.finished>/packs/external/artifacts/fw.elf"),
            )
            .refusal(
                404,
                "not_found",
                call("/bench/builds/<build.finished>/packs/external/artifacts/none"),
            ),
    ]
}
