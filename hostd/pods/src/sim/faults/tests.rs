//! Every fault as the driver of a pod sees it: a typed error, and a link that comes back.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::{Instant, sleep};

use super::{Fault, FaultError, STALL_MAX, When};
use crate::capture::{CaptureRequest, Frame};
use crate::pod::{DEFAULT_REPLY_TIMEOUT, Pod, PodError, PodOptions, ProtocolError};
use crate::protocol::RefusalKind;
use crate::sim::reboot::BOOT;
use crate::sim::tests::{Client, Random, bench};
use crate::sim::{FAULT_FORMS, Playback, Recording, SimConfig, SimPod};

const SECOND: Duration = Duration::from_secs(1);

fn object(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

async fn ask(pod: &Pod, command: Value) -> Result<Value, PodError> {
    pod.command(object(command), 5 * SECOND).await
}

async fn driven(config: SimConfig) -> (Arc<SimPod>, Pod) {
    let bench = bench(config);
    let pod = Pod::spawn(bench.clone(), PodOptions::default());
    pod.wait_online(DEFAULT_REPLY_TIMEOUT).await.unwrap();
    (bench, pod)
}

/// A square wave on LA1, so that captures have edges to send.
fn square() -> SimConfig {
    let recording = Recording {
        sample_rate_hz: 1e6,
        samples: 10,
        edges: vec![(0, 0), (5, 1)],
    };
    let playback = Playback::new(&recording, &[(0, 1)], None).unwrap();
    SimConfig {
        playback: Some(playback),
        ..SimConfig::default()
    }
}

fn la(samples: u64) -> CaptureRequest {
    CaptureRequest::La {
        samples,
        rate_mhz: 1.0,
        trigger: None,
    }
}

/// Runs a capture to its end: samples covered, and what ended it early.
async fn capture(pod: &Pod, samples: u64) -> (u64, Option<PodError>) {
    let mut stream = match pod.capture(la(samples)).await {
        Ok(stream) => stream,
        Err(error) => return (0, Some(error)),
    };
    let mut covered = 0;
    while let Some(frame) = stream.next().await {
        match frame {
            Ok(Frame::La { upto, .. }) => covered = upto,
            Ok(Frame::Adc { .. }) => panic!("no ADC was asked for"),
            Err(error) => return (covered, Some(error)),
        }
    }
    (covered, None)
}

async fn comes_back(pod: &Pod) {
    let ping = async {
        while ask(pod, json!({"cmd": "ping"})).await.is_err() {
            sleep(Duration::from_millis(50)).await;
        }
    };
    let back = tokio::time::timeout(20 * SECOND, ping).await;
    back.expect("the link comes back");
}

#[tokio::test(start_paused = true)]
async fn unplugged_in_the_middle_of_a_capture_it_is_offline_and_then_back() {
    let (bench, pod) = driven(square()).await;
    bench.fault("unplug@20000B:2s".parse().unwrap());
    let began = Instant::now();
    let (covered, error) = capture(&pod, 100_000).await;
    let Some(PodError::Offline { reason }) = error else {
        panic!("{error:?}")
    };
    assert!(reason.contains("closed"), "{reason}");
    assert!((1..100_000).contains(&covered), "{covered}");
    assert!(!pod.state().is_online());
    comes_back(&pod).await;
    assert!(began.elapsed() >= 2 * SECOND);
    // Nothing holds the capture hardware.
    assert_eq!(capture(&pod, 1000).await.0, 1000);
}

#[tokio::test(start_paused = true)]
async fn unplugged_at_a_time_for_ever_it_stays_offline() {
    let (_bench, pod) = driven(SimConfig {
        faults: vec!["unplug@1s".parse().unwrap()],
        ..SimConfig::default()
    })
    .await;
    ask(&pod, json!({"cmd": "ping"})).await.unwrap();
    sleep(60 * SECOND).await;
    let error = ask(&pod, json!({"cmd": "ping"})).await.unwrap_err();
    assert!(matches!(error, PodError::Offline { .. }), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_reset_connection_is_told_from_a_closed_one() {
    let (bench, pod) = driven(square()).await;
    bench.fault("reset@9999B".parse().unwrap());
    let (_, error) = capture(&pod, 100_000).await;
    let Some(PodError::Offline { reason }) = error else {
        panic!("{error:?}")
    };
    assert!(reason.contains("reset"), "{reason}");
    // The command connection is another one.
    ask(&pod, json!({"cmd": "ping"})).await.unwrap();
    bench.fault(Fault::Reset {
        at: When::Time(SECOND),
    });
    sleep(2 * SECOND).await;
    comes_back(&pod).await;
}

#[tokio::test(start_paused = true)]
async fn a_stall_in_a_reply_times_out_and_a_short_one_is_only_late() {
    let (bench, pod) = driven(SimConfig::default()).await;
    bench.fault("stall@0s:2s".parse().unwrap());
    sleep(Duration::from_millis(1)).await;
    let began = Instant::now();
    ask(&pod, json!({"cmd": "ping"})).await.unwrap();
    assert!(began.elapsed() > SECOND);
    bench.fault("stall@0s".parse().unwrap());
    sleep(Duration::from_millis(1)).await;
    let error = ask(&pod, json!({"cmd": "ping"})).await.unwrap_err();
    assert!(matches!(error, PodError::Timeout { .. }), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_capture_that_stalls_for_ever_times_out_alone() {
    let (bench, pod) = driven(square()).await;
    bench.fault("stall@20000B".parse().unwrap());
    let (covered, error) = capture(&pod, 100_000).await;
    assert!(matches!(error, Some(PodError::Timeout { .. })), "{error:?}");
    assert!((1..100_000).contains(&covered), "{covered}");
    assert_eq!(capture(&pod, 1000).await.0, 1000);
    // One that ends is made up for.
    bench.fault("stall@20000B:10s".parse().unwrap());
    let (covered, error) = capture(&pod, 100_000).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(covered, 100_000);
}

#[tokio::test(start_paused = true)]
async fn garbage_in_place_of_a_reply_or_before_it_is_a_protocol_error_once() {
    for form in ["garbage@1", "garbage=before@1"] {
        let (bench, pod) = driven(SimConfig::default()).await;
        bench.fault(form.parse().unwrap());
        let error = ask(&pod, json!({"cmd": "ping"})).await.unwrap_err();
        assert!(
            matches!(error, PodError::Protocol(ProtocolError::Reply(_))),
            "{error}"
        );
        comes_back(&pod).await;
        // The line that was held back belongs to nobody now.
        let status = ask(&pod, json!({"cmd": "status"})).await.unwrap();
        assert_eq!(status["device"], "benchpod");
    }
}

#[tokio::test(start_paused = true)]
async fn garbage_in_a_capture_ends_it_with_the_reason() {
    let (bench, pod) = driven(square()).await;
    bench.fault("garbage@3".parse().unwrap());
    let (covered, error) = capture(&pod, 10_000).await;
    assert!(
        matches!(error, Some(PodError::Protocol(ProtocolError::Chunk(_)))),
        "{error:?}"
    );
    assert_eq!(covered, 512);
    assert_eq!(capture(&pod, 1000).await.0, 1000);
}

#[tokio::test(start_paused = true)]
async fn a_slow_link_takes_the_time_its_bytes_need() {
    let bench = bench(SimConfig {
        faults: vec!["slow=2000B/s+50ms".parse().unwrap()],
        ..SimConfig::default()
    });
    let mut client = Client::new(&bench).await;
    let began = Instant::now();
    let status = client.ok(json!({"cmd": "status"})).await;
    let bytes = serde_json::to_vec(&status).unwrap().len();
    let least = f64::from(u32::try_from(bytes).unwrap()) / 2000.0;
    let took = began.elapsed().as_secs_f64();
    assert!(
        (least..least + 0.2).contains(&took),
        "{bytes} B in {took} s"
    );
    let began = Instant::now();
    client.ok(json!({"cmd": "ping"})).await;
    let took = began.elapsed();
    assert!(took >= Duration::from_millis(50), "{took:?}");
    // The driver takes it for what it is.
    let (_, pod) = driven(SimConfig {
        faults: vec!["slow=2000B/s+50ms".parse().unwrap()],
        ..SimConfig::default()
    })
    .await;
    assert_eq!(capture(&pod, 10_000).await.0, 10_000);
}

#[tokio::test(start_paused = true)]
async fn older_firmware_lacks_what_came_later() {
    let (bench, pod) = driven(SimConfig {
        faults: vec!["firmware=3.5.0".parse().unwrap()],
        ..SimConfig::default()
    })
    .await;
    let facts = pod.status().unwrap();
    assert_eq!(facts.firmware_version, "3.5.0");
    let caps = facts.raw["caps"].as_array().unwrap();
    assert!(!caps.contains(&json!("can")) && caps.contains(&json!("current_out")));
    let error = ask(&pod, json!({"cmd": "can_status"})).await.unwrap_err();
    let PodError::Refused(refusal) = error else {
        panic!("{error}")
    };
    assert_eq!(refusal.kind, RefusalKind::UnknownCommand);
    // An update shows without a new link.
    bench.fault("firmware=3.9.4".parse().unwrap());
    ask(&pod, json!({"cmd": "status"})).await.unwrap();
    assert_eq!(pod.status().unwrap().firmware_version, "3.9.4");
}

#[tokio::test(start_paused = true)]
async fn a_brown_out_takes_the_targets_power_and_gives_it_back() {
    let recording = Recording {
        sample_rate_hz: 1e6,
        samples: 10,
        edges: vec![(0, 1)],
    };
    let playback = Playback::new(&recording, &[(0, 14)], None).unwrap();
    let (_bench, pod) = driven(SimConfig {
        playback: Some(playback.powered_by(1)),
        faults: vec!["brownout=1@1s:200ms".parse().unwrap()],
        ..SimConfig::default()
    })
    .await;
    let on = json!({"cmd": "target_power", "efuse": 1, "state": 1});
    ask(&pod, on).await.unwrap();
    let look = async |pod: &Pod| {
        let status = ask(pod, json!({"cmd": "target_status"})).await.unwrap();
        let power = ask(pod, json!({"cmd": "power_status"})).await.unwrap();
        let fuse = &status["efuse1"];
        let millivolts = power["internal"]["bus_mv"].as_i64().unwrap();
        (fuse["enabled"] == 1, fuse["fault"] == 1, millivolts > 4500)
    };
    sleep(Duration::from_millis(500)).await;
    assert_eq!(look(&pod).await, (true, false, true));
    let began = Instant::now();
    sleep(Duration::from_millis(600)).await;
    assert_eq!(look(&pod).await, (true, true, false));
    // A switch that is set again does not bring the input back.
    let on = json!({"cmd": "target_power", "efuse": 1, "state": 1});
    ask(&pod, on).await.unwrap();
    assert_eq!(look(&pod).await, (true, true, false));
    assert!(began.elapsed() < Duration::from_millis(690));
    sleep(Duration::from_millis(200)).await;
    assert_eq!(look(&pod).await, (true, false, true));
}

#[tokio::test(start_paused = true)]
async fn a_capture_sees_the_target_go_and_come_back_at_the_very_sample() {
    let recording = Recording {
        sample_rate_hz: 1e6,
        samples: 10,
        edges: vec![(0, 1)],
    };
    let playback = Playback::new(&recording, &[(0, 14)], None).unwrap();
    let bench = bench(SimConfig {
        playback: Some(playback.powered_by(2)),
        ..SimConfig::default()
    });
    let mut client = Client::new(&bench).await;
    client
        .ok(json!({"cmd": "target_power", "efuse": 2, "state": 1}))
        .await;
    bench.fault("brownout=2@1ms:2ms".parse().unwrap());
    let captured = client
        .capture(json!({"cmd": "la_capture", "samples": 5000, "sample_rate_mhz": 1.0}))
        .await;
    let high: Vec<usize> = (0..5000)
        .filter(|at| captured.words[*at] & (1 << 13) != 0)
        .collect();
    assert_eq!(high.len(), 3000);
    assert_eq!((high[999], high[1000]), (999, 3000));
}

#[tokio::test(start_paused = true)]
async fn a_restart_leaves_nothing_as_it_was() {
    let (bench, pod) = driven(SimConfig::default()).await;
    let output = json!({"cmd": "gpio", "la": 2, "mode": "output"});
    ask(&pod, output).await.unwrap();
    let on = json!({"cmd": "target_power", "efuse": 1, "state": 1});
    ask(&pod, on).await.unwrap();
    sleep(10 * SECOND).await;
    let before = ask(&pod, json!({"cmd": "status"})).await.unwrap();
    assert_eq!(before["reset"], "power-on");
    bench.fault(Fault::Reboot {
        at: When::Time(SECOND),
    });
    sleep(SECOND + BOOT / 2).await;
    assert!(!pod.state().is_online());
    sleep(BOOT).await;
    comes_back(&pod).await;
    let after = ask(&pod, json!({"cmd": "status"})).await.unwrap();
    assert_eq!(after["reset"], "software");
    assert!(after["uptime_ms"].as_u64() < before["uptime_ms"].as_u64());
    let power = ask(&pod, json!({"cmd": "power_status"})).await.unwrap();
    assert_eq!(power["internal"]["bus_mv"], 0);
    let pins = ask(&pod, json!({"cmd": "la_pins"})).await.unwrap();
    assert!(!pins.to_string().contains("gpio_out"), "{pins}");
}

#[test]
fn every_form_that_the_help_shows_can_be_read() {
    let seconds = Duration::from_secs;
    let good = [
        (
            "unplug@5s:2s",
            Fault::Unplug {
                at: When::Time(seconds(5)),
                lasts: Some(seconds(2)),
            },
        ),
        (
            "stall@1000B",
            Fault::Stall {
                at: When::Sent(1000),
                lasts: None,
            },
        ),
        (
            "reset@0.5s",
            Fault::Reset {
                at: When::Time(Duration::from_millis(500)),
            },
        ),
        (
            "reboot@4s",
            Fault::Reboot {
                at: When::Time(seconds(4)),
            },
        ),
        (
            "garbage@3",
            Fault::Garbage {
                line: 3,
                instead: true,
            },
        ),
        (
            "brownout=1@4s:200ms",
            Fault::BrownOut {
                rail: 1,
                at: seconds(4),
                lasts: Duration::from_millis(200),
            },
        ),
    ];
    for (text, fault) in good {
        assert_eq!(text.parse(), Ok(fault), "{text}");
        let kind = text.split(['@', '=']).next().unwrap();
        assert!(FAULT_FORMS.contains(kind));
    }
}

#[test]
fn what_cannot_be_read_is_answered_with_the_form() {
    let wrong = [
        ("unplug", "WHEN is a time"),
        ("unplug@", "WHEN is a time"),
        ("unplug@5", "WHEN is a time"),
        ("unplug@-5s", "WHEN is a time"),
        ("unplug@5s:x", "a TIME is"),
        ("unplug=1@5s", "a part too many"),
        ("reset@5s:1s", "a part too many"),
        ("stall@5s:26s", "at most 25 s"),
        ("garbage@0", "from 1"),
        ("garbage=after@1", "a part too many"),
        ("slow=10B/s", "at least 1000B/s"),
        ("slow=2000", "at least 1000B/s"),
        ("slow=2000B/s+5", "a TIME is"),
        ("firmware=3.4", "a version such as"),
        ("brownout=3@1s:1s", "RAIL is 1 or 2"),
        ("brownout=1@1s", "a TIME is"),
        ("brownout=1@100B:1s", "a TIME is"),
    ];
    for (text, reason) in wrong {
        let error = text.parse::<Fault>().unwrap_err();
        let said = error.to_string();
        assert!(said.contains(reason) && said.contains(text), "{said}");
    }
    let unknown = "explode@1s".parse::<Fault>().unwrap_err();
    assert!(matches!(unknown, FaultError::Kind(_)));
    assert!(unknown.to_string().contains("brownout=RAIL@TIME:TIME"));
    assert!(STALL_MAX < 30 * SECOND);
}

#[test]
fn mangled_faults_are_refused_and_never_panic() {
    let mut random = Random(11);
    let whole = ["unplug@5s:2s", "slow=2000B/s+50ms", "brownout=1@4s:200ms"];
    let pieces = [
        "@", ":", "=", "+", "B", "s", "ms", "9e999", "é", "-", ".", "",
    ];
    for _ in 0..20_000 {
        let mut text = (*random.pick(&whole)).to_owned();
        for _ in 0..=random.below(3) {
            let at = random.below(text.len() + 1);
            if text.is_char_boundary(at) {
                let piece: &str = pieces[random.below(pieces.len())];
                text.insert_str(at, piece);
            }
        }
        let _ = text.parse::<Fault>().map_err(|error| error.to_string());
    }
}
