//! Pictures of places.

use rules::{Goldens, Judged};

use crate::support::Samples;

fn picture(samples: &Samples, judged: &Judged) -> String {
    let stored = samples.stored();
    rules::picture(&stored.capture(), judged, &|| false)
        .unwrap()
        .unwrap()
}

fn of(samples: &Samples, rule: &str) -> String {
    let svg = picture(samples, &samples.judged(rule));
    // To look at them.
    if let Some(folder) = std::env::var_os("PICTURES") {
        let name: String = rule
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .take(30)
            .collect();
        std::fs::write(std::path::Path::new(&folder).join(name + ".svg"), &svg).unwrap();
    }
    svg
}

#[test]
fn a_place_is_drawn() {
    let samples = Samples::of(&["0001110001111000", "0000110000000110"]);
    insta::assert_snapshot!(of(
        &samples,
        "within: { edge: b rising, after: a rising, time: 2us }"
    ));
}

#[test]
fn an_analog_place_has_lines_at_its_bounds() {
    let mut samples = Samples::analog(&[3000, 3100, 3350, 3100, 3000, 2990, 3010]);
    samples.words = vec![0, 1, 1, 0, 0, 1, 1];
    samples.names = vec!["en"];
    let svg = of(&samples, "analog: { channel: ADC, min: 2.9V, max: 3.2V }");
    assert_eq!(svg.matches("class=\"guide\"").count(), 2);
    assert!(svg.contains("class=\"place\"") && svg.contains("3.2 V"));
    let svg = of(
        &samples,
        "settles: { channel: ADC, to: 3V, tolerance: 20mV, within: 10us, after: en rising }",
    );
    assert!(svg.contains("class=\"near\"") && svg.contains(">en<"));
}

#[test]
fn names_are_text_and_nothing_else() {
    let mut samples = Samples::of(&["0011001100"]);
    samples.names = vec!["<script>\"&"];
    let svg = of(&samples, "'count': { edge: '<script>\"& rising', min: 9 }");
    assert!(svg.contains("&lt;script&gt;&quot;&amp;<"), "{svg}");
    assert!(!svg.contains("<script"));
}

#[test]
fn a_picture_has_the_size_of_one_however_much_happens() {
    let mut samples = Samples::of(&["", "", ""]);
    samples.words = (0..3_000_000_u32)
        .map(|at| u16::try_from(at * 7 % 8).unwrap())
        .collect();
    samples.counts = (0..3_000_000_u32)
        .map(|at| u16::try_from(at % 60_000).unwrap())
        .collect();
    let stored = samples.stored();
    for rule in [
        "count: { edge: a rising, max: 1 }",
        "count: { edge: a rising, min: 100000000 }",
        "analog: { channel: ADC, max: 1mV }",
    ] {
        let judged = stored.judged(rule, &Goldens::default());
        let svg = rules::picture(&stored.capture(), &judged, &|| false)
            .unwrap()
            .unwrap();
        assert!(svg.len() < 100_000, "{rule}: {}", svg.len());
    }
}
