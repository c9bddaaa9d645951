//! Seeded short runs of the fuzz targets, from mutated valid inputs.

use fastrand::Rng;

use super::{dial, mutated, replies};

#[test]
fn any_reply_bytes_are_read_without_contradiction() {
    let valid = [
        r#"{"status":"ok","data":{"mv":3300}}"#,
        r#"{"status":"error","message":"pin conflict: LA3 is in use by gpio; x"}"#,
        r#"{"status":"ok","bits":16,"adc_rate_hz":400000,"b64":"BgBN_RP3","more":true}"#,
        r#"{"status":"chunk","data":[1,65535],"more":true}"#,
        r#"{"status":"chunk","la":true,"la_edges":[[0,3],[17,1]],"la_upto":256,"more":true}"#,
        r#"{"status":"chunk","la":true,"la_edges":[[300,3]],"la_upto":512,"more":true}"#,
        r#"{"status":"chunk","la":true,"la_edges":[],"la_upto":600,"more":false}"#,
    ];
    let mut random = Rng::with_seed(3 << 40);
    for _ in 0..20_000 {
        let mut bytes = Vec::new();
        for _ in 0..random.usize(..6) {
            let line = format!("{}\n", random.choice(&valid).unwrap());
            bytes.extend(mutated(&mut |limit| random.usize(..limit), line.as_bytes()));
        }
        replies(&bytes);
    }
}

#[test]
fn any_frames_of_a_pod_that_dials_in_are_read_without_contradiction() {
    let valid = [
        r#"{"type":"tunnel.data","tunnel_id":"t1","data_b64":"YWI"}"#,
        r#"{"type":"tunnel.data","tunnel_id":"t\u00311","data_b64":"YW\u0049"}"#,
        r#"{"type":"command.response","request_id":"7","device_id":"d","status":"ok","data":{"mv":1}}"#,
        r#"{"type":"command.response","request_id":"7","status":"error","error":"pin conflict"}"#,
        r#"{"type":"capabilities","device_id":"d","board":"b","lease_state":true}"#,
        r#"{"type":"efuse.event","device_id":"d","efuse":1,"enabled":true,"fault":0}"#,
        r#"{"type":"pong"}"#,
        r#"{"type":"tunnel.open","tunnel_id":"t1","max_tier":1}"#,
        r#"{"type":"tunnel.close","tunnel_id":"t1"}"#,
        r#"{"type":"command.request","request_id":"7","command":{"cmd":"ping"}}"#,
        r#"{"type":"lease.state","held":true,"holder":"job","expires_in_s":60}"#,
        "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc",
    ];
    let mut random = Rng::with_seed(15 << 16);
    for _ in 0..20_000 {
        let line = random.choice(&valid).unwrap();
        dial(&mutated(
            &mut |limit| random.usize(..limit),
            line.as_bytes(),
        ));
    }
}
