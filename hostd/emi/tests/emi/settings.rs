//! Rules files: precedence, what is refused and where, decisions with reasons.

use emi::{RulesFile, Settings, Severity};

use crate::sheet::{Sheet, four_layers, plate_with_hole, rules_of};

fn slotted() -> Sheet {
    let ring = plate_with_hole((0.5, 0.5), (59.5, 39.5), ((27.0, 10.0), (33.0, 30.0)));
    let sheet = four_layers().fill("GND", "In1.Cu", ring).track(
        "SCK",
        "F.Cu",
        &[(10.0, 20.0), (50.0, 20.0)],
    );
    sheet.track("SDA", "F.Cu", &[(10.0, 25.0), (50.0, 25.0)])
}

fn refused(text: &str) -> String {
    RulesFile::read(text.as_bytes()).unwrap_err().to_string()
}

#[test]
fn rules_can_be_off_or_of_another_severity() {
    assert_eq!(slotted().finds("plane-gap").len(), 2);
    assert_eq!(
        slotted().finds_with("plane-gap", "rules: {plane-gap: false}"),
        []
    );
    let info = slotted().finds_with("plane-gap", "rules: {plane-gap: {severity: info}}");
    assert!(info.len() == 2 && info.iter().all(|f| f.severity == Severity::Info));
}

#[test]
fn the_most_specific_value_wins() {
    let of_rule = "rules: {plane-gap: {params: {min_crossing_mm: 7}}}";
    assert_eq!(slotted().finds_with("plane-gap", of_rule), []);
    let of_group =
        format!("{of_rule}\ngroups: [{{match: \"S?K\", params: {{min_crossing_mm: 1}}}}]");
    let found = slotted().finds_with("plane-gap", &of_group);
    assert_eq!((found.len(), found[0].net.as_str()), (1, "SCK"));
    let file = RulesFile::read(format!("version: 1\n{of_rule}").as_bytes()).unwrap();
    let run =
        RulesFile::read(b"version: 1\nrules: {plane-gap: {params: {min_crossing_mm: 2}}}").unwrap();
    let settings = Settings::default().with(file).with(run);
    let report = emi::check(slotted().board(), &settings, &()).unwrap();
    assert_eq!(report.rules["plane-gap"].found, 2);
}

#[test]
fn decisions_need_a_reason_and_are_counted() {
    let decided = "suppress: [{rule: plane-gap, net: SDA, reason: \"slow, measured\"}]";
    let report = slotted().report(decided);
    let counts = report.rules["plane-gap"];
    assert_eq!((counts.found, counts.shown, counts.suppressed), (1, 1, 1));
    let without = "version: 1\nsuppress: [{rule: plane-gap, reason: \" \"}]";
    assert_eq!(
        refused(without),
        "`suppress` of plane-gap needs a reason that says why"
    );
    assert!(refused("version: 1\nsuppress: [{rule: plane-gap}]").contains("reason"));
}

#[test]
fn what_cannot_be_is_refused() {
    assert!(refused("version: 2").contains("version 2"));
    assert!(refused("version: 1\nfoo: 1").starts_with("line 2, column 1: "));
    assert!(
        refused("version: 1\nrules:\n  plane-gap: 3").starts_with("line 3, column 3: invalid type")
    );
    assert!(refused("version: 1\nboard: {max_frequency_hz: .nan}").contains("max_frequency_hz"));
    assert!(refused("version: 1\nboard: {epsilon_r: 0.5}").contains("epsilon_r"));
    assert!(
        refused("version: 1\nrules: {plane-gap: {params: {min_crossing_mm: -1}}}")
            .contains("min_crossing_mm")
    );
    assert!(refused("version: 1\ngroups: [{params: {}}]").contains("either `match` or `netclass`"));
    assert!(refused("version: 1\nclocks: [{net: A, hz: 0, rise_s: 1e-9}]").contains("hz"));
    assert!(refused("a: &a [*a, *a]").starts_with("line 1, "));
    assert!(refused(&format!("version: 1\nrules: {}", "[".repeat(40))).starts_with("line 2, "));
    assert!(RulesFile::read(&[0xff]).is_err());
    let many = format!(
        "version: 1\nsuppress: [{}]",
        "{rule: a, reason: b},".repeat(1001)
    );
    assert!(refused(&many).contains("more than 1000 entries"));
}

