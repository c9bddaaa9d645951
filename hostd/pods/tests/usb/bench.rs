//! How much of a bare bulk endpoint is left over a link, both ways, at the speed of a real bus and at any: numbers to
//! read, and none to pass.

use std::time::Instant;

use pod_sim::{Playback, Recording};
use pods::protocol::REPLY_LINE_BYTES_MAX;
use pods::protocol::capture::Assembly;
use pods::protocol::chunk::raw::ENCODING;
use pods::protocol::chunk::{self, CaptureLine};
use pods::protocol::connection::lines::Lines;
use pods::protocol::usb::{INTERFACE, TRANSFER_BYTES, Terms};
use pods::{BoxedStream, Frame, transport};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use usb_sim::{
    Answer, AttachError, Attached, Bus, Descriptors, Device, Endpoint, Input, Interface, Output,
    Setup, Speed,
};

use super::plugging::listed;
use super::*;

pub(crate) const CASES: &[Case] = &[
    ("link_against_endpoints", link_against_endpoints),
    (
        "samples_as_bytes_against_lines",
        samples_as_bytes_against_lines,
    ),
];

/// Bytes of each transfer that is timed.
const BYTES: usize = 32 << 20;

/// Bytes that go before, so that what is timed neither begins nor ends with empty buffers.
const BYTES_BEFORE: usize = 4 << 20;

/// Rounds, in turns, of which the median counts.
const ROUNDS: usize = 9;

/// How a device is plugged in.
type Plug = fn(Hose) -> Result<Attached, AttachError>;

/// The speeds of the bus, with what to expect: that of a real one, and none, where all that a link costs the processor
/// is seen.
const SPEEDS: [(&str, Plug, &str); 2] = [
    ("at 480 Mbit/s", Attached::paced, "aim 0.95"),
    ("at any speed", Attached::new, "no aim"),
];

/// What a device says about itself that has nothing but an interface of this class with bulk endpoints 1 both ways.
pub(crate) fn descriptors(class: (u8, u8, u8)) -> Descriptors {
    Descriptors {
        ids: (0x1209, 1),
        version: 0x0100,
        class: (0, 0, 0),
        manufacturer: "Simulated".into(),
        product: "Hose".into(),
        serial: None,
        speed: Speed::High,
        interfaces: vec![Interface {
            class,
            endpoints: vec![Endpoint::Bulk(0x01), Endpoint::Bulk(0x81)],
            ..Interface::default()
        }],
    }
}

/// A device that sends zeros and swallows what comes, bare or as a pod does over a link.
struct Hose {
    has_link: bool,
}

impl Device for Hose {
    fn descriptors(&self) -> Descriptors {
        descriptors(if self.has_link {
            INTERFACE
        } else {
            (0xFF, 0, 9)
        })
    }

    fn start(&mut self, bus: &mut Bus) {
        let (mut output, mut input) = (bus.output(1), bus.input(1));
        if self.has_link {
            tokio::spawn(firmware(output, input));
            return;
        }
        tokio::spawn(async move { while output.receive().await.is_ok() {} });
        tokio::spawn(async move {
            let zeros = vec![0; TRANSFER_BYTES];
            while input.send(&zeros).await.is_ok() {}
        });
    }

    fn control<'a>(&'a mut self, _: Setup, _: &'a [u8]) -> Answer<'a> {
        Box::pin(async move { self.has_link.then(Vec::new) })
    }
}

/// Bytes of a header: channel (16 bits), kind (8 bits), zero (8 bits), length (32 bits).
pub(crate) const HEADER_BYTES: usize = 8;

/// Kinds of frames.
const OPEN: u8 = 2;
pub(crate) const ACCEPT: u8 = 3;
const DATA: u8 = 4;
const CREDIT: u8 = 5;

pub(crate) fn frame(channel: u16, kind: u8, bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).unwrap();
    let mut frame = channel.to_le_bytes().to_vec();
    frame.extend([kind, 0]);
    frame.extend(length.to_le_bytes());
    frame.extend(bytes);
    frame
}

