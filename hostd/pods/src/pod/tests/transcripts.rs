//! Pods that answer by transcript: wrong, late, or not at all.

use super::script::{Step, greeted, ok, scripted, scripted_with};
use super::*;

#[tokio::test(start_paused = true)]
async fn a_garbled_answer_is_an_error_and_the_next_command_works() {
    for (garbage, expected) in [
        ("not json", "NotReply"),
        ("{\"status\":\"great\"}", "UnknownStatus"),
        ("[]", "NotReply"),
        ("{\"data\":1}", "NotReply"),
    ] {
        let pod = scripted(vec![
            greeted([Step::Answer("la_pins", garbage.to_owned())]),
            greeted([ok("target_status", json!(7))]),
        ])
        .await;
        let error = ask(&pod, json!({"cmd": "la_pins"})).await.unwrap_err();
        assert!(matches!(error, PodError::Protocol(_)), "{error:?}");
        assert!(format!("{error:?}").contains(expected), "{error:?}");
        assert_eq!(ask(&pod, json!({"cmd": "target_status"})).await.unwrap(), 7);
    }
}

#[tokio::test(start_paused = true)]
async fn a_late_answer_never_reaches_the_next_command() {
    let pod = scripted(vec![
        greeted([Step::Silence]),
        greeted([ok("target_status", json!("mine"))]),
    ])
    .await;
    let before = Instant::now();
    let error = pod
        .command(object(json!({"cmd": "la_pins"})), Duration::from_secs(3))
        .await
        .unwrap_err();
    assert!(
        matches!(
            error,
            PodError::Timeout {
                waited_ms: 3000,
                ..
            }
        ),
        "{error:?}"
    );
    assert_eq!(before.elapsed().as_secs(), 3);
    assert_eq!(
        ask(&pod, json!({"cmd": "target_status"})).await.unwrap(),
        "mine"
    );
}

#[tokio::test(start_paused = true)]
async fn a_deliberate_wait_is_added_to_the_patience() {
    let pod = scripted(vec![greeted([Step::Silence])]).await;
    let before = Instant::now();
    let command = object(json!({"cmd": "nrst", "pulse_ms": 1000}));
    let error = pod
        .command(command, Duration::from_secs(2))
        .await
        .unwrap_err();
    assert!(matches!(error, PodError::Timeout { .. }));
    assert_eq!(before.elapsed().as_secs(), 3);
}

