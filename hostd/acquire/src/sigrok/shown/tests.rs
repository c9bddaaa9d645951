//! Texts as `sigrok-cli` 0.7.2 writes them.

use super::*;

/// Of the driver `demo`.
pub(crate) const DEMO: &str = "\
Driver functions:
    Demo device
    Logic analyzer
    Oscilloscope
Scan options:
    logic_channels
    analog_channels
    limit_frames
demo - Demo device with 4 channels: D0 D1 A0 A1
Channel groups:
    Logic: channels D0 D1
    A0: channel A0
    A1: channel A1
Supported configuration options across all channel groups:
    continuous: on, off
    limit_samples: 0 (current)
    limit_time: 0 (current)
    limit_frames: 0 (current)
    samplerate (1 Hz - 1 GHz in steps of 1 Hz)
    averaging: on, off (current)
    Supported triggers: 0 1 r f e 
    captureratio: 20 (current)
";

/// As of an analyzer without continuous capture.
const LISTED: &str = "\
Driver functions:
    Logic analyzer
Scan options:
    conn
ols - Sump Logic Analyzer v1.0 with 3 channels: 0 1 2
Supported configuration options:
    limit_samples: 0 (current)
    Supported triggers: 0 1
    samplerate - supported samplerates:
      20 kHz
      12.5 MHz
      1 GHz
    captureratio: 0 (current)
";

/// As of a scope that decides by itself.
const SCOPE: &str = "\
Driver functions:
    Oscilloscope
rigol-ds - Rigol Technologies DS1102E 00.04 [S/N: DS1ET: 1] with 2 channels: CH1 CH2
Supported configuration options:
    limit_frames: 0 (current)
    samplerate: 1 MHz (current)
";

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

#[test]
fn an_instrument_with_both_kinds_of_channels() {
    let shown = Shown::parse(DEMO).unwrap();
    assert_eq!(shown.model, "Demo device");
    assert_eq!(shown.logic, names(&["D0", "D1"]));
    assert_eq!(shown.analog, names(&["A0", "A1"]));
    let rates = Rates::Stepped {
        min: 1,
        max: 1_000_000_000,
        step: 1,
    };
    assert_eq!(shown.rates, rates);
    assert!(shown.is_continuous && shown.has_samples && shown.has_frames && shown.has_ratio);
    assert_eq!(shown.triggers, "01rfe");
}

#[test]
fn an_analyzer_that_lists_its_rates() {
    let shown = Shown::parse(LISTED).unwrap();
    assert_eq!(shown.logic, names(&["0", "1", "2"]));
    assert!(shown.analog.is_empty());
    let rates = vec![20_000, 12_500_000, 1_000_000_000];
    assert_eq!(shown.rates, Rates::Listed(rates));
    assert!(!shown.is_continuous && shown.has_samples && !shown.has_frames);
    assert_eq!(shown.triggers, "01");
}

#[test]
fn a_scope_that_decides_by_itself() {
    let shown = Shown::parse(SCOPE).unwrap();
    assert_eq!(
        shown.model,
        "Rigol Technologies DS1102E 00.04 [S/N: DS1ET: 1]"
    );
    assert!(shown.logic.is_empty());
    assert_eq!(shown.analog, names(&["CH1", "CH2"]));
    assert_eq!(shown.rates, Rates::Own);
    assert!(!shown.has_samples && shown.has_frames);
    assert_eq!(shown.triggers, "");
}

#[test]
fn what_is_not_understood_is_said() {
    for text in [
        String::new(),
        LISTED.replace("3 channels", "4 channels"),
        LISTED.replace("3 channels: 0 1 2", "0 channels: "),
        LISTED.replace("0 1 2", "0 1 -x"),
        LISTED.replace("0 1 2", "0 1,x 2"),
        LISTED.replace("      20 kHz\n", "      twenty\n"),
        DEMO.replace("1 Hz - 1 GHz", "1 Hz"),
        DEMO.replace("in steps of 1 Hz", "in steps of 0 Hz"),
        DEMO.replace("1 GHz", "99999999999999999999 GHz"),
    ] {
        let error = Shown::parse(&text).unwrap_err();
        assert!(matches!(error, AcquireError::Malformed { .. }), "{text}");
    }
}

#[test]
fn rates_have_units_and_fractions() {
    for (text, expected) in [
        ("1 Hz", Some(1)),
        ("12.5 MHz", Some(12_500_000)),
        ("1.234567891 GHz", Some(1_234_567_891)),
        ("0.5 Hz", Some(0)),
        ("18446744073709551615 Hz", Some(u64::MAX)),
        ("18446744073709551616 Hz", None),
        ("18446744073709551615 kHz", None),
        ("1", None),
        ("-1 Hz", None),
        ("1.0000000000 Hz", None),
        (" MHz", None),
    ] {
        assert_eq!(hertz(text), expected, "{text}");
    }
}
