//! The same I²C traffic decoded here, by the crate uiharu, and by sigrok-cli where that is installed. Processor time.

use crate::clock::{process_seconds, user_seconds};
use crate::traffic::{self, Load};
use decode::segment::{Encoder, EncoderSpec, Segment};
use decode::{Annotation, CodePath, Plan, RawDecoder, Spec, Value, sr};
use std::ops::ControlFlow;
use std::process::{Command, Stdio};

#[cfg(feature = "rivals")]
#[path = "uiharu.rs"]
mod uiharu;

const RATE_HZ: u64 = 24_000_000;

fn best(rounds: u32, mut run: impl FnMut() -> usize) -> (f64, usize) {
    let mut found = (f64::MAX, 0);
    for _ in 0..rounds {
        let before = process_seconds();
        let bytes = run();
        found = (found.0.min(process_seconds() - before), bytes);
    }
    found
}

fn spec() -> Spec {
    let names = ["scl".to_owned(), "sda".to_owned()];
    let map = [("scl", "scl"), ("sda", "sda")];
    Spec::parse("i2c", &map, &[], Some("addr-data"), &names).expect("it is valid")
}

/// Addresses and data bytes: what all contestants find. An address comes in two annotations.
fn count(bytes: &mut usize, part: &[Annotation]) -> ControlFlow<()> {
    let is_byte = |note: &&Annotation| matches!(note.value, Value::Number(_));
    *bytes += part.iter().filter(is_byte).count();
    ControlFlow::Continue(())
}

fn raw(samples: &[u8], spec: &Spec) -> usize {
    let plan = Plan::Sequential(CodePath::best());
    let decoder = RawDecoder::new(spec, Some(RATE_HZ as f64), 1, plan);
    let mut decoder = decoder.expect("the rate is enough");
    let mut bytes = 0;
    let mut sink = |part: &[Annotation]| count(&mut bytes, part);
    let flow = decoder.feed(samples, &mut sink);
    assert!(flow.is_continue() && decoder.finish(&mut sink).1.is_continue());
    bytes
}

fn stored(segment: &Segment<'_>, spec: &Spec) -> usize {
    let mut bytes = 0;
    let decoded = decode::decode_segment(segment, spec, &mut |part| count(&mut bytes, part));
    decoded.expect("sound");
    bytes
}

/// User seconds of sigrok-cli on a file of the samples; none if it is not installed.
fn sigrok(samples: &[u8]) -> Option<f64> {
    let mut writer = sr::Writer::new(RATE_HZ, &["scl", "sda"]);
    for part in samples.chunks(1 << 22) {
        writer.add(part);
    }
    let path = std::env::temp_dir().join(format!("hostd-rivals-{}.sr", std::process::id()));
    std::fs::write(&path, writer.finish()).expect("there is room");
    let mut command = Command::new("sigrok-cli");
    command.arg("-i").arg(&path);
    command.args(["-P", "i2c:scl=scl:sda=sda", "-A", "i2c=addr-data"]);
    command.stdout(Stdio::null());
    let seconds = user_seconds(&mut command);
    std::fs::remove_file(&path).expect("it was written");
    seconds
}

pub(crate) fn run(samples: usize, rounds: u32) {
    println!("\nI2C, {samples} samples, processor time of all threads, best of {rounds}");
    let spec = spec();
    for load in [Load::Dense, Load::Mixed, Load::Sparse] {
        let drawn = traffic::i2c(samples, load, 1);
        let shape = EncoderSpec {
            channels: 2,
            sample_rate_hz: RATE_HZ as f64,
        };
        let mut encoder = Encoder::new(shape).expect("it is valid");
        encoder.push_raw(&drawn, 1);
        let file = encoder.finish();
        let segment = Segment::open(&file).expect("sound");
        #[cfg(feature = "rivals")]
        let uiharu = Some(best(rounds, || uiharu::decode(&drawn, RATE_HZ)));
        #[cfg(not(feature = "rivals"))]
        let uiharu = None;
        let sigrok = sigrok(&drawn);
        let contestants = [
            ("raw samples", best(rounds, || raw(&drawn, &spec))),
            ("as stored", best(rounds, || stored(&segment, &spec))),
        ];
        for (name, (seconds, bytes)) in contestants {
            let times = |other: &str, theirs: Option<f64>| match theirs {
                Some(theirs) => format!("{other} {theirs:.2} s = {:.0} x", theirs / seconds),
                None => format!("{other} is not here"),
            };
            if let Some((_, found)) = uiharu {
                assert_eq!(bytes, found, "uiharu finds as many bytes");
            }
            println!(
                "  {load:?} {name:12} {:8.2} Gsamples/s  {bytes} bytes; {}; {}",
                samples as f64 / seconds * 1e-9,
                times("uiharu", uiharu.map(|(seconds, _)| seconds)),
                times("sigrok-cli", sigrok)
            );
        }
    }
}
