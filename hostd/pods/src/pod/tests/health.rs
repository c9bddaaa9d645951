//! Grace period, restarts, other firmware, another pod: what is noticed and reported.

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::TryRecvError;

use super::script::{greeted_as, ok, scripted, scripted_with};
use super::*;

fn heard(events: &mut broadcast::Receiver<PodEvent>) -> Vec<PodEvent> {
    let mut heard = Vec::new();
    loop {
        match events.try_recv() {
            Ok(event) => heard.push(event),
            Err(TryRecvError::Empty | TryRecvError::Closed) => return heard,
            Err(TryRecvError::Lagged(missed)) => panic!("missed {missed}"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn commands_wait_for_a_pod_that_is_back_within_its_grace() {
    let bench = bench(SimConfig::default());
    let pod = Pod::spawn(bench.clone(), PodOptions::default());
    pod.wait_online(DEFAULT_REPLY_TIMEOUT).await.unwrap();
    let mut events = pod.events();
    bench.set_plugged(false);
    sleep(Duration::from_millis(1)).await;
    let PodState::Reconnecting { reason, facts } = pod.state() else {
        panic!("{:?}", pod.state())
    };
    assert!(reason.contains("closed"), "{reason}");
    assert_eq!(pod.status().unwrap(), facts);
    let before = Instant::now();
    let plug = async {
        sleep(Duration::from_secs(4)).await;
        bench.set_plugged(true);
    };
    let (answer, ()) = tokio::join!(ask(&pod, json!({"cmd": "ping"})), plug);
    assert_eq!(answer.unwrap(), "pong");
    assert!(before.elapsed() < PodOptions::default().grace);
    assert_eq!(
        heard(&mut events),
        [],
        "a short absence is not worth telling"
    );
}

#[tokio::test(start_paused = true)]
async fn a_command_that_runs_out_of_time_during_the_grace_is_told_why() {
    let bench = bench(SimConfig::default());
    let pod = Pod::spawn(bench.clone(), PodOptions::default());
    pod.wait_online(DEFAULT_REPLY_TIMEOUT).await.unwrap();
    bench.set_plugged(false);
    sleep(Duration::from_millis(1)).await;
    let before = Instant::now();
    let short = Duration::from_secs(2);
    let error = pod.command(object(json!({"cmd": "ping"})), short).await;
    assert_eq!(before.elapsed(), short);
    let error = error.unwrap_err();
    assert!(matches!(&error, PodError::Offline { .. }), "{error:?}");
    assert!(error.to_string().contains("opened anew"), "{error}");
    // A more patient caller learns it when the grace period is over.
    let error = ask(&pod, json!({"cmd": "ping"})).await.unwrap_err();
    assert!((9..=10).contains(&before.elapsed().as_secs()));
    assert!(error.to_string().contains("within 10 s"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn without_grace_a_lost_pod_is_offline_at_once() {
    let bench = bench(SimConfig::default());
    let options = PodOptions {
        grace: Duration::ZERO,
        ..PodOptions::default()
    };
    let pod = Pod::spawn(bench.clone(), options);
    pod.wait_online(DEFAULT_REPLY_TIMEOUT).await.unwrap();
    bench.set_plugged(false);
    sleep(Duration::from_millis(1)).await;
    let PodState::Offline { .. } = pod.state() else {
        panic!("{:?}", pod.state())
    };
}

#[tokio::test(start_paused = true)]
async fn a_restart_ends_sessions_and_renews_what_is_known() {
    let bench = bench(SimConfig {
        la_voltage_mv: Some(3300),
        ..SimConfig::default()
    });
    let pod = Pod::spawn(bench.clone(), PodOptions::default());
    pod.wait_online(DEFAULT_REPLY_TIMEOUT).await.unwrap();
    pod.set_la_voltage(1800).await.unwrap();
    pod.refresh().await.unwrap();
    let mut events = pod.events();
    let session = pod.begin(SessionKind::Exclusive).await.unwrap();
    sleep(Duration::from_secs(20)).await;
    bench.reboot();
    assert_eq!(session.ended().await, SessionEnd::Rebooted);
    drop(session);
    pod.wait_online(DEFAULT_REPLY_TIMEOUT).await.unwrap();
    let heard = heard(&mut events);
    let cause = Some("software".to_owned());
    assert_eq!(heard, [PodEvent::Rebooted { cause }]);
    assert_ne!(pod.status().unwrap().raw["la_vccio_mv"], 1800);
}

#[tokio::test(start_paused = true)]
async fn a_restart_behind_a_link_that_stays_is_seen_in_the_next_status() {
    let status =
        |uptime_ms: u64, version: &str| json!({"version": version, "uptime_ms": uptime_ms});
    let pings = (0..11).map(|_| ok("ping", json!("pong")));
    let mut steps: Vec<_> = pings.collect();
    steps.push(ok("status", status(7_000, "3.9.5")));
    let pod = scripted(vec![greeted_as("A", status(500_000, "3.9.4"), steps)]).await;
    let mut events = pod.events();
    sleep(Duration::from_secs(61)).await;
    let (was, now) = ("3.9.4".to_owned(), "3.9.5".to_owned());
    let expected = [
        PodEvent::Rebooted { cause: None },
        PodEvent::FirmwareChanged { was, now },
    ];
    assert_eq!(heard(&mut events), expected);
    assert_eq!(pod.status().unwrap().firmware_version, "3.9.5");
}

#[tokio::test(start_paused = true)]
async fn another_pod_at_the_same_address_is_refused_until_the_right_one_is_back() {
    let status = json!({"version": "3.9.4"});
    let close = [script::Step::Take("nothing"), script::Step::Close];
    let pod = scripted(vec![
        greeted_as(
            "A",
            status.clone(),
            [script::Step::Take("la_pins")].into_iter().chain(close),
        ),
        vec![ok(
            "identity_public",
            json!({"public": format!("{}A", "B".repeat(42))}),
        )],
        vec![ok(
            "identity_public",
            json!({"public": format!("{}A", "B".repeat(42))}),
        )],
        greeted_as("A", status, []),
    ])
    .await;
    let first = pod.identity().unwrap();
    let mut events = pod.events();
    let session = pod.begin(SessionKind::Uart);
    drop(session);
    let short = Duration::from_secs(1);
    pod.command(object(json!({"cmd": "la_pins"})), short)
        .await
        .unwrap_err();
    sleep(Duration::from_millis(300)).await;
    let PodState::Offline { reason } = pod.state() else {
        panic!("{:?}", pod.state())
    };
    assert!(reason.contains("another pod (04104"), "{reason}");
    assert!(reason.contains(&first.short_id), "{reason}");
    pod.wait_online(DEFAULT_REPLY_TIMEOUT).await.unwrap();
    assert_eq!(pod.identity().unwrap(), first);
    let heard = heard(&mut events);
    let changes = heard.iter().filter(|event| {
        matches!(event, PodEvent::IdentityChanged { was, now }
            if *was == first.public_key && now.public_key.starts_with("BB"))
    });
    assert_eq!(changes.count(), 1, "{heard:?}");
    assert!(matches!(heard.first(), Some(PodEvent::Offline { .. })));
    assert!(matches!(heard.last(), Some(PodEvent::Online(_))));
}

#[tokio::test(start_paused = true)]
async fn reasons_are_sentences() {
    let steps = [script::Step::Bytes("la_pins", b"<html>\n".to_vec())];
    let options = PodOptions {
        grace: Duration::from_secs(3),
        ..PodOptions::default()
    };
    let status = json!({"version": "3.9.4"});
    let pod = scripted_with(options, vec![greeted_as("A", status, steps)]).await;
    let mut events = pod.events();
    ask(&pod, json!({"cmd": "la_pins"})).await.unwrap_err();
    let reason = loop {
        // Later attempts to connect have reasons of their own: this is the one it went offline with.
        if let PodEvent::Offline { reason } = events.recv().await.unwrap() {
            break reason;
        }
    };
    assert_eq!(
        reason,
        "its answer to `la_pins` is wrong: a reply is malformed: the pod's answer is not a reply: \
         `<html>`, and it has not come back within 3 s"
    );
}
