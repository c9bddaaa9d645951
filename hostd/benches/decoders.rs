//! How fast a decoder of a plugin is, beside the built-in one: I²C from a stored capture to annotations, on one thread,
//! reading, handing over and checking included.
//!
//! `cargo bench --workspace --bench decoders`, after `cargo xtask handlers`; one run compares, two runs do not.

#![allow(clippy::print_stdout, reason = "a bench prints")]

use std::hint::black_box;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use decode::foreign::Foreign;
use decode::segment::{Encoder, EncoderSpec, Segment};
use decode::{Decoding, Spec};
use hostd::plugin::decoding::offline::Offline;
use plugins::package::Package;
use rustix::time::{ClockId, clock_gettime};

#[path = "../decode/tests/support/traffic.rs"]
#[allow(dead_code, reason = "other benches need the rest")]
mod traffic;

use traffic::Load;

const SAMPLE_RATE_HZ: f64 = 24e6;

/// Samples of a case; a thousandth in a test run.
const SAMPLES: usize = 64 << 20;

/// Repetitions, of which the fastest counts.
const RUNS: usize = 5;

fn main() {
    let is_test = std::env::args().any(|argument| argument == "--test");
    let (samples, runs) = if is_test {
        (SAMPLES / 1_000, 1)
    } else {
        (SAMPLES, RUNS)
    };
    let Some(package) = guest() else {
        println!("decoders: target/handlers has no guests/decoder.wasm; run cargo xtask handlers");
        return;
    };
    let plugin = Offline::open_trusted(&package).expect("the guest loads");
    let names = ["0".to_owned(), "1".to_owned()];
    let map = [("scl", "0"), ("sda", "1")];
    let of_plugin = |id: &str| {
        let foreign: Arc<dyn Foreign> = plugin.find(id).expect("the guest has it");
        Spec::parse_foreign(&foreign, &map, &[], None, &names).expect("the spec is valid")
    };
    let built_in = Spec::parse("i2c", &map, &[], Some("addr-data"), &names);
    let specs = [
        ("plugin, changes", of_plugin("i2c")),
        ("plugin, samples", of_plugin("i2c-samples")),
        ("built in", built_in.expect("the spec is valid")),
    ];
    println!("decoders: million samples a second of processor time (samples an edge)");
    for (name, load) in [
        ("dense", Load::Dense),
        ("mixed", Load::Mixed),
        ("sparse", Load::Sparse),
    ] {
        let raw = traffic::i2c(samples, load, 1);
        let per_edge = raw.len() / edges(&raw).max(1);
        let stored = stored(&raw);
        let segment = Segment::open(&stored).expect("what was just written is sound");
        for (decoder, spec) in &specs {
            let times = (0..runs).map(|_| seconds(&segment, spec));
            let best = times.fold(f64::INFINITY, f64::min);
            #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52 samples")]
            let rate = raw.len() as f64 / best / 1e6;
            println!("decoders: {name:<7} {decoder:<16} {rate:>9.0} ({per_edge})");
        }
    }
}

/// The guest that measures, as a package.
fn guest() -> Option<Package> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let component = root.join("target/handlers/guests/decoder.wasm");
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::copy(component, folder.path().join("plugin.wasm")).ok()?;
    let manifest = "[plugin]\nid = \"bench.decoder\"\nversion = \"1.0.0\"\napi = \"1.0\"\n";
    std::fs::write(folder.path().join("plugin.toml"), manifest).expect("room for a manifest");
    Some(Package::from_folder(folder.path()).expect("a package"))
}

fn stored(raw: &[u8]) -> Vec<u8> {
    let spec = EncoderSpec {
        channels: 2,
        sample_rate_hz: SAMPLE_RATE_HZ,
    };
    let mut encoder = Encoder::new(spec).expect("the spec is valid");
    encoder.push_raw(raw, 1);
    encoder.finish()
}

fn edges(raw: &[u8]) -> usize {
    raw.windows(2).filter(|pair| pair[0] != pair[1]).count()
}

/// Processor seconds of this thread for one decoding.
fn seconds(segment: &Segment<'_>, spec: &Spec) -> f64 {
    let begun = now();
    let decoding = Decoding::of_segment(segment, spec).expect("the decoder begins");
    let summary = decoding.run(&mut |found| {
        black_box(found);
        ControlFlow::Continue(())
    });
    black_box(summary.expect("the capture is sound"));
    now() - begun
}

#[expect(clippy::cast_precision_loss, reason = "a bench does not run for years")]
fn now() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}
