//! Any samples through every decoder: sequential and chunked agree, and nothing panics.
#![no_main]

use decode::{Annotation, CodePath, DECODERS, Plan, RawDecoder, Spec, VIEWS};
use libfuzzer_sys::fuzz_target;
use std::ops::ControlFlow;

fn run(spec: &Spec, plan: Plan, raw: &[u8]) -> Vec<Annotation> {
    let mut all = Vec::new();
    let mut sink = |part: &[Annotation]| {
        all.extend_from_slice(part);
        ControlFlow::Continue(())
    };
    let mut decoder = RawDecoder::new(spec, Some(1e6), 1, plan).expect("the rate is enough");
    let _ = decoder.feed(raw, &mut sink);
    let _ = decoder.finish(&mut sink);
    all
}

fuzz_target!(|raw: &[u8]| {
    let names: Vec<String> = (0..8).map(|index| index.to_string()).collect();
    for decoder in DECODERS.iter().chain(VIEWS.iter()) {
        let map: Vec<(&str, &str)> = decoder
            .channels
            .iter()
            .zip(&names)
            .map(|(role, name)| (role.id.as_str(), name.as_str()))
            .collect();
        let spec =
            Spec::parse(&decoder.id, &map, &[], None, &names).expect("the defaults are valid");
        let sequential = run(&spec, Plan::Sequential(CodePath::best()), raw);
        assert!(run(&spec, Plan::Sequential(CodePath::Portable), raw) == sequential);
        assert!(run(&spec, Plan::Parallel(64), raw) == sequential);
    }
});
