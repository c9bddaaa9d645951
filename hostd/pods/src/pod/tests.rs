//! The owner of a pod, against the simulator and against pods that misbehave by transcript.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use pod_protocol::RefusalKind;
use pod_protocol::capture::{AdcSource, CaptureRequest, Edge, Frame, Trigger};
use pod_protocol::connection::{BoxedStream, Connecting, Transport};
use pod_sim::{Playback, Recording, SimConfig};
use serde_json::{Map, Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream,
    ReadBuf, duplex,
};
use tokio::time::{Duration, Instant, sleep};

use crate::pod::{
    DEFAULT_REPLY_TIMEOUT, Pod, PodError, PodEvent, PodOptions, PodState, ProtocolError, Session,
    SessionEnd, SessionKind,
};
use crate::tests::{bench, words};

fn object(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

async fn ask(pod: &Pod, command: Value) -> Result<Value, PodError> {
    pod.command(object(command), DEFAULT_REPLY_TIMEOUT).await
}

/// Releases all GPIO channels.
async fn release_all(pod: &Pod) {
    let release = json!({"cmd": "gpio", "la": "all", "mode": "off"});
    ask(pod, release).await.unwrap();
}

async fn online(config: SimConfig) -> Pod {
    let pod = Pod::spawn(bench(config), PodOptions::default());
    pod.wait_online(DEFAULT_REPLY_TIMEOUT).await.unwrap();
    pod
}

/// Whether an error is the right one.
type Expected = fn(&PodError) -> bool;

mod captures;
mod dap;
mod faults;
mod health;
mod random;
mod script;
mod sessions;
mod transcripts;

#[tokio::test(start_paused = true)]
async fn a_pod_comes_online_with_identity_and_capabilities() {
    let pod = online(SimConfig::default()).await;
    let identity = pod.identity().unwrap();
    assert_eq!(identity.public_key.len(), 43);
    assert_eq!((identity.serial.len(), identity.short_id.len()), (16, 6));
    assert!(identity.serial.starts_with(&identity.short_id));
    let facts = pod.status().unwrap();
    assert_eq!(
        (facts.board.as_str(), facts.board_rev.as_str()),
        ("stm32h563", "v3")
    );
    assert_eq!(facts.firmware_version, "3.9.4");
    assert_eq!(facts.raw["device"], "benchpod");
}

#[tokio::test(start_paused = true)]
async fn refusals_are_typed_and_leave_the_link_alone() {
    let pod = online(SimConfig::default()).await;
    ask(&pod, json!({"cmd": "gpio", "la": 2, "mode": "output"}))
        .await
        .unwrap();
    let error = ask(
        &pod,
        json!({"cmd": "la", "la": 2, "steps": 1, "delay_us": 1}),
    )
    .await
    .unwrap_err();
    assert!(matches!(error, PodError::Refused(refusal) if refusal.kind == RefusalKind::Plain));
    let error = ask(&pod, json!({"cmd": "warp"})).await.unwrap_err();
    let PodError::Refused(refusal) = error else {
        panic!("{error:?}")
    };
    assert_eq!(refusal.kind, RefusalKind::UnknownCommand);
    assert!(pod.state().is_online());
}

#[tokio::test(start_paused = true)]
async fn commands_that_cannot_be_sent_are_refused_here() {
    let pod = online(SimConfig::default()).await;
    for command in [
        "capture",
        "la_capture",
        "uart_proxy_start",
        "dap_start",
        "load_bin",
    ] {
        let error = ask(&pod, json!({"cmd": command})).await.unwrap_err();
        assert!(matches!(error, PodError::NeedsTunnel { .. }), "{error:?}");
    }
    let error = ask(&pod, json!({"command": "ping"})).await.unwrap_err();
    assert!(matches!(error, PodError::MissingCommand));
    let long = json!({"cmd": "ping", "pad": "x".repeat(2000)});
    let error = ask(&pod, long).await.unwrap_err();
    assert!(matches!(error, PodError::LineTooLong { limit: 1279, .. }));
}

#[tokio::test(start_paused = true)]
async fn a_status_command_renews_what_is_known() {
    let pod = online(SimConfig::default()).await;
    assert_eq!(pod.status().unwrap().raw["la_vccio_mv"], 3300);
    ask(&pod, json!({"cmd": "la_voltage", "mv": 1800}))
        .await
        .unwrap();
    ask(&pod, json!({"cmd": "status"})).await.unwrap();
    assert_eq!(pod.status().unwrap().raw["la_vccio_mv"], 1800);
}

#[tokio::test(start_paused = true)]
async fn an_unplugged_pod_goes_offline_after_its_grace_and_comes_back() {
    let bench = bench(SimConfig::default());
    let pod = Pod::spawn(bench.clone(), PodOptions::default());
    pod.wait_online(DEFAULT_REPLY_TIMEOUT).await.unwrap();
    bench.set_plugged(false);
    let unplugged = Instant::now();
    let mut state = pod.watch();
    let offline = |state: &PodState| matches!(state, PodState::Offline { .. });
    state.wait_for(offline).await.unwrap();
    assert_eq!(unplugged.elapsed().as_secs(), 10);
    let error = ask(&pod, json!({"cmd": "ping"})).await.unwrap_err();
    assert!(matches!(error, PodError::Offline { .. }));
    let la = CaptureRequest::La {
        samples: 10,
        rate_mhz: 1.0,
        trigger: None,
    };
    assert!(matches!(
        pod.capture(la).await,
        Err(PodError::Offline { .. })
    ));
    sleep(Duration::from_secs(60)).await;
    bench.set_plugged(true);
    let before = Instant::now();
    pod.wait_online(DEFAULT_REPLY_TIMEOUT).await.unwrap();
    assert!(before.elapsed() <= PodOptions::default().backoff_max);
    assert_eq!(ask(&pod, json!({"cmd": "ping"})).await.unwrap(), "pong");
}

#[tokio::test(start_paused = true)]
async fn another_pod_in_its_place_counts_as_offline() {
    let options = PodOptions {
        expected_public_key: Some("someone else".to_owned()),
        ..PodOptions::default()
    };
    let pod = Pod::spawn(bench(SimConfig::default()), options);
    let error = pod.wait_online(Duration::from_secs(3)).await.unwrap_err();
    assert!(error.to_string().contains("another pod"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn the_task_ends_with_the_last_handle() {
    let bench = bench(SimConfig::default());
    let pod = Pod::spawn(bench, PodOptions::default());
    pod.wait_online(DEFAULT_REPLY_TIMEOUT).await.unwrap();
    let mut state = pod.watch();
    state.mark_unchanged();
    drop(pod);
    // The publisher goes with the task; the receiver of the last state notices.
    assert!(state.changed().await.is_err());
}
