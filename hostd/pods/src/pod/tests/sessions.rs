//! Sessions: what may be open together, what they hold, and how they end.

use pod_protocol::RefusalKind;
use pod_protocol::connection::LAN_CONNECTIONS_MAX;
use pod_sim::SimPod;

use super::*;

async fn functions(pod: &Pod) -> Vec<String> {
    let table = ask(pod, json!({"cmd": "la_pins"})).await.unwrap();
    let pins = table["pins"].as_array().unwrap();
    let functions = pins.iter().map(|pin| pin["function"].as_str().unwrap());
    let owned = functions.filter(|function| *function != "none");
    owned.map(str::to_owned).collect()
}

#[tokio::test(start_paused = true)]
async fn the_rules_for_what_goes_together_hold_for_every_pair() {
    use SessionKind::{Capture, Console, Dac, Flash, Uart, Update};
    let pod = online(SimConfig::default()).await;
    let together = [
        (Uart, Capture),
        (Uart, Dac),
        (Capture, Dac),
        (Console, Capture),
        (Console, Dac),
        (Console, Flash),
        (Console, Update),
    ];
    for first in SessionKind::ALL {
        for second in SessionKind::ALL {
            let one = pod.begin(first).await.unwrap();
            let other = pod.begin(second).await;
            let allowed =
                together.contains(&(first, second)) || together.contains(&(second, first));
            match other {
                Ok(other) => {
                    assert!(allowed, "{first} and {second}");
                    assert_eq!(other.kind(), second);
                }
                Err(PodError::Busy { wanted, held }) => {
                    assert!(!allowed, "{first} and {second}");
                    assert_eq!((wanted, held), (second, first));
                }
                Err(error) => panic!("{error:?}"),
            }
            assert_eq!(one.kind(), first);
            drop(one);
            assert_eq!((pod.sessions().len(), pod.connections_taken()), (0, 0));
        }
    }
    let all = [Uart, Capture, Dac];
    let mut open = Vec::new();
    for kind in all {
        open.push(pod.begin(kind).await.unwrap());
    }
    assert_eq!(pod.sessions(), all);
}

#[test]
fn a_refusal_is_a_sentence() {
    use SessionKind::{Capture, Exclusive, Uart, Update};
    for (held, wanted, said) in [
        (
            Exclusive,
            Capture,
            "an exclusive session of this pod is open; a capture session cannot be open beside it",
        ),
        (
            Uart,
            Update,
            "a uart session of this pod is open; an update session cannot be open beside it",
        ),
    ] {
        assert_eq!(PodError::Busy { wanted, held }.to_string(), said);
    }
}

