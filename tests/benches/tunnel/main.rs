//! `cargo xtask bench tunnel`: bytes through a tunnel to a pod, compared with servers that carry them
//! without hostd.
//!
//! In one run, over loopback, with the same client and the same messages:
//!
//! - `echo`: a plain tokio-tungstenite server that sends each message back. One hop.
//! - `relay`: a plain tokio-tungstenite server that forwards the bytes to a TCP echo and back: what a
//!   tunnel does, without a lease, a gate, pings or limits. Two hops.
//! - `tunnel`: `hostd serve` with the same TCP echo as a pod in UART mode, over `WS /cloud/devices/ws`.
//!
//! Each server is a process of its own; the TCP echo runs in the client's process, on its own threads.
//! Throughput has [`client::WINDOW_BYTES`] in flight; latency is one small message at a time. Rounds are
//! interleaved, so a busy machine disturbs all alike: compare the columns of one line.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    reason = "a bench prints for people, and stops at the first surprise"
)]

mod client;
mod plain;
mod pod;

use std::net::SocketAddr;

use serde_json::json;
use tests::{PodSim, Server};
use tokio::runtime::Builder;

use client::Client;

const ROUNDS: usize = 9;

/// Bytes of a message, and how many bytes one measurement echoes.
const THROUGHPUT: [(usize, usize); 3] =
    [(256, 4 << 20), (4 << 10, 48 << 20), (64 << 10, 192 << 20)];

/// Bytes of a message, and how many are echoed one after the other.
const LATENCY: (usize, usize) = (64, 3000);

const NAMES: [&str; 3] = ["echo", "relay", "tunnel"];

fn main() {
    if let Some(behind) = plain::asked_for() {
        return plain::run(behind);
    }
    let peers = Builder::new_multi_thread().enable_all().build().unwrap();
    let sim = PodSim::start(&[]).unwrap();
    let pod = peers.block_on(pod::listen(sim.address.clone()));
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("hostd.toml");
    let device = format!("[[devices]]\nname = \"echo\"\naddress = \"tcp:{pod}\"\n");
    std::fs::write(&config, device).unwrap();
    let server = Server::demo_with(&["--config", config.to_str().unwrap()]).unwrap();

    let plain = plain::Process::start(peers.block_on(pod::echo()));
    let own = Builder::new_current_thread().enable_all().build().unwrap();
    let mut clients = own.block_on(open(&plain, &server));
    let mut rates = vec![vec![Vec::new(); NAMES.len()]; THROUGHPUT.len()];
    let mut waits = vec![Vec::new(); NAMES.len()];
    for _ in 0..ROUNDS {
        for (of_size, (size, total)) in rates.iter_mut().zip(THROUGHPUT) {
            for (of_name, client) in of_size.iter_mut().zip(&mut clients) {
                let took = own.block_on(client.throughput(size, total));
                of_name.push(total as f64 / took.as_secs_f64() / 1e6);
            }
        }
        for (of_name, client) in waits.iter_mut().zip(&mut clients) {
            let (size, count) = LATENCY;
            let took = own.block_on(client.latency(size, count));
            of_name.push(took.as_secs_f64() * 1e6);
        }
    }
    println!(
        "{:<28}{:>10}{:>10}{:>10}{:>16}{:>17}",
        "", NAMES[0], NAMES[1], NAMES[2], "tunnel of echo", "tunnel of relay"
    );
    for (of_size, (size, _)) in rates.into_iter().zip(THROUGHPUT) {
        row(&format!("messages of {size} B, MB/s"), of_size, false);
    }
    row(&format!("{} B and back, us", LATENCY.0), waits, true);
}

/// Medians, and how the tunnel compares: above 1, the tunnel is better.
fn row(name: &str, of_names: Vec<Vec<f64>>, less_is_better: bool) {
    let medians: Vec<f64> = of_names.into_iter().map(median).collect();
    let ratio = |of: usize| match less_is_better {
        true => medians[of] / medians[2],
        false => medians[2] / medians[of],
    };
    println!(
        "{name:<28}{:>10.1}{:>10.1}{:>10.1}{:>16.2}{:>17.2}",
        medians[0],
        medians[1],
        medians[2],
        ratio(0),
        ratio(1)
    );
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// A client of each, ready to send.
async fn open(plain: &plain::Process, server: &Server) -> Vec<Client> {
    let tunnel: SocketAddr = server.url.strip_prefix("http://").unwrap().parse().unwrap();
    let minted = server.client().post("/api/auth/token", &json!({})).unwrap();
    let token = minted.expect(200)["token"].as_str().unwrap().to_owned();
    let path = format!("/api/cloud/devices/ws?device=echo&kind=uart&token={token}");
    let mut tunnel = Client::open(tunnel, &path).await;
    tunnel.start_uart().await;
    vec![
        Client::open(plain.echo, "/").await,
        Client::open(plain.relay, "/").await,
        tunnel,
    ]
}
