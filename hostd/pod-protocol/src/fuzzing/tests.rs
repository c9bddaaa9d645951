//! A seeded short run of the fuzz target, from mutated valid inputs.

use fastrand::Rng;

use super::{mutated, replies};

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