#[tokio::test(start_paused = true)]
async fn a_uart_session_carries_bytes_and_its_channels_are_free_when_it_is_closed() {
    let pod = online(SimConfig {
        jumpers: vec![(3, 4)],
        ..SimConfig::default()
    })
    .await;
    for _ in 0..3 {
        let mut session = pod.uart(3, 4, 115_200, None).await.unwrap();
        assert_eq!(functions(&pod).await, ["uart_rx", "uart_tx"]);
        // A line has to be idle before it carries anything.
        sleep(Duration::from_millis(1)).await;
        session.write_all(b"hello").await.unwrap();
        let mut echo = [0; 5];
        session.read_exact(&mut echo).await.unwrap();
        assert_eq!(&echo, b"hello");
        session.close().await.unwrap();
        assert!(functions(&pod).await.is_empty());
    }
    // Dropped, the next one waits until the pod has noticed.
    for _ in 0..3 {
        drop(pod.uart(3, 4, 115_200, None).await.unwrap());
    }
    assert_eq!(pod.connections_taken(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_refused_session_gives_everything_back() {
    let pod = online(SimConfig::default()).await;
    let output = json!({"cmd": "gpio", "la": 5, "mode": "output", "level": 1});
    ask(&pod, output).await.unwrap();
    let error = pod.uart(5, 6, 9600, None).await.err().unwrap();
    let PodError::Refused(refusal) = error else {
        panic!("{error:?}")
    };
    let function = "gpio".to_owned();
    assert_eq!(refusal.kind, RefusalKind::PinConflict { la: 5, function });
    assert_eq!((pod.sessions().len(), pod.connections_taken()), (0, 0));
    release_all(&pod).await;
    pod.uart(5, 6, 9600, None)
        .await
        .unwrap()
        .close()
        .await
        .unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_revoked_session_wakes_both_directions_with_the_reason() {
    let pod = online(SimConfig::default()).await;
    let session = pod.uart(1, 2, 300, None).await.unwrap();
    let ended = session.ended();
    let (mut reads, mut writes) = tokio::io::split(session);
    let read = tokio::spawn(async move { reads.read(&mut [0; 8]).await.unwrap_err() });
    // At 300 baud this takes longer than the test: the writer is stuck.
    let write = tokio::spawn(async move { writes.write_all(&[0x55; 1 << 20]).await.unwrap_err() });
    sleep(Duration::from_secs(1)).await;
    pod.revoke_sessions("the lease is over");
    pod.revoke_sessions("a later reason");
    let reason = "the lease is over".to_owned();
    let expected = SessionEnd::Revoked { reason };
    for task in [read, write] {
        let error = task.await.unwrap();
        let inner = error.get_ref().unwrap();
        assert_eq!(inner.downcast_ref(), Some(&expected));
    }
    assert_eq!(ended.await, expected);
    assert_eq!((pod.sessions().len(), pod.connections_taken()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_capture_that_is_taken_away_says_so() {
    // Which sends it in many lines.
    let pod = online(SimConfig {
        firmware: "3.9.3".parse().unwrap(),
        ..SimConfig::default()
    })
    .await;
    let la = CaptureRequest::La {
        samples: 1_000_000,
        rate_mhz: 1.0,
        trigger: None,
    };
    let mut stream = pod.capture(la).await.unwrap();
    stream.next().await.unwrap().unwrap();
    pod.revoke_sessions("somebody else has the pod");
    let error = loop {
        match stream.next().await {
            Some(Ok(_)) => {}
            Some(Err(error)) => break error,
            None => panic!("the capture went on"),
        }
    };
    assert!(
        matches!(error, PodError::Ended(SessionEnd::Revoked { .. })),
        "{error:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn sessions_end_when_the_pod_goes_offline_or_is_let_go() {
    let bench = bench(SimConfig::default());
    let pod = Pod::spawn(bench.clone(), PodOptions::default());
    pod.wait_online(DEFAULT_REPLY_TIMEOUT).await.unwrap();
    let mut session = pod.begin(SessionKind::Dac).await.unwrap();
    bench.set_plugged(false);
    let ended = session.ended().await;
    assert!(
        matches!(&ended, SessionEnd::Offline { reason } if !reason.is_empty()),
        "{ended:?}"
    );
    let error = session.read(&mut [0; 1]).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionAborted);
    assert!(matches!(
        pod.begin(SessionKind::Capture).await.err(),
        Some(PodError::Busy { .. } | PodError::Offline { .. })
    ));
    drop(session);
    bench.set_plugged(true);
    pod.wait_online(DEFAULT_REPLY_TIMEOUT).await.unwrap();
    let session = pod.begin(SessionKind::Flash).await.unwrap();
    drop(pod);
    assert_eq!(session.ended().await, SessionEnd::LetGo);
    // Nobody is left to ask the pod.
    assert!(session.close().await.is_err());
}

#[tokio::test(start_paused = true)]
async fn closing_says_so_when_the_pod_keeps_the_channels() {
    let held = json!({"pins": [{"la": 1, "function": "uart_rx"}], "levels": 0});
    let mut steps: Vec<_> = (0..400)
        .map(|_| script::ok("la_pins", held.clone()))
        .collect();
    steps.push(script::ok("ping", json!("pong")));
    let pod = script::scripted(vec![
        script::greeted(steps),
        vec![script::ok("uart_proxy_start", json!("uart ready"))],
    ])
    .await;
    let session = pod.uart(1, 2, 9600, None).await.unwrap();
    let before = Instant::now();
    let error = session.close().await.unwrap_err();
    let kind = SessionKind::Console;
    assert!(
        matches!(error, PodError::NotReleased { kind: held } if held == kind),
        "{error:?}"
    );
    assert!(before.elapsed() <= PodOptions::default().release_wait);
}

/// The simulator behind a link that takes as few connections as a network pod.
struct Lan(Arc<SimPod>);

impl Transport for Lan {
    fn kind(&self) -> &'static str {
        "lan"
    }

    fn connect(&self) -> Connecting<'_> {
        self.0.connect()
    }
}

#[tokio::test(start_paused = true)]
async fn connections_beyond_the_pods_wait_a_while_and_commands_keep_theirs() {
    let pod = Pod::spawn(
        Arc::new(Lan(bench(SimConfig::default()))),
        PodOptions::default(),
    );
    pod.wait_online(DEFAULT_REPLY_TIMEOUT).await.unwrap();
    let mut open = Vec::new();
    for _ in 1..LAN_CONNECTIONS_MAX {
        pod.check_permit().unwrap();
        open.push(pod.open().await.unwrap());
    }
    let full = pod.check_permit().unwrap_err();
    assert!(matches!(full, PodError::NoPermit { limit: 4 }), "{full:?}");
    let before = Instant::now();
    let error = pod.open().await.err().unwrap();
    assert!(
        matches!(error, PodError::NoPermit { limit: 4 }),
        "{error:?}"
    );
    assert_eq!(before.elapsed(), PodOptions::default().permit_timeout);
    ask(&pod, json!({"cmd": "ping"})).await.unwrap();
    let free = async {
        sleep(Duration::from_secs(2)).await;
        open.pop();
    };
    let (again, ()) = tokio::join!(pod.open(), free);
    again.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_upload_reports_progress_and_its_replay_plays_on() {
    let pod = online(SimConfig::default()).await;
    let codes: Vec<u8> = (0..2000_u16).flat_map(u16::to_le_bytes).collect();
    for deep in [false, true] {
        let mut seen = Vec::new();
        let mut progress = |sent| seen.push(sent);
        let mut upload = pod.upload(&codes, deep, &mut progress).await.unwrap();
        let report = upload.replay(None, Some(0.4), false).await.unwrap();
        assert_eq!(report["samples"], 2000);
        let error = upload.replay(Some(9000), None, false).await.unwrap_err();
        assert!(matches!(error, PodError::Refused(_)), "{error:?}");
        upload.close().await.unwrap();
        assert_eq!(seen.last(), Some(&codes.len()));
        ask(&pod, json!({"cmd": "dac_stop"})).await.unwrap();
    }
    let big = vec![1; 100_000];
    let mut seen = Vec::new();
    pod.stage(&big, &mut |sent| seen.push(sent)).await.unwrap();
    assert_eq!((seen.len(), seen.last()), (13, Some(&big.len())));
    assert!(seen.is_sorted());
    let error = pod.upload(&big, false, &mut |_| {}).await.err().unwrap();
    assert!(matches!(error, PodError::Refused(_)), "{error:?}");
    assert_eq!((pod.sessions().len(), pod.connections_taken()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn commands_have_typed_answers() {
    let pod = online(SimConfig::default()).await;
    ask(&pod, json!({"cmd": "ping"})).await.unwrap();
    assert_eq!(pod.la_voltage().await.unwrap().mv, 3300);
    assert_eq!(pod.set_la_voltage(1800).await.unwrap().mv, 1800);
    assert_eq!(pod.refresh().await.unwrap().raw["la_vccio_mv"], 1800);
    pod.target_power(1, true, Some(Duration::from_millis(500)))
        .await
        .unwrap();
    let enabled = async || {
        let status = ask(&pod, json!({"cmd": "target_status"})).await.unwrap();
        status["efuse1"]["enabled"] == 1
    };
    assert!(!enabled().await);
    sleep(Duration::from_secs(1)).await;
    assert!(enabled().await);
}

#[tokio::test(start_paused = true)]
async fn an_answer_of_another_shape_is_told_with_its_command() {
    let steps = [script::ok("la_voltage", json!(["mv", 3300]))];
    let pod = script::scripted(vec![script::greeted(steps)]).await;
    let error = pod.la_voltage().await.unwrap_err();
    let PodError::Protocol(ProtocolError::Data { command, .. }) = error else {
        panic!("{error:?}")
    };
    assert_eq!(command, "la_voltage");
}