/// A pod whose processor does not count here: its controller fetches frames from memory and drops what comes. It sends
/// on the first connection, as fast as it may.
async fn firmware(mut output: Output, mut input: Input) -> std::io::Result<()> {
    let greeting = output.receive().await?;
    // The same nonce, and the host's own numbers.
    input.send(&greeting).await?;
    let full = frame(1, DATA, &[0; TRANSFER_BYTES - HEADER_BYTES]);
    let window = Terms::HOST.window_bytes as usize;
    let mut credit = 0;
    let mut swallowed = 0;
    // Bytes of data that are to come, and what has come of a header.
    let (mut data_left, mut header) = (0, Vec::new());
    loop {
        tokio::select! {
            biased;
            transfer = output.receive() => {
                let transfer = transfer?;
                let mut rest = &transfer[..];
                while !rest.is_empty() {
                    let skipped = data_left.min(rest.len());
                    (data_left, swallowed) = (data_left - skipped, swallowed + skipped);
                    rest = &rest[skipped..];
                    let taken = (HEADER_BYTES - header.len()).min(rest.len());
                    header.extend_from_slice(&rest[..taken]);
                    rest = &rest[taken..];
                    let [low, high, kind, _, a, b, c, d] = header[..] else { break };
                    header.clear();
                    let (channel, length) = (u16::from_le_bytes([low, high]), u32::from_le_bytes([a, b, c, d]));
                    match kind {
                        OPEN => {
                            input.send(&frame(channel, ACCEPT, &[])).await?;
                            if channel == 1 {
                                credit = window;
                            }
                        }
                        DATA => data_left = length as usize,
                        CREDIT => {
                            let more = u32::from_le_bytes(*rest.first_chunk().unwrap());
                            credit += more as usize;
                            rest = &rest[4..];
                        }
                        _ => {}
                    }
                }
                if window / 2 < swallowed {
                    let granted = u32::try_from(swallowed).unwrap().to_le_bytes();
                    input.send(&frame(2, CREDIT, &granted)).await?;
                    swallowed = 0;
                }
            }
            sent = input.send(&full), if full.len() - HEADER_BYTES <= credit => {
                sent?;
                credit -= full.len() - HEADER_BYTES;
            }
        }
    }
}

/// MB/s in and out of one round.
async fn round(plug: Plug, has_link: bool) -> [f64; 2] {
    let plugged = plug(Hose { has_link }).unwrap();
    let rates = both_ways(has_link).await;
    // Pulled out while transfers to it are being cancelled, a virtual device leaves the kernel waiting for ever.
    tokio::time::sleep(CLOSED_WITHIN).await;
    drop(plugged);
    rates
}

async fn both_ways(has_link: bool) -> [f64; 2] {
    if !has_link {
        let raw = raw::claim().await;
        return [pull(raw.reader()).await, push(raw.writer()).await];
    }
    listed(1).await;
    let transport = transport(&[&pods::usb::Driver], "usb").unwrap();
    let sends = transport.connect().await.unwrap();
    let swallows = transport.connect().await.unwrap();
    // What comes beside is not what is measured: the window closes.
    [pull(sends).await, push(swallows).await]
}

/// On a thread of the runtime, as what the server does.
fn timed(plug: Plug, has_link: bool) -> [f64; 2] {
    run(async move { tokio::spawn(round(plug, has_link)).await.unwrap() })
}

async fn pull(mut reader: impl tokio::io::AsyncRead + Unpin) -> f64 {
    let mut bytes = vec![0; 64 * 1024];
    let mut began = Instant::now();
    for count in [BYTES_BEFORE, BYTES] {
        began = Instant::now();
        let mut left = count;
        while left > 0 {
            let count = reader.read(&mut bytes).await.unwrap();
            left = left.saturating_sub(count);
        }
    }
    rate(began)
}

async fn push(mut writer: impl tokio::io::AsyncWrite + Unpin) -> f64 {
    let bytes = vec![0; 64 * 1024];
    let mut began = Instant::now();
    for count in [BYTES_BEFORE, BYTES] {
        began = Instant::now();
        for _ in 0..count / bytes.len() {
            writer.write_all(&bytes).await.unwrap();
        }
    }
    let rate = rate(began);
    writer.flush().await.unwrap();
    rate
}

