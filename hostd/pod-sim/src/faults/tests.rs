//! Faults as a raw client sees them, and their text forms.

use std::time::Duration;

use fastrand::Rng;
use serde_json::json;
use tokio::time::Instant;

use super::{Fault, FaultError, STALL_MAX, When};
use crate::tests::{Client, bench};
use crate::{FAULT_FORMS, Playback, Recording, SimConfig};

const SECOND: Duration = Duration::from_secs(1);

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
    let mut random = Rng::with_seed(11);
    let whole = ["unplug@5s:2s", "slow=2000B/s+50ms", "brownout=1@4s:200ms"];
    let pieces = [
        "@", ":", "=", "+", "B", "s", "ms", "9e999", "é", "-", ".", "",
    ];
    for _ in 0..20_000 {
        let mut text = (*random.choice(&whole).unwrap()).to_owned();
        for _ in 0..=random.usize(..3) {
            let at = random.usize(..text.len() + 1);
            if text.is_char_boundary(at) {
                let piece: &str = pieces[random.usize(..pieces.len())];
                text.insert_str(at, piece);
            }
        }
        let _ = text.parse::<Fault>().map_err(|error| error.to_string());
    }
}
