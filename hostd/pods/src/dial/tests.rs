//! Sessions over channels in memory: with a simulated pod behind them, and with pods that behave otherwise.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{Sink, Stream, sink, stream};
use pod_protocol::commands::Tier;
use pod_protocol::connection::Transport;
use pod_protocol::dial::{FromPod, POD_DATA_BYTES, SILENCE_MAX, ToPod, frame};
use pod_protocol::driver::Driver as _;
use pod_sim::{SimConfig, SimPod};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use super::drive::{Heard, Said};
use super::pace::STUCK_AFTER;
use super::{Dialled, Driver, Lease, TUNNEL_BYTES_MAX};
use crate::capture_stream::CaptureStream;
use crate::tests::{bench, words};
use crate::{
    CaptureRequest, DEFAULT_REPLY_TIMEOUT, Pod, PodError, PodOptions, PodState, SessionKind,
};

type Frames = Pin<Box<dyn Stream<Item = Result<Heard<String>, Infallible>> + Send>>;
type Sending = Pin<Box<dyn Sink<Said, Error = Infallible> + Send>>;

const DEVICE: &str = "01D";

/// The key of the simulated pod with this seed.
async fn key_of(pod: &SimPod) -> String {
    let mut stream = pod.connect().await.unwrap();
    stream
        .write_all(b"{\"cmd\":\"identity_public\"}\n")
        .await
        .unwrap();
    let mut answer = vec![0; 4096];
    let count = stream.read(&mut answer).await.unwrap();
    let answer: Value = serde_json::from_slice(&answer[..count]).unwrap();
    answer["data"]["public"].as_str().unwrap().to_owned()
}

fn sending(send: impl FnMut(Said) + Send + 'static) -> Sending {
    Box::pin(sink::unfold(send, |mut send, said| async move {
        send(said);
        Ok(send)
    }))
}

/// A session, as the pod's side of it sees it.
struct Line {
    from_pod: mpsc::Sender<Heard<String>>,
    to_pod: mpsc::UnboundedReceiver<Said>,
    served: JoinHandle<String>,
}

impl Line {
    /// A pod that does as the test says.
    async fn open(dialled: &Arc<Dialled>, key: &str) -> Self {
        let (from_pod, heard) = mpsc::channel(1);
        let (send, to_pod) = mpsc::unbounded_channel();
        let sends = sending(move |said| drop(send.send(said)));
        let served = serve(dialled, key, heard, sends);
        sleep(Duration::from_nanos(1)).await;
        Self {
            from_pod,
            to_pod,
            served,
        }
    }

    async fn say(&self, message: &FromPod<'_>) {
        self.text(message.write(DEVICE)).await;
    }

    async fn text(&self, text: String) {
        self.from_pod.send(Heard::Text(text)).await.unwrap();
    }

    /// The next frame that is not about reading.
    async fn hear(&mut self) -> ToPod<'static> {
        loop {
            let Some(Said::Text(text)) = self.to_pod.recv().await else {
                panic!("the session ended");
            };
            match ToPod::read(&text).unwrap() {
                ToPod::Ping => self.say(&FromPod::Pong).await,
                ToPod::Open { tunnel_id, tier } => {
                    let tunnel_id = tunnel_id.into_owned().into();
                    return ToPod::Open { tunnel_id, tier };
                }
                ToPod::Data { tunnel_id, data } => {
                    let (tunnel_id, data) =
                        (tunnel_id.into_owned().into(), data.into_owned().into());
                    return ToPod::Data { tunnel_id, data };
                }
                ToPod::Close { tunnel_id } => {
                    let tunnel_id = tunnel_id.into_owned().into();
                    return ToPod::Close { tunnel_id };
                }
                ToPod::Request {
                    request_id,
                    command,
                } => {
                    let request_id = request_id.into_owned().into();
                    return ToPod::Request {
                        request_id,
                        command,
                    };
                }
                ToPod::Lease { held } => return ToPod::Lease { held },
                ToPod::Other => panic!("{text}"),
            }
        }
    }

    /// The tunnel that is opened next.
    async fn opened(&mut self) -> String {
        match self.hear().await {
            ToPod::Open { tunnel_id, tier } => {
                assert_eq!(tier, Tier::Firmware);
                tunnel_id.into_owned()
            }
            other => panic!("{other:?}"),
        }
    }
}

