//! How much of a bare bulk endpoint is left over a link, both ways, in one run: numbers to read, and none to pass.

use std::time::Instant;

use pods::protocol::usb::{Link, Terms};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use usb_sim::{Answer, Attached, Bus, Descriptors, Device, Endpoint, Interface, Setup, Speed};

use super::*;

pub(crate) const CASES: &[Case] = &[("link_against_endpoints", link_against_endpoints)];

/// Bytes of each transfer that is timed.
const BYTES: usize = 32 << 20;

/// Rounds, of which the median counts.
const ROUNDS: usize = 5;

/// A device that sends zeros and swallows what comes, with or without a link.
struct Hose {
    has_link: bool,
}

impl Device for Hose {
    fn descriptors(&self) -> Descriptors {
        Descriptors {
            ids: (0x1209, 1),
            version: 0x0100,
            class: (0, 0, 0),
            manufacturer: "Simulated".into(),
            product: "Hose".into(),
            serial: None,
            speed: Speed::High,
            interfaces: vec![Interface {
                class: (0xFF, 0, 9),
                endpoints: vec![Endpoint::Bulk(0x01), Endpoint::Bulk(0x81)],
                ..Interface::default()
            }],
        }
    }

    fn start(&mut self, bus: &mut Bus) {
        let (mut output, mut input) = (bus.output(1), bus.input(1));
        if !self.has_link {
            tokio::spawn(async move { while output.receive().await.is_ok() {} });
            tokio::spawn(async move {
                let zeros = vec![0; 64 * 1024];
                while input.send(&zeros).await.is_ok() {}
            });
            return;
        }
        tokio::spawn(async move {
            let (link, drives) = Link::pod(output, input, Terms::HOST).await.unwrap();
            tokio::spawn(drives);
            while let Some(stream) = link.accept().await {
                let (mut reader, mut writer) = tokio::io::split(stream);
                tokio::spawn(async move {
                    let mut bytes = vec![0; 64 * 1024];
                    while matches!(reader.read(&mut bytes).await, Ok(1..)) {}
                });
                tokio::spawn(async move {
                    let zeros = vec![0; 64 * 1024];
                    while writer.write_all(&zeros).await.is_ok() {}
                });
            }
        });
    }

    fn control<'a>(&'a mut self, _: Setup, _: &'a [u8]) -> Answer<'a> {
        Box::pin(async { None })
    }
}

/// MB/s in and out of one round.
async fn round(has_link: bool) -> [f64; 2] {
    let _plugged = Attached::new(Hose { has_link }).unwrap();
    let raw = raw::claim().await;
    if !has_link {
        return [pull(raw.reader()).await, push(raw.writer()).await];
    }
    let (link, drives) = Link::host(raw.reader(), raw.writer(), [7; 8])
        .await
        .unwrap();
    let driving = tokio::spawn(drives);
    let into = pull(link.open().await.unwrap()).await;
    let out = {
        let (mut reader, writer) = tokio::io::split(link.open().await.unwrap());
        // What comes the other way is not what is measured: the window closes.
        let _ = reader.read_u8().await;
        push(writer).await
    };
    driving.abort();
    [into, out]
}

async fn pull(mut reader: impl tokio::io::AsyncRead + Unpin) -> f64 {
    let mut bytes = vec![0; 64 * 1024];
    let (mut left, began) = (BYTES, Instant::now());
    while left > 0 {
        let count = reader.read(&mut bytes).await.unwrap();
        left = left.saturating_sub(count);
    }
    rate(began)
}

async fn push(mut writer: impl tokio::io::AsyncWrite + Unpin) -> f64 {
    let bytes = vec![0; 64 * 1024];
    let began = Instant::now();
    for _ in 0..BYTES / bytes.len() {
        writer.write_all(&bytes).await.unwrap();
    }
    writer.flush().await.unwrap();
    rate(began)
}

#[expect(clippy::cast_precision_loss, reason = "megabytes of a bench")]
fn rate(began: Instant) -> f64 {
    BYTES as f64 / 1e6 / began.elapsed().as_secs_f64()
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

fn link_against_endpoints() {
    let rounds: Vec<_> = (0..ROUNDS)
        .map(|_| (run(round(false)), run(round(true))))
        .collect();
    for (at, way) in ["in", "out"].into_iter().enumerate() {
        let bare = median(rounds.iter().map(|(bare, _)| bare[at]).collect());
        let link = median(rounds.iter().map(|(_, link)| link[at]).collect());
        let ratio = median(
            rounds
                .iter()
                .map(|(bare, link)| link[at] / bare[at])
                .collect(),
        );
        println!("bulk {way}: {link:.0} MB/s over a link, {bare:.0} bare, ratio {ratio:.2}");
    }
}
