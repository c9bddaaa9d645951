//! The probe, over TCP: a simulated one with a simulated target on its wires.

use std::sync::{Arc, Mutex};

use pod_protocol::dap_frame::{DapFrames, encode};
use serde_json::json;
use target_sim::chip::STM32F030R8;
use target_sim::dap;
use target_sim::target::{BareBoard, Target};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;
use tokio::time::{Duration, Instant, timeout};

use super::bench::{LONG, Line, bench, lacks};

/// A probe on a port of this machine.
struct Simulated {
    port: u16,
    wired: Arc<Mutex<Wired>>,
    serving: AbortHandle,
}

struct Wired {
    probe: dap::Probe,
    target: Target,
    /// The first byte of each packet.
    heard: Vec<u8>,
}

impl Simulated {
    async fn start(powered: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut target = Target::new(STM32F030R8);
        target.set_power(powered, &mut BareBoard);
        let wired = Arc::new(Mutex::new(Wired {
            probe: dap::Probe::new(512, 4),
            target,
            heard: Vec::new(),
        }));
        let serving = tokio::spawn({
            let wired = wired.clone();
            async move {
                loop {
                    let (client, _) = listener.accept().await.unwrap();
                    serve(client, &wired).await;
                }
            }
        });
        let serving = serving.abort_handle();
        Self {
            port,
            wired,
            serving,
        }
    }

    fn address(&self) -> String {
        format!("tcp:127.0.0.1:{}", self.port)
    }

    fn heard(&self) -> Vec<u8> {
        self.wired.lock().unwrap().heard.clone()
    }

    fn holds_reset(&self) -> bool {
        self.wired.lock().unwrap().probe.holds_reset()
    }