fn serve(
    dialled: &Arc<Dialled>,
    key: &str,
    heard: mpsc::Receiver<Heard<String>>,
    sends: Sending,
) -> JoinHandle<String> {
    let frames: Frames = Box::pin(stream::unfold(heard, |mut heard| async move {
        Some((Ok(heard.recv().await?), heard))
    }));
    let (dialled, key) = (dialled.clone(), key.to_owned());
    tokio::spawn(async move { dialled.serve(&key, frames, sends).await })
}

/// Connects a simulated pod: it drops the link, which fails the test, when it is sent more than it keeps.
fn dial_in(dialled: &Arc<Dialled>, key: &str, pod: &Arc<SimPod>) -> JoinHandle<String> {
    let (inbox, outbox) = pod_sim::dial::mailbox();
    let (send, mut frames) = mpsc::channel(32);
    let pod = pod.clone();
    let conversing = tokio::spawn(async move { pod.converse(DEVICE, outbox, send).await });
    let (from_pod, heard) = mpsc::channel(1);
    let sends = sending(move |said| match said {
        Said::Text(text) => inbox.put(text).expect("it is sent what it keeps"),
        Said::Close(_) => conversing.abort(),
    });
    let served = serve(dialled, key, heard, sends);
    tokio::spawn(async move {
        while let Some(frame) = frames.recv().await {
            if from_pod.send(Heard::Text(frame)).await.is_err() {
                return;
            }
        }
    });
    served
}

fn transport(dialled: &Arc<Dialled>, key: &str) -> Arc<dyn Transport> {
    Driver(dialled.clone()).transport(key).unwrap()
}

fn command(text: Value) -> Map<String, Value> {
    text.as_object().cloned().unwrap()
}

async fn offline_because(pod: &Pod) -> String {
    let mut states = pod.watch();
    let found = states.wait_for(|state| matches!(state, PodState::Offline { .. }));
    let found = timeout(Duration::from_secs(60), found)
        .await
        .unwrap()
        .unwrap();
    match &*found {
        PodState::Offline { reason } => reason.clone(),
        _ => unreachable!("waited for it"),
    }
}

