//! Bodies of a replay, its answer and its refusals.

use guest::Busy;
use guest::replay::{Error, Order, Playing, Source};
use guest::testing::{json, mutations, request};
use guest::waveforms::{Mapping, Output};
use serde_json::json;

use super::{example, parse, refusal, reply};

fn library() -> Order {
    parse(&request(r#"{"device_id":"01JGZ5V9T3N8W2K4Q7R6D1M0XA","waveform_id":"01JGZ5V9T3N8W2K4Q7R6D1M0XD","dac_path":"5v"}"#)).unwrap()
}

#[test]
fn what_a_published_client_sends() {
    let order = parse(&request(
        r#"{"device_id":"d","waveform_id":"w","dac_path":"12v","mapping":"fit",
            "sample_rate_mhz":0.5,"window_start":3,"window_len":100,"target_samples":50,
            "on_capture":true,"fault":{"type":"spike","start":1,"width":2}}"#,
    ))
    .unwrap();
    assert!(matches!(&order.source, Source::Library(id) if id == "w"));
    assert_eq!((order.output, order.mapping), (Output::V12, Mapping::Fit));
    assert_eq!((order.window_start, order.window_len), (3, Some(100)));
    assert_eq!((order.target_samples, order.on_capture), (Some(50), true));
    assert!(order.fault.is_some());
    let plain = library();
    assert_eq!((plain.window_start, plain.window_len), (0, None));
    assert!(plain.sample_rate_mhz.is_none() && plain.fault.is_none());
    let zero = r#"{"device_id":"d","waveform_id":"w","window_len":0,"target_samples":0}"#;
    let zero = parse(&request(zero)).unwrap();
    assert_eq!((zero.window_len, zero.target_samples), (None, None));
}

#[test]
fn a_waveform_may_come_along() {
    let order = parse(&request(
        r#"{"device_id":"d","samples_b64":"AAA=","sample_rate_hz":1000,"bits":16,"full_scale_v":2}"#,
    ))
    .unwrap();
    let Source::Inline(given) = order.source else {
        panic!("{order:?}");
    };
    assert_eq!((given.samples_b64.as_str(), given.bits), ("AAA=", 16));
}

#[test]
fn exactly_one_waveform() {
    for (members, field) in [
        (r#""mapping":"fit""#, "waveform_id"),
        (
            r#""waveform_id":"w","samples_b64":"AA==","sample_rate_hz":1"#,
            "samples_b64",
        ),
        (r#""waveform_id":"w","bits":16"#, "bits"),
        (r#""waveform_id":"w","sample_rate_hz":16"#, "sample_rate_hz"),
        (r#""samples_b64":"AA==""#, "sample_rate_hz"),
        (
            r#""samples_b64":"AA==","sample_rate_hz":0"#,
            "sample_rate_hz",
        ),
        (r#""waveform_id":"w","dac_path":"9v""#, "dac_path"),
        (r#""waveform_id":"w","window_start":-1"#, "window_start"),
        (
            r#""waveform_id":"w","sample_rate_mhz":0"#,
            "sample_rate_mhz",
        ),
        (r#""waveform_id":"w","loop":true"#, "loop"),
    ] {
        let error = parse(&request(&format!(r#"{{"device_id":"d",{members}}}"#))).unwrap_err();
        assert_eq!((error.status, error.fields[0].field.as_str()), (400, field));
        assert_eq!(error.fields.len(), 1, "{members}");
    }
}

#[test]
fn the_answer_is_the_documented_example() {
    let playing = Playing {
        samples: 1024,
        source_samples: 2048,
        averaged: 2,
        sample_rate_hz: 50_000.0,
        speed: Some(1.0),
        deep: false,
        armed: false,
        warnings: Vec::new(),
    };
    assert_eq!(json(&reply(&library(), &playing)), json!(example()));
    let armed = Playing {
        armed: true,
        speed: None,
        warnings: vec!["slower".into()],
        ..playing
    };
    let armed = json(&reply(&library(), &armed));
    assert_eq!(
        (&armed["status"], &armed["cotrig"]),
        (&json!("armed"), &json!(true))
    );
    assert!(armed.get("speed").is_none());
    assert_eq!(armed["warnings"], json!(["slower"]));
}

#[test]
fn refusals() {
    let text = || "because".to_owned();
    let busy = Busy {
        holder: None,
        expires_at: None,
        lost: false,
        making_safe: false,
        obstacle: None,
        place: None,
        retry_after_s: 3,
    };
    for (error, status, code) in [
        (Error::NoDevice, 404, "not_found"),
        (Error::NoWaveform, 404, "not_found"),
        (Error::Offline, 503, "device_offline"),
        (Error::Busy(text()), 409, "device_busy"),
        (Error::Held(busy), 409, "lease_held"),
        (Error::NotCapable(text()), 400, "not_capable"),
        (Error::Invalid((text(), text())), 400, "invalid_request"),
        (Error::WrongState(text()), 409, "wrong_state"),
        (Error::Refused(text()), 502, "pod_refused"),
        (Error::TimedOut(5), 504, "device_timeout"),
        (Error::Protocol(text()), 502, "pod_protocol"),
        (Error::Other(text()), 500, "internal"),
    ] {
        let error = refusal(error, &library());
        assert_eq!((error.status, error.code), (status, code));
    }
}

#[test]
fn mutated_bodies_never_panic() {
    let valid = br#"{"device_id":"d","samples_b64":"AAA=","sample_rate_hz":1000.5,"bits":16,
        "window_len":7,"fault":{"type":"stuck","start":1,"width":-2,"level":3}}"#;
    mutations(0x8E91, valid, 10_000, |body| {
        let mut request = request("");
        request.body = body.to_vec();
        if let Ok(order) = parse(&request) {
            assert!(!order.device.is_empty() && order.window_len != Some(0));
        }
    });
}
