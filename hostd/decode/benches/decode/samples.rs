//! Generated traffic in memory: samples per second, on one thread and on two.

use crate::clock::thread_seconds;
use crate::naive::{self, UartRules};
use crate::traffic::{self, Load};
use decode::{CodePath, Plan, RawDecoder, Spec};
use std::hint::black_box;
use std::ops::ControlFlow;
use std::time::Instant;

/// Samples of one parallel chunk, as hostd uses them.
const CHUNK: usize = 512 * 1024;

const SAMPLE_RATE_HZ: f64 = 24e6;

struct Case {
    name: &'static str,
    samples: Vec<u8>,
    spec: Spec,
    naive: fn(&[u8]) -> usize,
}

fn cases(count: usize) -> Vec<Case> {
    let names = ["0".to_owned(), "1".to_owned()];
    let i2c = |name, load, seed| {
        let spec = Spec::parse(
            "i2c",
            &[("scl", "0"), ("sda", "1")],
            &[],
            Some("addr-data"),
            &names,
        );
        Case {
            name,
            samples: traffic::i2c(count, load, seed),
            spec: spec.expect("the spec is valid"),
            naive: |samples| naive::i2c(samples).len(),
        }
    };
    let options = [("baudrate", "1000000")];
    let spec = Spec::parse("uart", &[("rx", "0")], &options, Some("rx-data"), &names);
    vec![
        i2c("I2C dense", Load::Dense, 1),
        i2c("I2C mixed", Load::Mixed, 2),
        i2c("I2C sparse", Load::Sparse, 3),
        Case {
            name: "UART dense",
            samples: traffic::uart(count, 24.0, 0, 4),
            spec: spec.expect("the spec is valid"),
            naive: |samples| {
                let (width, data_bits, even_parity, frame_bits) = (24.0, 8, false, 10.0);
                let rules = UartRules {
                    width,
                    data_bits,
                    even_parity,
                    frame_bits,
                };
                naive::uart(samples, rules).len()
            },
        },
    ]
}

/// Reads the samples and does nothing with them.
fn read(samples: &[u8]) -> u64 {
    let (words, _) = samples.as_chunks::<256>();
    let mut sums = [0u64; 32];
    for block in words {
        for (sum, word) in sums.iter_mut().zip(block.as_chunks::<8>().0) {
            *sum ^= u64::from_le_bytes(*word);
        }
    }
    sums.iter().fold(0, |all, sum| all ^ sum)
}

fn decode(case: &Case, plan: Plan) -> usize {
    let decoder = RawDecoder::new(&case.spec, Some(SAMPLE_RATE_HZ), 1, plan);
    let mut decoder = decoder.expect("the rate is enough");
    let mut count = 0;
    let mut sink = |part: &[decode::Annotation]| {
        count += part.len();
        ControlFlow::Continue(())
    };
    let flow = decoder.feed(&case.samples, &mut sink);
    assert!(flow.is_continue() && decoder.finish(&mut sink).1.is_continue());
    count
}

/// A contestant: its name, whether it works on this thread alone, and its best time in seconds.
struct Lane<'a> {
    name: &'static str,
    on_this_thread: bool,
    run: Box<dyn Fn() -> usize + Send + 'a>,
    best: f64,
}

impl Lane<'_> {
    fn round(&mut self) {
        let (cpu, wall) = (thread_seconds(), Instant::now());
        black_box((self.run)());
        let (cpu, wall) = (thread_seconds() - cpu, wall.elapsed().as_secs_f64());
        self.best = self.best.min(if self.on_this_thread { cpu } else { wall });
    }
}

fn lanes(case: &Case) -> Vec<Lane<'_>> {
    let lane = |name, on_this_thread, run: Box<dyn Fn() -> usize + Send>| Lane {
        name,
        on_this_thread,
        run,
        best: f64::MAX,
    };
    let half = case.samples.len() / 2;
    vec![
        lane(
            "memory read, 1 thread",
            true,
            Box::new(|| (read(&case.samples) & 1) as usize),
        ),
        lane(
            "memory read, 2 threads",
            false,
            Box::new(move || {
                let (a, b) = case.samples.split_at(half);
                let (a, b) = rayon::join(|| read(a), || read(b));
                ((a ^ b) & 1) as usize
            }),
        ),
        lane("naive", true, Box::new(|| (case.naive)(&case.samples))),
        lane(
            "portable",
            true,
            Box::new(|| decode(case, Plan::Sequential(CodePath::Portable))),
        ),
        lane(
            "best path",
            true,
            Box::new(|| decode(case, Plan::Sequential(CodePath::best()))),
        ),
        lane(
            "chunks, 2 threads",
            false,
            Box::new(|| decode(case, Plan::Parallel(CHUNK))),
        ),
    ]
}

pub(crate) fn run(count: usize, rounds: usize) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build();
    let pool = pool.expect("two threads can be started");
    println!("{count} samples of one byte, best of {rounds}; one thread by its processor time,");
    println!(
        "two threads by the clock on the wall; fast path: {:?}",
        CodePath::best()
    );
    for case in cases(count) {
        let mut lanes = lanes(&case);
        for _ in 0..rounds {
            for lane in &mut lanes {
                if lane.on_this_thread {
                    lane.round();
                } else {
                    pool.install(|| lane.round());
                }
            }
        }
        let best = |name: &str| {
            lanes
                .iter()
                .find(|lane| lane.name == name)
                .map_or(f64::NAN, |lane| lane.best)
        };
        println!("\n{}", case.name);
        for lane in &lanes {
            println!(
                "  {:24} {:8.3} Gsamples/s   {:6.1} x naive   {:5.2} of memory read",
                lane.name,
                case.samples.len() as f64 / lane.best * 1e-9,
                best("naive") / lane.best,
                best("memory read, 1 thread") / lane.best,
            );
        }
    }
}
