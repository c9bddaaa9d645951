//! Pods that answer by transcript: wrong, late, or not at all.

use super::*;

/// What the scripted pod does with the next request.
#[derive(Clone)]
enum Step {
    /// Answers this line to the request that contains that text.
    Answer(&'static str, String),
    /// Sends these bytes without waiting for anything.
    Push(Vec<u8>),
    /// Reads the request and stays silent until the client gives up.
    Silence,
    /// Closes.
    Close,
}

/// Plays one script per connection.
struct Script(Mutex<VecDeque<Vec<Step>>>);

impl Transport for Script {
    fn kind(&self) -> &'static str {
        "script"
    }

    fn connect(&self) -> Connecting<'_> {
        Box::pin(async move {
            let script = self.0.lock().unwrap().pop_front();
            let script = script.ok_or(io::ErrorKind::ConnectionRefused)?;
            let (near, far) = duplex(1 << 20);
            tokio::spawn(play(far, script));
            Ok(Box::new(near) as BoxedStream)
        })
    }
}

async fn play(stream: DuplexStream, script: Vec<Step>) {
    let mut stream = BufReader::new(stream);
    for step in script {
        match step {
            Step::Answer(expected, line) => {
                let mut request = String::new();
                stream.read_line(&mut request).await.unwrap();
                assert!(request.contains(expected), "{request} for {expected}");
                stream
                    .write_all(format!("{line}\n").as_bytes())
                    .await
                    .unwrap();
            }
            Step::Push(bytes) => stream.write_all(&bytes).await.unwrap(),
            Step::Silence => {
                stream.read_to_end(&mut Vec::new()).await.unwrap();
            }
            Step::Close => return,
        }
    }
    stream.read_to_end(&mut Vec::new()).await.unwrap();
}

fn ok(verb: &'static str, data: Value) -> Step {
    Step::Answer(verb, json!({"status": "ok", "data": data}).to_string())
}

/// A script that starts as every pod does.
fn greeted(steps: impl IntoIterator<Item = Step>) -> Vec<Step> {
    let key = "A".repeat(43);
    let mut script = vec![
        ok("identity_public", json!({"public": key})),
        ok(
            "status",
            json!({"board": "stm32h563", "version": "3.9.4", "caps": ["la"]}),
        ),
    ];
    script.extend(steps);
    script
}

async fn scripted(scripts: Vec<Vec<Step>>) -> Pod {
    let transport = Arc::new(Script(Mutex::new(scripts.into())));
    let pod = Pod::spawn(transport, PodOptions::default());
    let _ = pod.wait_online(Duration::from_secs(1)).await;
    pod
}

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
    let flood = vec![b'x'; crate::protocol::REPLY_LINE_BYTES_MAX + 2];
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
    let pod = scripted(vec![greeted([Step::Close])]).await;
    let error = ask(&pod, json!({"cmd": "la_pins"})).await.unwrap_err();
    assert!(matches!(error, PodError::Offline { .. }), "{error:?}");
    sleep(Duration::from_secs(1)).await;
    assert!(matches!(pod.state(), PodState::Offline { .. }));
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_stops_answering_pings_goes_offline() {
    let pod = scripted(vec![greeted([Step::Silence])]).await;
    assert!(pod.state().is_online());
    sleep(Duration::from_secs(12)).await;
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
    let pod = scripted(vec![
        greeted([]),
        vec![Step::Answer("la_capture", first.to_owned())],
    ])
    .await;
    let la = CaptureRequest::La {
        samples: 100,
        rate_mhz: 1.0,
        trigger: None,
    };
    let mut stream = pod.capture(la).await.unwrap();
    assert!(stream.next().await.unwrap().is_ok());
    let error = stream.next().await.unwrap().unwrap_err();
    assert!(matches!(error, PodError::Timeout { .. }), "{error:?}");
}