    async fn until(&self, is_so: impl Fn(&Self) -> bool) {
        let until = Instant::now() + LONG;
        while !is_so(self) {
            assert!(Instant::now() < until, "{:x?}", self.heard());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

async fn serve(mut client: TcpStream, wired: &Mutex<Wired>) {
    loop {
        let mut header = [0; 8];
        if client.read_exact(&mut header).await.is_err() {
            return;
        }
        assert_eq!((&header[..4], header[6], header[7]), (&b"DAP\0"[..], 1, 0));
        let mut packet = vec![0; usize::from(u16::from_le_bytes([header[4], header[5]]))];
        client.read_exact(&mut packet).await.unwrap();
        let mut answer = Vec::new();
        {
            let mut wired = wired.lock().unwrap();
            wired.heard.push(packet[0]);
            let Wired { probe, target, .. } = &mut *wired;
            probe.process(target, &mut BareBoard, &packet, &mut answer);
        }
        let length = u16::try_from(answer.len()).unwrap().to_le_bytes();
        let head = [b'D', b'A', b'P', 0, length[0], length[1], 2, 0];
        // In pieces, as networks do.
        client.write_all(&head[..5]).await.unwrap();
        tokio::task::yield_now().await;
        client
            .write_all(&[&head[5..], &answer].concat())
            .await
            .unwrap();
    }
}

async fn packets(line: &mut Line, frames: &mut DapFrames, count: usize) -> Vec<Vec<u8>> {
    let mut answers = Vec::new();
    while answers.len() < count {
        while let Some(packet) = frames.next_packet().unwrap() {
            answers.push(packet);
        }
        if answers.len() < count {
            frames.push(&timeout(LONG, line.0.read_raw(4096)).await.unwrap().unwrap());
        }
    }
    answers
}

const START: fn() -> serde_json::Value = || json!({"cmd": "dap_start", "swclk": 11, "swdio": 12, "packet_size": 1024, "packet_count": 4});

#[tokio::test]
async fn packets_go_to_the_probe_and_back_in_order() {
    let simulated = Simulated::start(true).await;
    let bench = bench(Some(simulated.address()), None, None);
    let mut commands = Line::to(&bench).await;
    assert_eq!(
        commands.status().await["caps"],
        json!(["command", "swd", "nrst_pin"])
    );
    let mut line = Line::to(&bench).await;
    assert_eq!(line.ask(START()).await, Ok(json!("dap ready")));
    let busy = Line::to(&bench).await.ask(START()).await.unwrap_err();
    assert!(busy.starts_with("busy: "), "{busy}");
    let mut frames = DapFrames::default();
    // More at once than the probe takes.
    let mut sent = Vec::new();
    for info in [0xFE, 0xFF].repeat(10) {
        sent.extend(encode(&[0, info]).unwrap());
    }
    line.0.write_raw(&sent).await.unwrap();
    let answers = packets(&mut line, &mut frames, 20).await;
    for pair in answers.chunks(2) {
        assert_eq!(pair[0], [0, 1, 4]);
        assert_eq!(pair[1], [0, 2, 0x00, 0x02]);
    }
    // However it ends, the probe is disconnected from the target, and free.
    drop(line);
    simulated
        .until(|probe| probe.heard().last() == Some(&0x03))
        .await;
    commands.until_free().await;
    let mut line = Line::to(&bench).await;
    line.ask(START()).await.unwrap();
    // A length of 0 ends it, too.
    line.0.write_raw(&[0, 0]).await.unwrap();
    line.ends().await;
}

#[tokio::test]
async fn the_acknowledgement_waits_for_a_target() {
    let simulated = Simulated::start(false).await;
    let bench = bench(Some(simulated.address()), None, None);
    let mut line = Line::to(&bench).await;
    let mut request = START();
    request["wait_ms"] = json!(700);
    let began = Instant::now();
    line.ask(request.clone()).await.unwrap();
    assert!(
        began.elapsed() >= Duration::from_millis(600),
        "{:?}",
        began.elapsed()
    );
    // The next one waits until this one has ended.
    drop(line);
    simulated
        .wired
        .lock()
        .unwrap()
        .target
        .set_power(true, &mut BareBoard);
    request["wait_ms"] = json!(10_000);
    let mut line = Line::to(&bench).await;
    let began = Instant::now();
    line.ask(request).await.unwrap();
    let took = began.elapsed();
    assert!((150..10_000).contains(&took.as_millis()), "{took:?}");
}

#[tokio::test]
async fn the_probe_drives_the_reset_line() {
    let simulated = Simulated::start(true).await;
    let bench = bench(Some(simulated.address()), None, None);
    let mut line = Line::to(&bench).await;
    let assert = |hold: bool| json!({"cmd": "nrst", "assert": hold});
    let report = |is_held: bool| json!({"supported": true, "asserted": is_held});
    assert_eq!(line.ask(assert(true)).await, Ok(report(true)));
    assert!(simulated.holds_reset());
    assert_eq!(line.ask(json!({"cmd": "nrst"})).await, Ok(report(true)));
    assert_eq!(line.ask(assert(false)).await, Ok(report(false)));
    assert!(!simulated.holds_reset());
    let began = Instant::now();
    assert_eq!(
        line.ask(json!({"cmd": "nrst", "pulse_ms": 120})).await,
        Ok(report(false))
    );
    assert!(began.elapsed() >= Duration::from_millis(120) && !simulated.holds_reset());
}

#[tokio::test]
async fn a_probe_that_goes_away_ends_its_session() {
    let simulated = Simulated::start(true).await;
    let power = base::config::PowerPart::Command {
        on: vec!["true".to_owned()],
        off: vec!["true".to_owned()],
    };
    let bench = bench(Some(simulated.address()), None, Some(power));
    let mut commands = Line::to(&bench).await;
    let mut line = Line::to(&bench).await;
    line.ask(START()).await.unwrap();
    simulated.serving.abort();
    line.0
        .write_raw(&encode(&[0, 0xFE]).unwrap())
        .await
        .unwrap();
    line.ends().await;
    let status = commands.until(|status| lacks(status, "probe")).await;
    assert_eq!(status["caps"], json!(["command", "power"]));
    // What the safe state asks for needs no probe.
    let released = commands.ask(json!({"cmd": "nrst", "assert": false})).await;
    assert_eq!(released.unwrap()["asserted"], false);
    assert!(
        commands
            .ask(json!({"cmd": "nrst", "pulse_ms": 1}))
            .await
            .is_err()
    );
}
