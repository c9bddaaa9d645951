//! Captures of eight channels at 1 MHz, stored or not, and all that a decoder finds in them.

use decode::segment::{Encoder, EncoderSpec};
use decode::{Annotation, Decoding, Plan, RawDecoder, Spec};
use std::ops::ControlFlow;

const RATE_HZ: f64 = 1e6;

pub(crate) fn store(samples: &[u8]) -> Vec<u8> {
    let spec = EncoderSpec {
        channels: 8,
        sample_rate_hz: RATE_HZ,
    };
    let mut encoder = Encoder::new(spec).expect("the spec is valid");
    encoder.push_raw(samples, 1);
    encoder.finish()
}

pub(crate) fn all_of(decoding: Decoding<'_>) -> Vec<Annotation> {
    let mut all = Vec::new();
    let run = decoding.run(&mut |part| {
        all.extend_from_slice(part);
        ControlFlow::Continue(())
    });
    run.expect("the capture is sound");
    all
}

/// As samples arrive, before they are stored.
pub(crate) fn found_raw(spec: &Spec, samples: &[u8], plan: Plan) -> Vec<Annotation> {
    let mut all = Vec::new();
    let decoder = RawDecoder::new(spec, Some(RATE_HZ), 1, plan);
    let mut decoder = decoder.expect("the rate is enough");
    let mut sink = |part: &[Annotation]| {
        all.extend_from_slice(part);
        ControlFlow::Continue(())
    };
    assert!(decoder.feed(samples, &mut sink).is_continue());
    assert!(decoder.finish(&mut sink).1.is_continue());
    all
}