#[tokio::test(start_paused = true)]
async fn an_endless_line_is_cut_off() {
    let flood = vec![b'x'; pod_protocol::REPLY_LINE_BYTES_MAX + 2];
    let pod = scripted(vec![
        greeted([Step::Push(flood)]),
        greeted([ok("target_status", json!(1))]),
    ])
    .await;
    sleep(Duration::from_millis(1)).await;
    assert_eq!(ask(&pod, json!({"cmd": "target_status"})).await.unwrap(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_line_nobody_asked_for_opens_the_link_anew() {
    let pod = scripted(vec![
        greeted([Step::Push(
            b"{\"status\":\"ok\",\"data\":\"stale\"}\n".to_vec(),
        )]),
        greeted([ok("target_status", json!("fresh"))]),
    ])
    .await;
    sleep(Duration::from_millis(1)).await;
    assert_eq!(
        ask(&pod, json!({"cmd": "target_status"})).await.unwrap(),
        "fresh"
    );
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_closes_in_the_middle_of_a_command_is_offline_for_it() {
    let pod = scripted(vec![greeted([Step::Take("la_pins"), Step::Close])]).await;
    let error = ask(&pod, json!({"cmd": "la_pins"})).await.unwrap_err();
    assert!(matches!(error, PodError::Offline { .. }), "{error:?}");
    assert!(pod.status().is_some(), "its grace has begun");
    // The next one waits for the grace period to end and learns what began it.
    let error = ask(&pod, json!({"cmd": "la_pins"})).await.unwrap_err();
    assert!(
        error.to_string().contains("closed the connection"),
        "{error}"
    );
    assert!(matches!(pod.state(), PodState::Offline { .. }));
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_stops_answering_pings_goes_offline() {
    let pod = scripted(vec![greeted([Step::Silence])]).await;
    assert!(pod.state().is_online());
    sleep(Duration::from_secs(10) + PodOptions::default().grace).await;
    sleep(Duration::from_secs(1)).await;
    assert!(
        matches!(pod.state(), PodState::Offline { .. }),
        "{:?}",
        pod.state()
    );
}

#[tokio::test(start_paused = true)]
async fn a_pod_without_identity_never_comes_online() {
    let pod = scripted(vec![vec![ok(
        "identity_public",
        json!({"public": "short"}),
    )]])
    .await;
    let PodState::Offline { reason } = pod.state() else {
        panic!("{:?}", pod.state())
    };
    assert!(!reason.is_empty());
}

#[tokio::test(start_paused = true)]
async fn capture_packets_that_contradict_themselves_are_an_error() {
    let la = CaptureRequest::La {
        samples: 100,
        rate_mhz: 1.0,
        trigger: None,
    };
    for packet in [
        r#"{"status":"ok","la":true,"la_edges":[[0,1]],"la_upto":50,"more":false}"#,
        r#"{"status":"ok","la":true,"la_edges":[[0,1]],"la_upto":101,"more":false}"#,
        r#"{"status":"ok","la":true,"la_edges":[[5,1],[4,0]],"la_upto":100,"more":false}"#,
        r#"{"status":"ok","la":true,"la_edges":[[0,70000]],"la_upto":100,"more":false}"#,
        r#"{"status":"ok","b64":"!!!!","more":false}"#,
        "garbage",
    ] {
        let pod = scripted(vec![
            greeted([]),
            vec![Step::Answer("la_capture", packet.to_owned())],
        ])
        .await;
        let mut stream = pod.capture(la.clone()).await.unwrap();
        let error = stream.next().await.unwrap().unwrap_err();
        assert!(
            matches!(
                error,
                PodError::Protocol(ProtocolError::Assembly(_) | ProtocolError::Chunk(_))
            ),
            "{packet}: {error:?}"
        );
        assert!(stream.next().await.is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn a_capture_that_stalls_times_out() {
    let first = r#"{"status":"ok","la":true,"la_edges":[[0,1]],"la_upto":50,"more":true}"#;
    let options = PodOptions {
        packet_timeout: Duration::from_secs(3),
        ..PodOptions::default()
    };
    let pod = scripted_with(
        options,
        vec![
            greeted([]),
            vec![Step::Answer("la_capture", first.to_owned())],
        ],
    )
    .await;
    let mut stream = pod.capture(la()).await.unwrap();
    assert!(stream.next().await.unwrap().is_ok());
    let error = stream.next().await.unwrap().unwrap_err();
    assert!(matches!(error, PodError::Timeout { .. }), "{error:?}");
}

fn la() -> CaptureRequest {
    CaptureRequest::La {
        samples: 100,
        rate_mhz: 1.0,
        trigger: None,
    }
}

const PONG: &[u8] = b"{\"status\":\"ok\",\"data\":\"pong\"}\n";

/// Runs one command against a pod whose answer to it is `steps`, and then one against its next
/// link: whatever the first one met, the second one works.
async fn recovers(steps: Vec<Step>) -> Result<Value, PodError> {
    let pod = scripted(vec![
        greeted(steps),
        greeted([ok("target_status", json!("next"))]),
    ])
    .await;
    let before = Instant::now();
    let first = pod
        .command(object(json!({"cmd": "la_pins"})), Duration::from_secs(4))
        .await;
    assert!(before.elapsed() <= Duration::from_secs(4), "{first:?}");
    let next = ask(&pod, json!({"cmd": "target_status"})).await;
    assert_eq!(next.unwrap(), "next", "after {first:?}");
    first
}

#[tokio::test(start_paused = true)]
async fn whatever_comes_instead_of_an_answer_is_an_error_and_the_link_recovers() {
    let noise: Vec<u8> = (0..4000_u32)
        .map(|index| u8::try_from(index.wrapping_mul(2_654_435_761) >> 24).unwrap())
        .collect();
    let huge = vec![b'y'; pod_protocol::REPLY_LINE_BYTES_MAX + 5];
    let protocol: Expected = |error: &PodError| matches!(error, PodError::Protocol(_));
    let timeout: Expected = |error: &PodError| matches!(error, PodError::Timeout { .. });
    let offline: Expected = |error: &PodError| matches!(error, PodError::Offline { .. });
    let cases: Vec<(&str, Vec<Step>, Expected)> = vec![
        (
            "a garbage line",
            vec![Step::Bytes("la_pins", b"#!?\n".to_vec())],
            protocol,
        ),
        (
            "half a line, then silence",
            vec![Step::Bytes("la_pins", PONG[..9].to_vec())],
            timeout,
        ),
        (
            "half a line, then the end",
            vec![Step::Bytes("la_pins", PONG[..9].to_vec()), Step::Close],
            protocol,
        ),
        ("noise", vec![Step::Bytes("la_pins", noise)], protocol),
        (
            "an endless line",
            vec![Step::Bytes("la_pins", huge)],
            protocol,
        ),
        (
            "an empty line",
            vec![Step::Bytes("la_pins", b"\n".to_vec())],
            protocol,
        ),
        ("nothing", vec![Step::Silence], timeout),
        ("the end", vec![Step::Take("la_pins"), Step::Close], offline),
        ("a reset", vec![Step::Take("la_pins"), Step::Reset], offline),
        (
            "a reset in a line",
            vec![Step::Bytes("la_pins", PONG[..9].to_vec()), Step::Reset],
            offline,
        ),
        (
            "bytes that come too slowly",
            vec![Step::Drip(
                "la_pins",
                PONG.to_vec(),
                Duration::from_millis(200),
            )],
            timeout,
        ),
    ];
    for (name, steps, expected) in cases {
        let error = recovers(steps).await.unwrap_err();
        assert!(expected(&error), "{name}: {error:?}");
        assert!(!error.to_string().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_drips_in_within_the_time_counts() {
    let drip = Step::Drip("la_pins", PONG.to_vec(), Duration::from_millis(50));
    let pod = scripted(vec![greeted([drip, ok("target_status", json!(1))])]).await;
    assert_eq!(ask(&pod, json!({"cmd": "la_pins"})).await.unwrap(), "pong");
    assert_eq!(ask(&pod, json!({"cmd": "target_status"})).await.unwrap(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_second_of_two_answers_reaches_nobody() {
    let twice = [PONG, b"{\"status\":\"ok\",\"data\":\"stale\"}\n"].concat();
    let answer = recovers(vec![Step::Bytes("la_pins", twice)]).await;
    assert_eq!(answer.unwrap(), "pong");
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_accepts_and_never_answers_is_offline_with_the_reason() {
    let pod = scripted(vec![vec![Step::Silence]; 3]).await;
    let error = pod.wait_online(Duration::from_secs(6)).await.unwrap_err();
    assert!(error.to_string().contains("identity_public"), "{error}");
    assert!(matches!(pod.state(), PodState::Offline { .. }));
}

#[tokio::test(start_paused = true)]
async fn a_capture_that_is_cut_off_or_goes_on_too_long_is_an_error() {
    let first = br#"{"status":"ok","la":true,"la_edges":[[0,1]],"la_upto":50,"more":true}"#;
    let cut = first[..30].to_vec();
    let last = concat!(
        r#"{"status":"ok","la":true,"la_edges":[[0,1]],"la_upto":100,"more":false}"#,
        "\n",
        r#"{"status":"chunk","la":true,"la_edges":[[100,1]],"la_upto":120,"more":false}"#,
        "\n",
    );
    for (steps, frames, failed) in [
        (
            vec![Step::Bytes("la_capture", cut.clone()), Step::Close],
            0,
            true,
        ),
        (vec![Step::Bytes("la_capture", cut), Step::Reset], 0, true),
        (vec![Step::Take("la_capture"), Step::Close], 0, true),
        // What comes after the last packet is not read any more.
        (vec![Step::Bytes("la_capture", last.into())], 1, false),
    ] {
        let pod = scripted(vec![greeted([ok("ping", json!("pong"))]), steps]).await;
        let mut stream = pod.capture(la()).await.unwrap();
        let mut found = (0, false);
        while let Some(frame) = stream.next().await {
            match frame {
                Ok(_) => found.0 += 1,
                Err(_) => found.1 = true,
            }
        }
        assert_eq!(found, (frames, failed));
        drop(stream);
        assert_eq!(pod.connections_taken(), 0);
        assert_eq!(ask(&pod, json!({"cmd": "ping"})).await.unwrap(), "pong");
    }
}