#[expect(clippy::cast_precision_loss, reason = "megabytes of a bench")]
fn rate(began: Instant) -> f64 {
    BYTES as f64 / 1e6 / began.elapsed().as_secs_f64()
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

/// MB/s bare and over a link, each in and out, of one round.
type Round = [[f64; 2]; 2];

fn link_against_endpoints() {
    let mut rounds = SPEEDS.map(|_| Vec::new());
    for _ in 0..ROUNDS {
        for ((_, plug, _), rounds) in SPEEDS.into_iter().zip(&mut rounds) {
            rounds.push([timed(plug, false), timed(plug, true)]);
        }
    }
    for ((speed, _, aim), rounds) in SPEEDS.iter().zip(&rounds) {
        for (at, way) in ["in", "out"].into_iter().enumerate() {
            println!("bulk {way} {speed}: {}, {aim}", compared(rounds, at));
        }
    }
}

/// What came of the rounds one way.
fn compared(rounds: &[Round], at: usize) -> String {
    let ratios = rounds.iter().map(|[bare, link]| link[at] / bare[at]);
    let (least, most) = ratios
        .clone()
        .fold((f64::MAX, 0_f64), |(least, most), ratio| {
            (least.min(ratio), most.max(ratio))
        });
    let ratio = median(ratios.collect());
    let [bare, link] =
        [0, 1].map(|who| median(rounds.iter().map(|round| round[who][at]).collect()));
    format!(
        "{link:.1} MB/s over a link, {bare:.1} bare, ratio {ratio:.3} ({least:.2} to {most:.2})"
    )
}

/// Samples of the capture whose transfer is timed.
const SAMPLES: u64 = 1_000_000;

/// What they are in the pod's memory.
const MEGABYTES: f64 = 2.0;

/// How long a capture takes to come over USB, once it is taken: its samples as bytes, and in lines of JSON.
fn samples_as_bytes_against_lines() {
    run(async {
        // Every other sample differs.
        let busy = Recording {
            sample_rate_hz: 3e6,
            samples: 4,
            edges: vec![(0, 1), (2, 0)],
        };
        let pod = SimPod::new(SimConfig {
            playback: Some(Playback::new(&busy, &[(0, 1)], None).unwrap()),
            ..SimConfig::default()
        });
        let _plugged = Attached::new(pod.plug()).unwrap();
        listed(1).await;
        let transport = transport(&[&pods::usb::Driver], "usb").unwrap();
        let mut lines = Lines::new(transport.connect().await.unwrap(), REPLY_LINE_BYTES_MAX);
        let take =
            json!({"cmd": "la_capture", "samples": SAMPLES, "sample_rate_mhz": 3, "enc": "raw"});
        let bank = br#"{"cmd": "la_voltage", "mv": 3300}"#;
        lines.write(bank.to_vec()).await.unwrap();
        lines.read().await.unwrap().unwrap();
        assert_eq!(received(&mut lines, &take).await, SAMPLES);
        let mut rates = [Vec::new(), Vec::new()];
        for _ in 0..ROUNDS {
            for (enc, rates) in [ENCODING, "b64"].into_iter().zip(&mut rates) {
                let began = Instant::now();
                let count = received(&mut lines, &json!({"cmd": "capture_read", "enc": enc})).await;
                assert_eq!(count, SAMPLES);
                rates.push(MEGABYTES / began.elapsed().as_secs_f64());
            }
        }
        let [bytes, text] = rates.map(median);
        let ratio = bytes / text;
        println!("samples: {bytes:.1} MB/s as bytes, {text:.1} in lines, ratio {ratio:.1}");
    });
}

/// Sends a request and reads the whole answer; returns how many logic samples came.
async fn received(lines: &mut Lines<BoxedStream>, request: &Value) -> u64 {
    lines
        .write(serde_json::to_vec(request).unwrap())
        .await
        .unwrap();
    let mut assembly = Assembly::new((0, SAMPLES));
    let mut upto_now = 0;
    loop {
        let line = lines.read().await.unwrap().unwrap();
        let Ok(CaptureLine::Chunk(chunk)) = chunk::parse(line) else {
            panic!("{request}: {}", String::from_utf8_lossy(line));
        };
        let chunk = match chunk.raw_bytes() {
            Some(bytes) => chunk.take(lines.read_bytes(bytes).await.unwrap().unwrap()),
            None => chunk,
        };
        let more = chunk.more;
        for frame in assembly.push(chunk).unwrap() {
            if let Frame::La { upto, .. } = frame {
                upto_now = upto;
            }
        }
        if !more {
            return upto_now;
        }
    }
}
