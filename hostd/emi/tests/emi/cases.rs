//! Each rule has a board on which it finds something and one, as like to it as possible, on which it does not.

use emi::RULES;

use crate::sheet::{Sheet, four_layers, pad, plate};
use crate::{copper, emission, impedance, lines, parts, resonances};

/// A board and lines of its rules file.
type Case = (Sheet, String);

/// A rule's two boards.
struct Cases {
    rule: &'static str,
    fires: Case,
    is_silent: Case,
}

fn cases() -> Vec<Cases> {
    let all = [tracks(), copper_and_planes(), placement(), emissions()];
    all.into_iter().flatten().collect()
}

fn of(rule: &'static str, fires: (Sheet, &str), is_silent: (Sheet, &str)) -> Cases {
    let owned = |(sheet, rules): (Sheet, &str)| (sheet, rules.to_owned());
    Cases {
        rule,
        fires: owned(fires),
        is_silent: owned(is_silent),
    }
}

/// The same rules file for both.
fn both(rule: &'static str, rules: &str, fires: Sheet, is_silent: Sheet) -> Cases {
    of(rule, (fires, rules), (is_silent, rules))
}

fn tracks() -> Vec<Cases> {
    let via = |layer| {
        let sheet = four_layers().track("SCK", "F.Cu", &[(10.0, 20.0), (30.0, 20.0)]);
        let sheet = sheet.via("SCK", (30.0, 20.0));
        sheet.track("SCK", layer, &[(30.0, 20.0), (50.0, 20.0)])
    };
    let along = |y: f64| {
        let sheet = four_layers().plane("GND", "In1.Cu");
        sheet.track("SCK", "F.Cu", &[(10.0, y), (50.0, y)])
    };
    let two = |distance: f64| {
        let y = 20.0 + distance;
        along(20.0).track("B", "F.Cu", &[(10.0, y), (50.0, y)])
    };
    let parted = |away: f64| {
        let sheet = four_layers().track("A_P", "F.Cu", &[(10.0, 20.0), (50.0, 20.0)]);
        let (near, far) = (20.4, 20.4 + away);
        let around = [
            (10.0, near),
            (20.0, near),
            (20.0, far),
            (32.0, far),
            (32.0, near),
        ];
        sheet
            .track("A_N", "F.Cu", &around)
            .track("A_N", "F.Cu", &[(32.0, near), (50.0, near)])
    };
    let fast = "board: {max_frequency_hz: 10e9}";
    vec![
        both(
            "plane-gap",
            "",
            lines::over_slot(6.0),
            lines::over_hole(0.9, 0.45),
        ),
        both(
            "plane-split",
            "",
            lines::over_split("GND", "+3V3", 0.4),
            lines::over_split("GND", "GND", 0.4),
        ),
        both(
            "return-via",
            "",
            lines::through("GND", 7.6),
            lines::through("GND", 1.9),
        ),
        both("edge-proximity", "", along(1.0), along(1.2)),
        of(
            "radiator",
            (along(20.0), ""),
            (along(20.0), "board: {max_frequency_hz: 100e6}"),
        ),
        both("via-stub", fast, via("In1.Cu"), via("B.Cu")),
        both("trace-stub", "", lines::branch(18.0), lines::branch(8.0)),
        both(
            "impedance",
            "",
            impedance::widened(0.9, 15.0),
            impedance::widened(0.22, 15.0),
        ),
        both("ddr-skew", "", lines::pair(1.0), lines::pair(0.1)),
        both("pair", "", parted(2.6), parted(0.1)),
        both("crosstalk", "", two(0.4), two(0.9)),
    ]
}

fn copper_and_planes() -> Vec<Cases> {
    let signal = || four_layers().track("SCK", "F.Cu", &[(5.0, 20.0), (55.0, 20.0)]);
    let pour = || four_layers().fill("GND", "F.Cu", plate((10.0, 10.0), (12.0, 12.0)));
    let five = copper::FIVE;
    let planes = |lower| resonances::planes("GND", lower);
    vec![
        both("stackup", "", signal(), signal().plane("GND", "In1.Cu")),
        both("stitching", five, copper::grid(8.9), copper::grid(6.5)),
        both("edge-stitching", five, copper::grid(8.9), copper::grid(4.5)),
        both("copper-island", "", pour(), pour().via("GND", (11.0, 11.0))),
        both(
            "plane-cavity",
            &resonances::rules(100.0),
            planes("+3V3"),
            planes("GND"),
        ),
    ]
}

