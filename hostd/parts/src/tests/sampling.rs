//! Captures: the driver `demo` of sigrok is a logic analyzer and a scope. Left out where `sigrok-cli` is not installed.

use std::process::{Command, Stdio};

use base::config::{AnalogPart, DeviceConfig, LogicPart};
use pod_protocol::Capabilities;
use pod_protocol::capture::{Assembly, Frame};
use pod_protocol::chunk::{self, CaptureLine};
use pod_protocol::driver::Driver as _;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::bench::{LONG, Line, lacks};
use crate::Driver;

fn is_installed() -> bool {
    let asked = Command::new("sigrok-cli")
        .arg("--version")
        .stdout(Stdio::null())
        .status();
    let is_installed = asked.is_ok_and(|status| status.success());
    if !is_installed {
        eprintln!("sigrok-cli is not installed, so this test is left out");
    }
    is_installed
}

fn demo(logic: bool, analog: bool) -> std::sync::Arc<dyn pod_protocol::connection::Transport> {
    let driver = "demo:logic_channels=8:analog_channels=2".to_owned();
    let device = DeviceConfig {
        name: "b".to_owned(),
        address: "parts:b".to_owned(),
        logic: logic.then(|| LogicPart::Sigrok {
            driver: driver.clone(),
            channels: vec!["D0".to_owned(), "D1".to_owned(), "D2".to_owned()],
            tool: None,
        }),
        analog: analog.then(|| AnalogPart::Sigrok {
            driver,
            input: Some("A0".to_owned()),
            range_mv: Some(20_000),
            tool: None,
        }),
        ..DeviceConfig::default()
    };
    Driver::new(&[device]).transport("b").unwrap()
}

/// What a capture is made of; otherwise the refusal.
async fn capture(
    line: &mut Line,
    request: Value,
    samples: (u64, u64),
) -> Result<(Vec<Frame>, Value), String> {
    line.0
        .write(request.to_string().into_bytes())
        .await
        .unwrap();
    let mut assembly = Assembly::new(samples);
    let (mut frames, mut first) = (Vec::new(), Value::Null);
    loop {
        let read = timeout(LONG, line.0.read())
            .await
            .unwrap()
            .unwrap()
            .unwrap()
            .to_vec();
        if first.is_null() {
            first = serde_json::from_slice(&read).unwrap();
        }
        match chunk::parse(&read).unwrap() {
            CaptureLine::Refused(refusal) => return Err(refusal.text),
            CaptureLine::Chunk(chunk) => {
                let more = chunk.more;
                frames.extend(assembly.push(chunk).unwrap());
                if !more {
                    return Ok((frames, first));
                }
            }
        }
    }
}

#[tokio::test]
async fn logic_and_analog_samples_come_as_from_a_pod() {
    if !is_installed() {
        return;
    }
    let bench = demo(true, true);
    let mut line = Line::to(&bench).await;
    let status = line.until(|status| status["missing"] == json!([])).await;
    let can = Capabilities::from_status(status.as_object().unwrap());
    assert_eq!(
        (can.la_channels, can.adc, can.capture_trigger),
        (Some(3), Some(true), Some(true))
    );
    assert!(can.la_max_samples.is_some());

    let request = json!({"cmd": "la_capture", "samples": 100_000, "sample_rate_mhz": 1.0});
    let (frames, first) = capture(&mut line, request, (0, 100_000)).await.unwrap();
    assert_eq!(first["la_rate_hz"], 1e6);
    let mut edges = 0;
    let mut covered = 0;
    for frame in &frames {
        let Frame::La { edges: some, upto } = frame else {
            panic!("{frame:?}");
        };
        assert!(some.iter().all(|(index, word)| *index < *upto && *word < 8));
        edges += some.len();
        covered = *upto;
    }
    assert_eq!(covered, 100_000);
    assert!(edges > 10_000, "{edges}");

    let triggered = json!({"cmd": "la_capture", "samples": 64, "sample_rate_mhz": 1.0,
        "trigger": {"la": 2, "edge": "rising"}, "trigger_timeout_ms": 5000});
    let (frames, first) = capture(&mut line, triggered, (0, 64)).await.unwrap();
    let Frame::La { edges, .. } = &frames[0] else {
        panic!("{frames:?}");
    };
    assert_eq!((edges[0].0, edges[0].1 & 2), (0, 2), "{edges:?}");
    assert_eq!(
        first["trigger"],
        json!({"la": 2, "edge": "rising", "fired": true})
    );

    let request = json!({"cmd": "capture_dual", "adc_samples": 5000, "la_samples": 0, "adc_rate_mhz": 0.1, "enc": "b64"});
    let (frames, first) = capture(&mut line, request, (5000, 0)).await.unwrap();
    assert_eq!(first["adc_rate_hz"], 1e5);
    let fit = can.adc_fit.unwrap();
    let mut volts = Vec::new();
    for frame in &frames {
        let Frame::Adc { counts, .. } = frame else {
            panic!("{frame:?}");
        };
        volts.extend(counts.iter().map(|count| fit.volts(*count)));
    }
    // The first input of the driver is a square wave of 10 V.
    let (least, most) = volts
        .iter()
        .fold((0.0_f64, 0.0_f64), |(a, b), v| (a.min(*v), b.max(*v)));
    assert!(
        (least + 10.0).abs() < 0.01 && (most - 10.0).abs() < 0.01,
        "{least} {most}"
    );
}