#[test]
fn clocks_and_cables_that_cannot_be_are_refused_where_they_stand() {
    let clock = |values: &str| refused(&format!("version: 1\nclocks:\n  - {{net: A, {values}}}"));
    for (values, name) in [
        ("hz: 0, rise_s: 1e-9", "hz"),
        ("hz: .nan, rise_s: 1e-9", "hz"),
        ("hz: .inf, rise_s: 1e-9", "hz"),
        ("hz: 1e99, rise_s: 1e-9", "hz"),
        ("hz: 1e6, rise_s: 0", "rise_s"),
        // An edge that is longer than the period.
        ("hz: 1e6, rise_s: 0.9e-6", "rise_s"),
        ("hz: 1e6, rise_s: 1e-9, volts: -1", "volts"),
        ("hz: 1e6, rise_s: 1e-9, load_ohm: 0", "load_ohm"),
        ("hz: 1e6, rise_s: 1e-9, spread: 0.5", "spread"),
    ] {
        let refusal = clock(values);
        assert!(refusal.starts_with("line 3, "), "{values}: {refusal}");
        assert!(refusal.contains(name), "{values}: {refusal}");
    }
    assert!(clock("hz: 1e6, rise_s: 1e-9, duty: 0.4").contains("duty"));
    let cable = |values: &str| refused(&format!("version: 1\ncables:\n  - {{{values}}}"));
    for values in ["length_m: 0", "length_m: .nan", "length_m: 1e9"] {
        let refusal = cable(&format!("connector: J1, {values}"));
        assert!(refusal.starts_with("line 3, "), "{refusal}");
        assert!(refusal.contains("length_m of a cable"), "{refusal}");
    }
    assert!(cable("length_m: 1").contains("connector"));
    for text in [
        "standard: mil",
        "class: c",
        "distance_m: 0",
        "distance_m: .nan",
    ] {
        let refusal = refused(&format!("version: 1\n{text}"));
        assert!(refusal.starts_with("line 2, "), "{refusal}");
    }
    let twice = "{net: A, hz: 1e6, rise_s: 1e-9},".repeat(2);
    assert!(refused(&format!("version: 1\nclocks: [{twice}]")).contains("clock `A` twice"));
    let many: String = (0..51)
        .map(|i| format!("{{connector: J{i}, length_m: 1}},"))
        .collect();
    assert!(refused(&format!("version: 1\ncables: [{many}]")).contains("more than 50 cables"));
}

#[test]
fn a_clock_that_is_declared_again_replaces_the_first() {
    let file = |rise: &str| {
        let text = format!("version: 1\nclocks: [{{net: SCK, hz: 1e6, rise_s: {rise}}}]");
        RulesFile::read(text.as_bytes()).unwrap()
    };
    let settings = Settings::default().with(file("1e-9")).with(file("10e-9"));
    let report = emi::check(slotted().board(), &settings, &()).unwrap();
    let knee = 1.0 / (std::f64::consts::PI * 10e-9);
    assert!((report.summary.assumed_max_frequency_hz / knee - 1.0).abs() < 1e-12);
}

#[test]
fn what_is_unknown_is_noted() {
    let file =
        RulesFile::read(b"version: 1\nrules: {no-such: false, plane-gap: {params: {wrong_mm: 1}}}")
            .unwrap();
    assert_eq!(
        file.notes,
        [
            "the rules file names a rule `no-such`, which there is not",
            "the rules file sets `wrong_mm`, which no rule there uses"
        ]
    );
    let report = emi::check(
        slotted().board(),
        &rules_of("clocks: [{net: CLK, hz: 1e6, rise_s: 1e-9}]"),
        &(),
    )
    .unwrap();
    assert!(
        report
            .notes
            .contains(&"the clock `CLK` is no net of this board".to_owned())
    );
}

#[test]
fn kinds_of_nets_can_be_declared() {
    let ring = crate::sheet::plate((0.5, 0.5), (14.0, 39.5));
    let sheet = four_layers().fill("SUPPLY5", "In1.Cu", ring).track(
        "A",
        "F.Cu",
        &[(2.0, 20.0), (12.0, 20.0)],
    );
    let near_edge = |rules| sheet.finds_with("radiator", rules).len();
    assert_eq!(near_edge(""), 1);
    assert_eq!(near_edge("groups: [{match: A, kind: ground}]"), 0);
}