fn placement() -> Vec<Cases> {
    let crystal = |y| four_layers().part("Y1", "8MHz", (30.0, y), parts::two("XIN", "XOUT"));
    let node = |side: f64| {
        let sheet = four_layers().part("U1", "", (20.0, 20.0), parts::two("SW", "VIN"));
        let sheet = sheet.part("L1", "10u", (25.0, 20.0), parts::two("SW", "+5V"));
        let corner = (19.0 + side, 19.0 + side);
        sheet.fill("SW", "F.Cu", plate((19.0, 19.0), corner))
    };
    let filtered = parts::jack(3.0).part("C1", "10u", (10.0, 15.0), parts::two("VBUS", "GND"));
    let clamped = parts::jack(3.0).part("D1", "", (8.0, 21.0), parts::two("SDA", "GND"));
    let clamped = clamped.plane("GND", "In1.Cu").via("GND", (9.0, 21.0));
    let shell = |net| {
        let pins = vec![pad("1", (0.0, 0.0), "VBUS"), pad("SH", (0.0, 3.0), net)];
        four_layers().part("J1", "", (3.0, 15.0), pins)
    };
    let reset = || {
        let sheet = four_layers().part("U1", "", (20.0, 20.0), parts::two("NRST", "GND"));
        sheet.part("R1", "10k", (25.0, 20.0), parts::two("NRST", "+3V3"))
    };
    let held = reset().part("C1", "100n", (27.0, 20.0), parts::two("NRST", "GND"));
    vec![
        both(
            "decoupling",
            "",
            parts::decoupled(5.0),
            parts::decoupled(2.5),
        ),
        both("crystal", "", crystal(3.0), crystal(20.0)),
        both("switch-node", "", node(7.0), node(4.0)),
        both("input-filter", "", parts::jack(3.0), filtered),
        both("esd-protection", "", parts::jack(3.0), clamped),
        both("connector-shield", "", shell(""), shell("GND")),
        both("reset-filter", "", reset(), held),
    ]
}

fn emissions() -> Vec<Cases> {
    let clock = |mhz: f64| {
        format!(
            "clocks: [{{net: SCK, hz: {mhz}e6, rise_s: 1e-9}}]\ncables: [{{connector: J1, length_m: 1}}]"
        )
    };
    let jack = resonances::with_jack;
    let strong = "clocks: [{net: SCK, hz: 100e6, rise_s: 0.5e-9, volts: 5, load_ohm: 10}]";
    vec![
        of(
            "cable-resonance",
            (jack(), &clock(25.0)),
            (jack(), &clock(60.0)),
        ),
        of(
            "emission-dm",
            (emission::over_slot(6.0), strong),
            (emission::over_slot(0.0), emission::CLOCK),
        ),
        of("emission-cm", (jack(), &clock(25.0)), (jack(), "")),
    ]
}

#[test]
fn every_rule_has_a_board_where_it_fires_and_one_where_it_does_not() {
    let cases = cases();
    let mut known: Vec<&str> = cases.iter().map(|case| case.rule).collect();
    let mut rules: Vec<&str> = RULES.iter().map(|rule| rule.id).collect();
    known.sort_unstable();
    rules.sort_unstable();
    assert_eq!(known, rules, "each rule needs exactly one pair of boards");
    for case in cases {
        let (sheet, rules) = &case.fires;
        let report = sheet.report(rules);
        let found = report.findings.iter().filter(|f| f.rule == case.rule);
        assert!(found.count() > 0, "{} finds nothing", case.rule);
        let (sheet, rules) = &case.is_silent;
        assert_eq!(
            sheet.finds_with(case.rule, rules),
            [],
            "{} is not silent",
            case.rule
        );
        // Off is off.
        let (sheet, rules) = case.fires;
        let off = format!("{rules}\nrules: {{{}: false}}", case.rule);
        if !rules.contains("rules:") {
            assert_eq!(
                sheet.finds_with(case.rule, &off),
                [],
                "{} is off",
                case.rule
            );
        }
    }
}