/// The driver's levels are 64 samples again and again, its first input a square wave, five samples low
/// and five high.
#[tokio::test]
async fn levels_and_volts_are_of_one_instant_where_one_instrument_has_both() {
    if !is_installed() {
        return;
    }
    let bench = demo(true, true);
    let mut line = Line::to(&bench).await;
    let status = line.until(|status| status["missing"] == json!([])).await;
    let can = Capabilities::from_status(status.as_object().unwrap());
    assert!(can.capture_dual);
    let fit = can.adc_fit.unwrap();
    let request = json!({"cmd": "capture_dual", "adc_samples": 500, "la_samples": 20_000, "adc_rate_mhz": 0.25,
        "la_rate_mhz": 1.0, "enc": "b64", "trigger": {"la": 1, "edge": "rising"}, "trigger_timeout_ms": 5000});
    let (frames, first) = capture(&mut line, request, (500, 20_000)).await.unwrap();
    assert_eq!(
        (&first["la_rate_hz"], &first["adc_rate_hz"]),
        (&json!(1e6), &json!(2.5e5))
    );
    let (mut volts, mut edges, mut covered) = (Vec::new(), Vec::new(), 0);
    for frame in frames {
        match frame {
            Frame::Adc { counts, .. } => {
                volts.extend(counts.into_iter().map(|count| fit.volts(count)))
            }
            Frame::La { edges: some, upto } => {
                edges.extend(some);
                covered = upto;
            }
        }
    }
    assert_eq!((volts.len(), covered), (500, 20_000));
    // The first edge of its first channel upwards is sample 4 of its pattern.
    assert_eq!((edges[0].0, edges[0].1 & 1), (0, 1));
    for (at, volts) in (0..).zip(volts) {
        let is_high = (4 + 4 * at) / 5 % 2 == 1;
        assert!(
            (volts - if is_high { 10.0 } else { -10.0 }).abs() < 0.01,
            "{at}: {volts}"
        );
    }
}

#[tokio::test]
async fn what_cannot_be_captured_is_refused() {
    if !is_installed() {
        return;
    }
    let bench = demo(true, false);
    let mut line = Line::to(&bench).await;
    line.until(|status| !lacks(status, "logic")).await;
    for (request, told) in [
        (
            json!({"cmd": "capture"}),
            "missing part: analog: this bench has none",
        ),
        (json!({"cmd": "capture_dual"}), "a capture needs samples"),
        (
            json!({"cmd": "capture_dual", "la_samples": 1, "adc_samples": 1}),
            "missing part: analog: this bench has none",
        ),
        (
            json!({"cmd": "la_capture", "samples": 5_000_000}),
            "`samples` must be",
        ),
        (
            json!({"cmd": "la_capture", "sample_rate_mhz": 0}),
            "sample_rate_mhz",
        ),
        (
            json!({"cmd": "la_capture", "trigger": {"la": 4, "edge": "low"}}),
            "`trigger.channel`",
        ),
        (
            json!({"cmd": "la_capture", "trigger": {"la": 1, "edge": "up"}}),
            "rising, falling",
        ),
        (
            // A line that is never high for so long: the pattern of one sample is over at once.
            json!({"cmd": "la_capture", "samples": 4, "sample_rate_mhz": 0.0001,
                "trigger": {"la": 1, "edge": "rising"}, "trigger_timeout_ms": 1}),
            "trigger timeout: no rising edge on LA1 within 1 ms",
        ),
    ] {
        let refused = capture(&mut line, request.clone(), (1, 1))
            .await
            .unwrap_err();
        assert!(refused.contains(told), "{request}: {refused}");
    }
    // A client that leaves stops the instrument for the next.
    let mut gone = Line::to(&bench).await;
    let slow = json!({"cmd": "la_capture", "samples": 100_000, "sample_rate_mhz": 0.001});
    gone.0.write(slow.to_string().into_bytes()).await.unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    drop(gone);
    let request = json!({"cmd": "la_capture", "samples": 64, "sample_rate_mhz": 1.0});
    capture(&mut line, request, (0, 64)).await.unwrap();
}
