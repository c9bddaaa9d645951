//! Every fault of a simulated pod as its driver sees it: a typed error, and a link that comes back.

use pod_sim::{Fault, SimPod, When};

use super::*;

const SECOND: Duration = Duration::from_secs(1);

/// How long a pod that restarts takes no connections.
const AWAY: Duration = Duration::from_millis(1_500);

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
        // Captures in many lines.
        firmware: "3.9.3".parse().unwrap(),
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
    // A stall that ends is recovered from.
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
        // Nobody waits for the delayed line any more.
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
async fn a_capture_over_a_slow_link_is_whole() {
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
    sleep(SECOND + AWAY / 2).await;
    assert!(!pod.state().is_online());
    sleep(AWAY).await;
    comes_back(&pod).await;
    let after = ask(&pod, json!({"cmd": "status"})).await.unwrap();
    assert_eq!(after["reset"], "software");
    assert!(after["uptime_ms"].as_u64() < before["uptime_ms"].as_u64());
    let power = ask(&pod, json!({"cmd": "power_status"})).await.unwrap();
    assert_eq!(power["internal"]["bus_mv"], 0);
    let pins = ask(&pod, json!({"cmd": "la_pins"})).await.unwrap();
    assert!(!pins.to_string().contains("gpio_out"), "{pins}");
}
