//! Debug-probe sessions: against a pod that answers each packet with itself, reversed, and against a
//! simulated one.

use pod_sim::TargetConfig;

use super::script::{Step, greeted, ok, scripted};
use super::*;
use crate::pod::{DapError, DapRequest};

const WAIT: Duration = Duration::from_secs(2);

async fn probe(steps: Vec<Step>) -> (Pod, crate::pod::DapSession) {
    let mut script = vec![ok("dap_start", json!("dap ready"))];
    script.extend(steps);
    let free = json!({"pins": [], "levels": 0});
    let pod = scripted(vec![greeted([ok("la_pins", free)]), script]).await;
    let session = pod.dap(&DapRequest::new(1, 2)).await.unwrap();
    (pod, session)
}

#[tokio::test(start_paused = true)]
async fn packets_are_exchanged_one_by_one_and_ahead() {
    let (pod, mut probe) = probe(vec![Step::Echo]).await;
    for length in [1, 2, 64, 1024] {
        let packet: Vec<u8> = (0..length)
            .map(|at| u8::try_from(at % 251).unwrap())
            .collect();
        let answer = probe.exchange(&packet, WAIT).await.unwrap();
        assert!(answer.iter().rev().eq(packet.iter()));
    }
    for packet in [[1, 2], [3, 4], [5, 6], [7, 8]] {
        probe.send(&packet).await.unwrap();
    }
    for answer in [[2, 1], [4, 3], [6, 5], [8, 7]] {
        assert_eq!(probe.receive(WAIT).await.unwrap(), answer);
    }
    for packet in [&[][..], &[0; 1025]] {
        let error = probe.exchange(packet, WAIT).await.unwrap_err();
        assert!(matches!(
            error,
            PodError::Protocol(ProtocolError::DapFrame(_))
        ));
    }
    assert_eq!(probe.exchange(&[9, 8], WAIT).await.unwrap(), [8, 9]);
    assert_eq!(pod.sessions(), [SessionKind::Flash]);
    probe.close().await.unwrap();
    assert_eq!(pod.sessions(), []);
}

#[tokio::test(start_paused = true)]
async fn bad_frames_and_missing_answers_are_errors_and_end_the_session() {
    let protocol: Expected = |error: &PodError| matches!(error, PodError::Protocol(_));
    let timeout: Expected = |error: &PodError| matches!(error, PodError::Timeout { .. });
    let offline: Expected = |error: &PodError| matches!(error, PodError::Offline { .. });
    let cases: Vec<(Vec<Step>, Expected)> = vec![
        (vec![Step::Push(vec![0, 0])], protocol),
        (vec![Step::Push(vec![1, 4, 9])], protocol),
        (vec![Step::Push(vec![5, 0, 1, 2])], timeout),
        (vec![Step::Silence], timeout),
        (vec![Step::Close], offline),
        (vec![Step::Reset], offline),
    ];
    for (steps, expected) in cases {
        let (_pod, mut probe) = probe(steps).await;
        let error = probe.exchange(&[0, 0xfe], WAIT).await.unwrap_err();
        assert!(expected(&error), "{error:?}");
        let error = probe.exchange(&[0, 0xfe], WAIT).await.unwrap_err();
        assert!(!timeout(&error), "no second wait: {error:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_exchange_that_was_dropped_spoils_the_session_visibly() {
    let (_pod, mut probe) = probe(vec![Step::Silence]).await;
    let dropped = tokio::time::timeout(Duration::from_millis(5), probe.exchange(&[1], WAIT));
    assert!(dropped.await.is_err());
    let error = probe.exchange(&[2], WAIT).await.unwrap_err();
    assert!(matches!(
        error,
        PodError::Protocol(ProtocolError::OutOfStep)
    ));
}

#[tokio::test]
async fn a_thread_drives_a_probe_until_it_is_cancelled() {
    let (_pod, probe) = probe(vec![Step::Echo]).await;
    let (mut blocking, _cancel) = probe.blocking(WAIT, Instant::now() + Duration::from_secs(60));
    let thread = tokio::task::spawn_blocking(move || {
        for byte in 0..200 {
            assert_eq!(blocking.exchange(&[byte, 1]).unwrap(), [1, byte]);
        }
        let ahead = [vec![1, 2], vec![3, 4, 5], vec![6]];
        let answers = blocking.exchange_all(&ahead).unwrap();
        assert_eq!(answers, [vec![2, 1], vec![5, 4, 3], vec![6]]);
        blocking.into_session()
    });
    thread.await.unwrap().close().await.unwrap();
}

#[tokio::test]
async fn a_stuck_probe_returns_when_it_is_cancelled_or_its_time_is_over() {
    let (_pod, probe) = probe(vec![Step::Silence]).await;
    let hour = Duration::from_secs(3_600);
    let (mut blocking, cancel) = probe.blocking(hour, Instant::now() + hour);
    let thread = tokio::task::spawn_blocking(move || {
        let error = blocking.exchange(&[1]).unwrap_err();
        (error, blocking)
    });
    cancel.cancel();
    let (error, mut blocking) = thread.await.unwrap();
    assert!(matches!(error, DapError::Cancelled), "{error:?}");
    let thread = tokio::task::spawn_blocking(move || blocking.exchange(&[1]).unwrap_err());
    let error: io::Error = thread.await.unwrap().into();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionAborted);

    let (_pod, probe) = self::probe(vec![Step::Silence]).await;
    let (mut blocking, _cancel) = probe.blocking(hour, Instant::now());
    let thread = tokio::task::spawn_blocking(move || blocking.exchange(&[1]).unwrap_err());
    assert!(matches!(thread.await.unwrap(), DapError::Deadline));
}

#[tokio::test(start_paused = true)]
async fn a_refused_probe_gives_the_session_back() {
    let refusal = json!({"status": "error", "message": "unknown cmd"}).to_string();
    let pod = scripted(vec![greeted([]), vec![Step::Answer("dap_start", refusal)]]).await;
    let error = pod.dap(&DapRequest::new(1, 2)).await.err().unwrap();
    assert!(matches!(error, PodError::Refused(_)), "{error:?}");
    assert_eq!((pod.sessions().len(), pod.connections_taken()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn the_identification_of_a_simulated_target_is_read() {
    let pod = online(SimConfig {
        target: Some(TargetConfig::blank()),
        ..SimConfig::default()
    })
    .await;
    let power = json!({"cmd": "target_power", "efuse": 1, "state": 1});
    ask(&pod, power).await.unwrap();
    let mut session = pod.dap(&DapRequest::new(11, 12)).await.unwrap();
    let idr = 0x0bb1_1477_u32.to_le_bytes();
    let line_reset = [&[0x12, 56][..], &[0xff; 7]].concat();
    let packets = [
        &[0x02, 1][..],
        &line_reset,
        &[0x12, 16, 0x9e, 0xe7],
        &line_reset,
        &[0x12, 8, 0],
        &[0x05, 0, 1, 0x02],
    ];
    let mut answer = Vec::new();
    for packet in packets {
        session.send(packet).await.unwrap();
        answer = session.receive(DEFAULT_REPLY_TIMEOUT).await.unwrap();
    }
    assert_eq!(answer, [&[0x05, 1, 1][..], &idr].concat());
}