fn driver(options: PodOptions, dialled: &Arc<Dialled>, key: &str) -> Pod {
    Pod::spawn(transport(dialled, key), options)
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_dials_in_is_driven_like_others() {
    let bench = bench(SimConfig::default());
    let key = key_of(&bench).await;
    let dialled = Dialled::new();
    let pod = driver(PodOptions::default(), &dialled, &key);
    let reason = offline_because(&pod).await;
    assert!(
        reason.contains("has not dialled in since the server started"),
        "{reason}"
    );
    let _session = dial_in(&dialled, &key, &bench);
    let facts = pod.wait_online(Duration::from_secs(1)).await.unwrap();
    assert_eq!(facts.identity.public_key, key);
    // Three sessions beside the commands.
    let uart = pod.uart(3, 4, 115_200, None).await.unwrap();
    let request = CaptureRequest::La {
        samples: 500_000,
        rate_mhz: 1.0,
        trigger: None,
    };
    let mut capture = pod.capture(request).await.unwrap();
    let dac = pod.begin(SessionKind::Dac).await.unwrap();
    assert!(matches!(
        pod.check_permit(),
        Err(PodError::NoPermit { limit: 3 })
    ));
    let power = command(json!({"cmd": "target_power", "efuse": 1, "state": 1}));
    pod.command(power, DEFAULT_REPLY_TIMEOUT).await.unwrap();
    assert_eq!(words(&all(&mut capture).await).len(), 500_000);
    drop((capture, dac));
    uart.close().await.unwrap();
    let refused = pod
        .command(command(json!({"cmd": "nonsense"})), DEFAULT_REPLY_TIMEOUT)
        .await;
    assert!(matches!(refused, Err(PodError::Refused(_))), "{refused:?}");
}

async fn all(capture: &mut CaptureStream) -> Vec<pod_protocol::capture::Frame> {
    let mut frames = Vec::new();
    while let Some(frame) = capture.next().await {
        frames.push(frame.unwrap());
    }
    frames
}

#[tokio::test(start_paused = true)]
async fn an_upload_is_no_faster_than_a_pod_reads() {
    let bench = bench(SimConfig::default());
    let key = key_of(&bench).await;
    let dialled = Dialled::new();
    let pod = driver(PodOptions::default(), &dialled, &key);
    let _session = dial_in(&dialled, &key, &bench);
    pod.wait_online(Duration::from_secs(1)).await.unwrap();
    let began = Instant::now();
    let mut stream = pod.open().await.unwrap();
    let bytes = 1024 * 1024;
    let load = format!("{{\"cmd\":\"load_bin\",\"total\":{bytes},\"psram\":true}}\n");
    stream.write_all(load.as_bytes()).await.unwrap();
    // The pod is asked for signs of reading all the while, and commands are not held up.
    let (mut reads, mut writes) = tokio::io::split(stream);
    let sending = async {
        let part = vec![0x11; 64 * 1024];
        for _ in 0..bytes / part.len() {
            writes.write_all(&part).await.unwrap();
        }
    };
    let listening = async {
        let mut text = String::new();
        while !text.contains("\"total\"") {
            let mut part = [0; 1024];
            let count = reads.read(&mut part).await.unwrap();
            text.push_str(std::str::from_utf8(&part[..count]).unwrap());
        }
        text
    };
    let asking = async {
        sleep(Duration::from_secs(1)).await;
        let began = Instant::now();
        pod.command(command(json!({"cmd": "ping"})), DEFAULT_REPLY_TIMEOUT)
            .await
            .unwrap();
        began.elapsed()
    };
    let ((), text, asked) = tokio::join!(sending, listening, asking);
    assert!(text.contains(&format!("{}", bytes / 2)), "{text}");
    assert!(asked < Duration::from_millis(500), "{asked:?}");
    let took = began.elapsed();
    assert!((6..12).contains(&took.as_secs()), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_newer_session_takes_the_place_of_the_older() {
    let bench = bench(SimConfig::default());
    let key = key_of(&bench).await;
    let dialled = Dialled::new();
    let pod = driver(PodOptions::default(), &dialled, &key);
    let first = dial_in(&dialled, &key, &bench);
    pod.wait_online(Duration::from_secs(1)).await.unwrap();
    let mut session = pod.begin(SessionKind::Exclusive).await.unwrap();
    let links = pod.links();
    let second = dial_in(&dialled, &key, &bench);
    let replaced = "a newer session of the pod has taken its place";
    assert_eq!(first.await.unwrap(), replaced);
    // Its tunnels end at once, and say why.
    let ended = timeout(Duration::from_millis(1), session.read_u8())
        .await
        .unwrap();
    assert!(ended.unwrap_err().to_string().contains(replaced));
    drop(session);
    let ping = command(json!({"cmd": "ping"}));
    pod.command(ping, DEFAULT_REPLY_TIMEOUT).await.unwrap();
    assert_eq!(pod.links(), links + 1);
    // The end of the older one has not harmed the newer.
    dialled.stop().await;
    assert_eq!(second.await.unwrap(), "the server stops");
}

#[tokio::test(start_paused = true)]
async fn a_link_that_ends_takes_the_device_offline_with_the_reason() {
    let bench = bench(SimConfig::default());
    let key = key_of(&bench).await;
    let dialled = Dialled::new();
    let options = PodOptions {
        grace: Duration::ZERO,
        ..PodOptions::default()
    };
    let pod = driver(options, &dialled, &key);
    let line = dial_in(&dialled, &key, &bench);
    pod.wait_online(Duration::from_secs(1)).await.unwrap();
    line.abort();
    let reason = offline_because(&pod).await;
    assert!(reason.contains("the session was dropped"), "{reason}");
    let _line = dial_in(&dialled, &key, &bench);
    // Without waiting for the end of a pause.
    pod.wait_online(Duration::from_millis(10)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_silent_pod_is_gone() {
    let dialled = Dialled::new();
    let key = key_of(&bench(SimConfig::default())).await;
    let _device = transport(&dialled, &key);
    let line = Line::open(&dialled, &key).await;
    let began = Instant::now();
    for _ in 0..5 {
        sleep(SILENCE_MAX / 2).await;
        line.from_pod.send(Heard::Sign).await.unwrap();
    }
    assert_eq!(
        line.served.await.unwrap(),
        "nothing was heard of it for 20 s"
    );
    assert!((SILENCE_MAX * 3..SILENCE_MAX * 4).contains(&began.elapsed()));
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_reads_nothing_is_given_up() {
    let dialled = Dialled::new();
    let key = key_of(&bench(SimConfig::default())).await;
    let device = transport(&dialled, &key);
    let mut line = Line::open(&dialled, &key).await;
    let alive = line.from_pod.clone();
    tokio::spawn(async move {
        while alive.send(Heard::Sign).await.is_ok() {
            sleep(Duration::from_secs(6)).await;
        }
    });
    let mut tunnel = device.connect().await.unwrap();
    let writing = tokio::spawn(async move { tunnel.write_all(&[0; 1 << 20]).await });
    let began = Instant::now();
    assert_eq!(
        line.served.await.unwrap(),
        "it has read nothing that was sent to it for 15 s"
    );
    assert!(began.elapsed() < STUCK_AFTER * 2);
    assert!(writing.await.unwrap().is_err());
    let mut sent = 0;
    while let Some(Said::Text(text)) = line.to_pod.recv().await {
        sent += text.len();
    }
    assert!(sent <= pod_protocol::dial::POD_BUFFER_BYTES, "{sent}");
}

#[tokio::test(start_paused = true)]
async fn a_tunnel_that_nobody_reads_is_closed_and_stops_no_other() {
    let dialled = Dialled::new();
    let key = key_of(&bench(SimConfig::default())).await;
    let device = transport(&dialled, &key);
    let mut line = Line::open(&dialled, &key).await;
    let mut unread = device.connect().await.unwrap();
    let unread_id = line.opened().await;
    let mut other = device.connect().await.unwrap();
    let other_id = line.opened().await;
    let began = Instant::now();
    let part = [7; POD_DATA_BYTES];
    let (mut sent, mut heard) = (0, [0; POD_DATA_BYTES]);
    // Twice what may wait, and between any two frames one for the other.
    while sent < 2 * TUNNEL_BYTES_MAX {
        line.text(frame(&unread_id, &part)).await;
        line.text(frame(&other_id, &part)).await;
        other.read_exact(&mut heard).await.unwrap();
        sent += part.len();
    }
    assert!(
        began.elapsed() <= Duration::from_millis(600),
        "{:?}",
        began.elapsed()
    );
    let error = unread.read_u8().await.unwrap_err().to_string();
    assert_eq!(
        error,
        "the tunnel was closed: more than 4 MiB waited, which its reader takes too slowly"
    );
    assert_eq!(
        line.hear().await,
        ToPod::Close {
            tunnel_id: unread_id.into()
        }
    );
    // Its place is free.
    drop(unread);
    let _again = device.connect().await.unwrap();
    line.opened().await;
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_is_late_loses_nothing() {
    let dialled = Dialled::new();
    let key = key_of(&bench(SimConfig::default())).await;
    let device = transport(&dialled, &key);
    let mut line = Line::open(&dialled, &key).await;
    let mut tunnel = device.connect().await.unwrap();
    let id = line.opened().await;
    let total = TUNNEL_BYTES_MAX + 64 * POD_DATA_BYTES;
    let reading = tokio::spawn(async move {
        sleep(Duration::from_millis(300)).await;
        let mut all = vec![0; total];
        tunnel.read_exact(&mut all).await.unwrap();
        all
    });
    let mut sent = 0_usize;
    while sent < total {
        let end = total.min(sent + POD_DATA_BYTES);
        let bytes: Vec<u8> = (sent..end)
            .map(|at| u8::try_from(at % 251).unwrap())
            .collect();
        line.text(frame(&id, &bytes)).await;
        sent += bytes.len();
    }
    let all = reading.await.unwrap();
    assert!(
        all.iter()
            .enumerate()
            .all(|(at, byte)| usize::from(*byte) == at % 251)
    );
}

#[tokio::test(start_paused = true)]
async fn a_fourth_tunnel_waits_for_a_place() {
    let dialled = Dialled::new();
    let key = key_of(&bench(SimConfig::default())).await;
    let device = transport(&dialled, &key);
    let mut line = Line::open(&dialled, &key).await;
    let mut open = Vec::new();
    for _ in 0..3 {
        open.push(device.connect().await.unwrap());
        line.opened().await;
    }
    let waiting = timeout(Duration::from_secs(5), device.connect()).await;
    assert!(waiting.is_err());
    let mut last = open.pop().unwrap();
    last.write_all(b"bye").await.unwrap();
    drop(last);
    let _fourth = device.connect().await.unwrap();
    // In this order, or the pod would ignore it.
    assert!(matches!(line.hear().await, ToPod::Data { .. }));
    assert!(matches!(line.hear().await, ToPod::Close { .. }));
    line.opened().await;
}

#[tokio::test(start_paused = true)]
async fn answers_reach_those_who_asked_and_leases_those_who_want_to_know() {
    let dialled = Dialled::new();
    let key = key_of(&bench(SimConfig::default())).await;
    let device = transport(&dialled, &key);
    let mut line = Line::open(&dialled, &key).await;
    let mut commands = device.connect_commands().await.unwrap();
    commands
        .write_all(b"{\"cmd\":\"a\"}\n{\"cmd\":\"b\"}\n")
        .await
        .unwrap();
    let held = Some(("ci".to_owned(), 60));
    let lease = Lease {
        holder: "ci".to_owned(),
        until: Instant::now() + Duration::from_secs(60),
    };
    dialled.tell_lease(&key, Some(lease));
    for expected in ["a", "b"] {
        let ToPod::Request {
            request_id,
            command,
        } = line.hear().await
        else {
            panic!("a request");
        };
        assert_eq!(command["cmd"], expected);
        // Others' and late answers are nobody's.
        for wrong in ["9.1", "1.7", "x", ""] {
            let answer = Ok(json!("wrong"));
            let request_id = wrong.into();
            line.say(&FromPod::Response { request_id, answer }).await;
        }
        let answer = if expected == "a" {
            Ok(json!(1))
        } else {
            Err("no".to_owned())
        };
        for _ in 0..2 {
            let (request_id, answer) = (request_id.clone(), answer.clone());
            line.say(&FromPod::Response { request_id, answer }).await;
        }
    }
    let mut answers = vec![0; 64];
    let count = commands.read(&mut answers).await.unwrap();
    assert_eq!(
        std::str::from_utf8(&answers[..count]).unwrap(),
        "{\"data\":1,\"status\":\"ok\"}\n{\"message\":\"no\",\"status\":\"error\"}\n"
    );
    let fields = json!({"lease_state": true}).as_object().cloned().unwrap();
    line.say(&FromPod::Capabilities(fields.clone())).await;
    assert_eq!(line.hear().await, ToPod::Lease { held });
    // And when it dials in again.
    let mut line = Line::open(&dialled, &key).await;
    line.say(&FromPod::Capabilities(fields)).await;
    assert!(matches!(line.hear().await, ToPod::Lease { held: Some(_) }));
    dialled.tell_lease(&key, None);
    assert_eq!(line.hear().await, ToPod::Lease { held: None });
}

#[tokio::test(start_paused = true)]
async fn frames_of_a_hostile_pod_end_its_session_or_mean_nothing() {
    let dialled = Dialled::new();
    let key = key_of(&bench(SimConfig::default())).await;
    let device = transport(&dialled, &key);
    for (text, reason) in [
        (String::new(), "a frame is no message"),
        ("[]".to_owned(), "a frame is no message"),
        (" ".repeat(1 << 19), "exceeds 262144"),
        (frame(&"t".repeat(64), b""), "an id exceeds 63"),
    ] {
        let line = Line::open(&dialled, &key).await;
        line.text(text).await;
        let ended = line.served.await.unwrap();
        assert!(ended.contains(reason), "{ended}");
    }
    let line = Line::open(&dialled, &key).await;
    line.from_pod.send(Heard::Odd).await.unwrap();
    assert_eq!(
        line.served.await.unwrap(),
        "it sent a frame that is no text"
    );
    // Nothing of this concerns anybody, however much it is.
    let mut line = Line::open(&dialled, &key).await;
    for id in ["", "t", "t0", "t99999999999999999999999", "x"] {
        for _ in 0..1000 {
            line.text(frame(id, &[0; POD_DATA_BYTES])).await;
        }
    }
    for _ in 0..1000 {
        line.say(&FromPod::Pong).await;
        line.text(r#"{"type":"unheard of","tunnel_id":"t1"}"#.to_owned())
            .await;
    }
    let mut tunnel = device.connect().await.unwrap();
    let id = line.opened().await;
    let data = "no base64!".into();
    let tunnel_id = id.clone().into();
    line.say(&FromPod::Data { tunnel_id, data }).await;
    let error = tunnel.read_u8().await.unwrap_err().to_string();
    assert_eq!(error, "the pod sent data that is not base64url");
    assert_eq!(
        line.hear().await,
        ToPod::Close {
            tunnel_id: id.into()
        }
    );
}

#[tokio::test(start_paused = true)]
async fn only_a_pod_that_is_a_device_is_served() {
    let dialled = Dialled::new();
    let key = key_of(&bench(SimConfig::default())).await;
    let mut line = Line::open(&dialled, &key).await;
    let refused = "there is no device for the pod";
    assert_eq!(
        line.to_pod.recv().await,
        Some(Said::Close(refused.to_owned()))
    );
    let device = transport(&dialled, &key);
    let line = Line::open(&dialled, &key).await;
    drop(device);
    assert_eq!(line.served.await.unwrap(), "its device was removed");
    for address in ["", "x", &"A".repeat(43), &format!("{key}A")] {
        assert!(
            Driver(dialled.clone()).transport(address).is_err(),
            "{address}"
        );
    }
}
