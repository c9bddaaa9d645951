//! Waveforms out of a DAC.

use crate::call::{Rows, call, rows};

const PATH: &str = "/dac/replay/start";

pub(super) fn all() -> Vec<Rows> {
    vec![
        rows("dac.replay_start")
            .success(
                200,
                call(PATH).json(r#"{"device_id":"<device>","waveform_id":"<waveform>","dac_path":"5v"}"#),
            )
            .success(
                200,
                call(PATH).json(
                    r#"{"device_id":"<device>","samples_b64":"AP8=","sample_rate_hz":1000,"fault":{"type":"spike","width":-1}}"#,
                ),
            )
            .refusal(
                400,
                "not_capable",
                call(PATH).json(r#"{"device_id":"<digital>","waveform_id":"<waveform>"}"#),
            )
            .refusal(
                400,
                "invalid_request",
                call(PATH).json(r#"{"device_id":"<device>","waveform_id":"<waveform>","window_start":99}"#),
            )
            .refusal(
                404,
                "not_found",
                call(PATH).json(r#"{"device_id":"<device>","waveform_id":"<missing>"}"#),
            )
            .refusal(
                503,
                "device_offline",
                call(PATH).json(r#"{"device_id":"<gone>","waveform_id":"<waveform>"}"#),
            )
            .refusal(
                409,
                "lease_held",
                call(PATH).json(r#"{"device_id":"<leased>","waveform_id":"<waveform>"}"#),
            ),
    ]
}
