//! `cargo xtask bench runtime`: the same small request answered by a plain hyper handler, by a
//! built-in handler from the pool, and by a fresh instance, in one run.
//!
//! Rounds are interleaved, so a busy machine disturbs all of them alike: compare lines of one
//! table, not tables of two runs. Over HTTP the load comes from a thread of its own on the same
//! cores. `wasmtime serve` joins when it is on the PATH.
//!
//! Options: `--rounds N` (default 5), `--millis N` for each measurement (default 1000),
//! `--only NAME` to profile one of them.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench prints, and stops at the first surprise"
)]

mod answerer;
mod host;
mod http;
mod in_process;
mod load;
mod peer;
mod report;
mod work;

use std::sync::Arc;
use std::time::Duration;

use answerer::Answerer;
use report::{Sample, Table};

/// Load over HTTP: connections, each with one request at a time.
const CONNECTIONS: usize = 16;

fn main() {
    let plan = Plan::from_args();
    let mut answerers = Answerer::all();
    work::assert_all_agree(&answerers);
    if let Some(only) = &plan.only {
        answerers.retain(|answerer| answerer.name() == only);
    }
    let mut in_process = Table::new("in process", &["native", "pooled", "fresh"]);
    let mut over_http = Table::new(
        &format!("HTTP keep-alive, {CONNECTIONS} connections"),
        &[
            "native",
            "pooled",
            "fresh",
            "wasmtime serve",
            "serve, tuned",
        ],
    );
    let peers = peer::Peer::start_all();
    for round in 1..=plan.rounds {
        for threads in [1, 2] {
            for answerer in &answerers {
                let sample = in_process::measure(answerer, threads, plan.each);
                in_process.add(answerer.name(), threads, sample);
            }
            for answerer in &answerers {
                let sample = over_loopback(answerer, threads, plan.each);
                over_http.add(answerer.name(), threads, sample);
            }
        }
        for peer in &peers {
            let sample = load::measure(peer.address(), CONNECTIONS, plan.each);
            over_http.add(peer.name(), peer::THREADS, sample);
        }
        println!("round {round} of {} done", plan.rounds);
    }
    in_process.print();
    over_http.print();
    if peers.is_empty() {
        println!("wasmtime is not on the PATH: no line for wasmtime serve");
    }
}

fn over_loopback(answerer: &Arc<Answerer>, threads: usize, each: Duration) -> Sample {
    let server = http::Server::start(answerer.clone(), threads);
    load::measure(server.address(), CONNECTIONS, each)
}

struct Plan {
    rounds: u32,
    each: Duration,
    only: Option<String>,
}

impl Plan {
    fn from_args() -> Self {
        let mut plan = Self {
            rounds: 5,
            each: Duration::from_millis(1_000),
            only: None,
        };
        let mut args = std::env::args().skip(1);
        while let Some(arg) = args.next() {
            let mut value = || args.next().expect("options have a value");
            match arg.as_str() {
                "--rounds" => plan.rounds = value().parse().unwrap(),
                "--millis" => plan.each = Duration::from_millis(value().parse().unwrap()),
                "--only" => plan.only = Some(value()),
                // cargo passes it to every bench.
                "--bench" => {}
                other => panic!("unknown option {other}"),
            }
        }
        plan
    }
}
