//! Firmware updates of pods.

use crate::call::{Call, Rows, call, rows};

const IMAGE: &str = r#"{"artifact":{"job_id":"<build.finished>","artifact_name":"fw.elf"}}"#;

const FORM: &str = "multipart/form-data; boundary=B";

/// An image that the pod refuses after it has received it.
const FILE: &[u8] = b"--B\r\nContent-Disposition: form-data; name=\"version\"\r\n\r\n3.10.0\r\n\
    --B\r\nContent-Disposition: form-data; name=\"image\"; filename=\"pod.bin\"\r\n\r\n\
    four\r\n--B--\r\n";

fn start(path: &'static str) -> Call {
    call(path).json(IMAGE)
}

pub(super) fn all() -> Vec<Rows> {
    vec![
        rows("updates.start")
            .success(202, start("/bench/devices/<updatable>/ota"))
            .success(202, call("/bench/devices/<mailed>/ota").bytes(FORM, FILE))
            .refusal(
                400,
                "invalid_request",
                call("/bench/devices/<digital>/ota").bytes(FORM, b"no form"),
            )
            .refusal(409, "device_busy", start("/bench/devices/<updating>/ota"))
            .refusal(409, "lease_held", start("/bench/devices/<leased>/ota"))
            .refusal(503, "device_offline", start("/bench/devices/<gone>/ota"))
            .refusal(
                404,
                "not_found",
                call("/bench/devices/<digital>/ota").json(r#"{"artifact":{"repo":"nowhere"}}"#),
            )
            .refusal(
                400,
                "invalid_request",
                call("/bench/devices/<digital>/ota").json(r#"{"artifact":{},"sha256":"00"}"#),
            ),
        rows("updates.get")
            .success(200, call("/bench/devices/<digital>/ota"))
            .success(200, call("/bench/devices/<updatable>/ota"))
            .success(200, call("/bench/devices/<updating>/ota"))
            .refusal(404, "not_found", call("/bench/devices/<missing>/ota")),
        rows("updates.abort")
            .success(200, call("/bench/devices/<new-updating>/ota/abort"))
            .refusal(
                409,
                "wrong_state",
                call("/bench/devices/<digital>/ota/abort"),
            ),
    ]
}
