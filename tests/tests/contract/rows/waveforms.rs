//! Kept waveforms: saving, fetching, showing and removing them.

use crate::call::{Rows, call, rows};

const BYTES: &str = "application/octet-stream";

pub(super) fn all() -> Vec<Rows> {
    let mut all = saved();
    all.extend(kept());
    all
}

fn saved() -> Vec<Rows> {
    vec![
        rows("waveforms.save_codes")
            .success(
                201,
                call("/bench/waveforms").json(
                    r#"{"name":"stairs","samples_b64":"AECAwA==","sample_rate_hz":1000,"bits":8}"#,
                ),
            )
            .refusal(
                400,
                "invalid_request",
                call("/bench/waveforms")
                    .json(r#"{"name":"odd","samples_b64":"AA==","sample_rate_hz":1,"bits":16}"#),
            ),
        rows("waveforms.save_recording")
            .success(
                201,
                call("/bench/waveforms/recording?name=boot&sample_rate_hz=1000&full_scale_v=3.3")
                    .bytes(BYTES, b"AABB"),
            )
            .refusal(
                400,
                "invalid_request",
                call("/bench/waveforms/recording?name=odd&sample_rate_hz=1&full_scale_v=1")
                    .bytes(BYTES, b"odd"),
            ),
        rows("waveforms.save_segments")
            .success(
                201,
                call("/bench/waveforms/segments").json(
                    r#"{"name":"brown-out","dac_path":"3v3","segments":[{"shape":"hold","duration_ms":10,"v_start":3.3},{"shape":"ramp","duration_ms":5,"v_start":3.3,"v_end":1.8}]}"#,
                ),
            )
            .refusal(
                400,
                "invalid_request",
                call("/bench/waveforms/segments").json(
                    r#"{"name":"over","dac_path":"3v3","segments":[{"shape":"hold","duration_ms":10,"v_start":5}]}"#,
                ),
            ),
    ]
}

fn kept() -> Vec<Rows> {
    vec![
        rows("waveforms.list")
            .success(200, call("/bench/waveforms"))
            .success(200, call("/bench/waveforms?limit=1"))
            .refusal(400, "invalid_request", call("/bench/waveforms?limit=0")),
        rows("waveforms.get")
            .success(200, call("/bench/waveforms/<waveform>"))
            .success(200, call("/bench/waveforms/<waveform.codes>"))
            .refusal(404, "not_found", call("/bench/waveforms/<missing>")),
        rows("waveforms.recording")
            .success(200, call("/bench/waveforms/<waveform>/recording"))
            .refusal(
                409,
                "wrong_state",
                call("/bench/waveforms/<waveform.codes>/recording"),
            ),
        rows("waveforms.preview")
            .success(200, call("/bench/waveforms/<waveform>/preview"))
            .success(
                200,
                call(
                    "/bench/waveforms/<waveform>/preview?mapping=fit&dac_path=current_out&points=1",
                ),
            )
            .refusal(
                400,
                "invalid_request",
                call("/bench/waveforms/<waveform>/preview?dac_path=current_out"),
            ),
        rows("waveforms.rename")
            .success(
                200,
                call("/bench/waveforms/<waveform>").json(r#"{"name":"power-up"}"#),
            )
            .refusal(
                404,
                "not_found",
                call("/bench/waveforms/<missing>").json(r#"{"name":"power-up"}"#),
            ),
        rows("waveforms.delete")
            .success(204, call("/bench/waveforms/<new-waveform>"))
            .refusal(404, "not_found", call("/bench/waveforms/<missing>")),
    ]
}
