//! Drawn waveforms and their expected annotations. Each file in `testdata/drawings` is one test:
//!
//! ```text
//! # Why this case matters.
//! decode i2c address_format=unshifted        protocol and options
//! rate 500000                                samples per second, if not 1000000
//! show addr-data                             annotation classes, if not all
//! scl ---\_/\_/---                           a line each: - and / are high, _ and \ are low
//! sda --\_____/---
//! gives
//! 2-2 i2c-1: Start                           what sigrok-cli would print
//! ```

use decode::segment::{Encoder, EncoderSpec, Segment};
use decode::{Annotation, CodePath, Format, Plan, RawDecoder, Spec};
use std::ops::ControlFlow;

struct Drawing {
    protocol: String,
    options: Vec<(String, String)>,
    rate_hz: f64,
    show: Option<String>,
    lines: Vec<(String, Vec<bool>)>,
    expected: String,
}

impl Drawing {
    fn parse(text: &str) -> Self {
        let (head, expected) = text
            .split_once("gives\n")
            .expect("a drawing gives something");
        let mut drawing = Self {
            protocol: String::new(),
            options: Vec::new(),
            rate_hz: 1e6,
            show: None,
            lines: Vec::new(),
            expected: expected.to_owned(),
        };
        for line in head.lines().filter(|line| !line.starts_with('#')) {
            let (word, rest) = line
                .split_once(' ')
                .expect("a line is a word and its value");
            let rest = rest.trim();
            match word {
                "decode" => {
                    let mut words = rest.split(' ');
                    drawing.protocol = words.next().unwrap_or_default().to_owned();
                    let options = words.filter_map(|option| option.split_once('='));
                    let own = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
                    drawing.options = options.map(own).collect();
                }
                "rate" => drawing.rate_hz = rest.parse().expect("a rate is a number"),
                "show" => drawing.show = Some(rest.to_owned()),
                role => drawing.lines.push((role.to_owned(), levels(rest))),
            }
        }
        drawing
    }

    fn samples(&self) -> Vec<u8> {
        let length = self
            .lines
            .iter()
            .map(|(_, levels)| levels.len())
            .max()
            .unwrap_or(0);
        let sample = |at: usize| {
            let lines = self.lines.iter().enumerate();
            lines.fold(0, |sample, (line, (_, levels))| {
                sample | u8::from(levels[at]) << line
            })
        };
        (0..length).map(sample).collect()
    }

    fn spec(&self) -> Spec {
        let names: Vec<String> = self
            .lines
            .iter()
            .map(|(role, _)| role.to_uppercase())
            .collect();
        let map: Vec<(&str, &str)> = self
            .lines
            .iter()
            .zip(&names)
            .map(|((role, _), name)| (&**role, &**name))
            .collect();
        let options: Vec<(&str, &str)> = self
            .options
            .iter()
            .map(|(name, value)| (&**name, &**value))
            .collect();
        Spec::parse(&self.protocol, &map, &options, self.show.as_deref(), &names)
            .unwrap_or_else(|error| panic!("failed to {error}"))
    }

    /// The text of all annotations, decoded from raw samples.
    fn decode(&self, plan: Plan, piece: usize) -> String {
        let spec = self.spec();
        let decoder = RawDecoder::new(&spec, Some(self.rate_hz), 1, plan);
        let mut decoder = decoder.expect("the rate is enough");
        let mut text = Vec::new();
        let mut sink = |annotations: &[Annotation]| {
            Format::Sigrok
                .write(&spec, annotations, &mut text)
                .expect("memory takes everything");
            ControlFlow::Continue(())
        };
        for piece in self.samples().chunks(piece) {
            assert!(decoder.feed(piece, &mut sink).is_continue());
        }
        assert!(decoder.finish(&mut sink).1.is_continue());
        String::from_utf8(text).expect("annotations are text")
    }

    /// The same, decoded from a stored segment.
    fn decode_stored(&self) -> String {
        let spec = self.spec();
        let encoder = EncoderSpec {
            channels: self.lines.len(),
            sample_rate_hz: self.rate_hz,
        };
        let mut encoder = Encoder::new(encoder).expect("the spec is valid");
        encoder.push_raw(&self.samples(), 1);
        let stored = encoder.finish();
        let segment = Segment::open(&stored).expect("what was just written is sound");
        let mut text = Vec::new();
        let decoded = decode::decode_segment(&segment, &spec, &mut |annotations| {
            Format::Sigrok
                .write(&spec, annotations, &mut text)
                .expect("memory takes everything");
            ControlFlow::Continue(())
        });
        decoded.expect("the segment is sound");
        String::from_utf8(text).expect("annotations are text")
    }
}

fn levels(drawn: &str) -> Vec<bool> {
    drawn
        .chars()
        .map(|level| level == '-' || level == '/')
        .collect()
}

#[test]
fn drawings_mean_what_they_say() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/drawings");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the drawings are in the tree") {
        let path = entry.expect("the folder can be read").path();
        let name = path.display();
        let text = std::fs::read_to_string(&path).expect("a drawing is text");
        let drawing = Drawing::parse(&text);
        for path in [CodePath::Avx2, CodePath::Portable] {
            let plan = Plan::Sequential(path);
            assert_eq!(drawing.decode(plan, usize::MAX), drawing.expected, "{name}");
            assert_eq!(
                drawing.decode(plan, 1),
                drawing.expected,
                "{name}, one by one"
            );
        }
        let chunked = drawing.decode(Plan::Parallel(64), usize::MAX);
        assert_eq!(chunked, drawing.expected, "{name}, in chunks");
        assert_eq!(drawing.decode_stored(), drawing.expected, "{name}, stored");
        count += 1;
    }
    assert!(count >= 30, "only {count} drawings were found");
}
