//! What must not matter does not: where a board lies, how it is turned, in which order and syntax it was saved, how many
//! threads there are.

use emi::{Finding, Report};

use crate::sheet::{
    Sheet, Style, Xy, four_layers, pad, plate, plate_with_hole, plated, two_layers_with_slots,
};

/// A board on which many rules find something.
fn busy() -> Sheet {
    let slot = ((28.0, 10.0), (33.0, 30.0));
    let two = |a, b| vec![pad("1", (-0.5, 0.0), a), pad("2", (0.5, 0.0), b)];
    let jack = vec![
        plated("1", (0.0, 0.0), "VBUS"),
        plated("2", (0.0, 3.0), "GND"),
        plated("SH", (0.0, 6.0), ""),
    ];
    four_layers()
        .fill(
            "GND",
            "In1.Cu",
            plate_with_hole((0.5, 0.5), (59.5, 39.5), slot),
        )
        .fill("GND", "In2.Cu", plate((0.5, 0.5), (29.9, 39.5)))
        .fill("+3V3", "In2.Cu", plate((30.3, 0.5), (59.5, 39.5)))
        .fill("GND", "F.Cu", plate((50.0, 30.0), (55.0, 35.0)))
        .track("SCK", "F.Cu", &[(10.0, 20.0), (45.0, 20.0), (47.0, 22.0)])
        .via("SCK", (47.0, 22.0))
        .track("SCK", "B.Cu", &[(47.0, 22.0), (12.0, 22.0)])
        .track("SDA", "F.Cu", &[(10.0, 20.4), (44.0, 20.4)])
        .track("EDGE", "F.Cu", &[(10.0, 0.9), (40.0, 0.9)])
        .track("D+", "F.Cu", &[(10.0, 35.0), (40.0, 35.0)])
        .track("D-", "F.Cu", &[(10.0, 35.4), (36.0, 35.4)])
        .part("U1", "", (20.0, 25.0), two("+3V3", "GND"))
        .part("Y1", "", (30.0, 3.5), two("X1", "X2"))
        .part("J1", "", (3.0, 15.0), jack)
        .part("C1", "100n", (28.0, 26.0), two("+3V3", "GND"))
}

/// Offsets that are awkward to add: sums with them have other last digits.
pub(crate) const OFFSETS: [Xy; 4] = [
    (-20.0, 5.0),
    (13.37, -7.77),
    (0.1, 0.3),
    (-1234.5678, 0.000_001),
];

/// The findings of a board that lies elsewhere are the same, in the same order, as much elsewhere.
#[track_caller]
pub(crate) fn assert_moved(plain: &Report, moved: &Report, by: Xy, what: &str) {
    assert_eq!(moved.rules, plain.rules, "{what}");
    assert_eq!(moved.summary, plain.summary, "{what}");
    assert_eq!(moved.notes, plain.notes, "{what}");
    assert_eq!(moved.findings.len(), plain.findings.len(), "{what}");
    for (found, wanted) in moved.findings.iter().zip(&plain.findings) {
        let is = |f: &Finding| {
            let place = (f.at.layer.clone(), f.at.footprint.clone());
            let texts =
                [&f.id, &f.fingerprint, &f.title, &f.detail, &f.net, &f.layer].map(String::clone);
            (f.severity, f.rule, texts, f.unit, place)
        };
        assert_eq!(is(found), is(wanted), "{what}");
        let close = |x: f64, y: f64| (x - y).abs() <= 1e-6 * x.abs().max(y.abs());
        let numbers = |f: &Finding| [f.value, f.limit].map(Option::unwrap_or_default);
        for (x, y) in numbers(found).into_iter().zip(numbers(wanted)) {
            assert!(close(x, y), "{what}: {x} is not {y}, {wanted:?}");
        }
        let apart = (found.at.x - wanted.at.x - by.0).hypot(found.at.y - wanted.at.y - by.1);
        assert!(apart < 1e-3, "{what}: {apart} mm, {found:?} {wanted:?}");
        assert_eq!(found.bbox, wanted.bbox, "{what}: {wanted:?}");
        let apart = (found.x - wanted.x).hypot(found.y - wanted.y);
        assert!(
            apart < 1e-3,
            "{what}: {apart} mm of the board's own, {found:?} {wanted:?}"
        );
    }
}

/// Traces exactly along and across edges of planes, also aslant: what rounding may put on either side.
fn along_edges() -> Sheet {
    let aslant = |from: Xy, length: f64| vec![from, (from.0 + length, from.1 + length)];
    two_layers_with_slots()
        // Along both edges of the long slot, and in its middle.
        .track("E1", "F.Cu", &[(5.0, 10.0), (57.0, 10.0)])
        .track("E2", "F.Cu", &[(3.0, 11.3), (31.7, 11.3), (57.0, 11.3)])
        .track("E3", "F.Cu", &[(5.0, 10.65), (57.0, 10.65)])
        // Along the edges of the plane.
        .track("E4", "F.Cu", &[(0.5, 5.0), (0.5, 35.0)])
        .track("E5", "F.Cu", &[(2.0, 39.5), (58.0, 39.5)])
        // Along the edges of the slot at 45°, and from corner to corner of it.
        .track("E6", "F.Cu", &aslant((6.1, 16.1), 21.0))
        .track("E7", "F.Cu", &[(9.1, 16.1), (21.1, 28.1), (30.0, 28.1)])
        // Across gaps that are exactly as wide as what is reported, or just not.
        .track("E8", "F.Cu", &[(45.0, 20.0), (45.0, 36.0)])
        .track("E9", "F.Cu", &[(50.0, 20.0), (50.0, 36.0)])
}

fn report(style: Style) -> Report {
    let rules = "clocks: [{net: SCK, hz: 25e6, rise_s: 1e-9, volts: 3.3, load_ohm: 50}]\n\
                 cables: [{connector: J1, length_m: 1}]";
    let mut report = busy().report_as(&style, rules);
    // Another order has other lines.
    report
        .findings
        .iter_mut()
        .for_each(|finding| finding.at.line = None);
    report
}

/// What a report says, but for where it is.
fn gist(report: &Report) -> Vec<String> {
    let findings = report.findings.iter().map(|f| {
        format!(
            "{} {} {} {} {} {:?}",
            f.severity.name(),
            f.rule,
            f.net,
            f.layer,
            f.title,
            f.value
        )
    });
    let mut gist: Vec<String> = findings.collect();
    gist.sort();
    gist
}

#[test]
fn many_rules_find_something() {
    let report = report(Style::default());
    let rules: Vec<&str> = report.rules.keys().copied().collect();
    assert!(rules.len() >= 14, "{rules:?}");
    assert!(report.summary.critical > 0 && report.summary.warning > 0 && report.summary.info > 0);
}

#[test]
fn a_moved_renumbered_or_reordered_board_has_the_same_findings() {
    let plain = report(Style::default());
    for style in [
        Style {
            seed: Some(1),
            ..Style::default()
        },
        Style {
            seed: Some(2),
            version: 20_211_014,
            ..Style::default()
        },
        Style {
            version: 20_171_130,
            ..Style::default()
        },
        Style {
            seed: Some(3),
            version: 20_240_108,
            ..Style::default()
        },
        Style {
            version: 20_260_206,
            ..Style::default()
        },
    ] {
        assert_eq!(
            report(style),
            plain,
            "version {} seed {:?}",
            style.version,
            style.seed
        );
    }
    let moved = report(Style {
        moved: (-37.25, 1000.5),
        ..Style::default()
    });
    assert_eq!(gist(&moved), gist(&plain));
    let prints = |report: &Report| -> Vec<String> {
        report
            .findings
            .iter()
            .map(|f| f.fingerprint.clone())
            .collect()
    };
    assert_eq!(prints(&moved), prints(&plain));
    let space = |report: &Report| -> Vec<(f64, f64)> {
        report.findings.iter().map(|f| (f.x, f.y)).collect()
    };
    assert_eq!(space(&moved), space(&plain));
}

/// With clocks, cables and a denser edge, so that all rules that look at places have something to say.
const RULES: &str = "clocks: [{net: SCK, hz: 25e6, rise_s: 1e-9, volts: 3.3, load_ohm: 50}]\n\
                     cables: [{connector: J1, length_m: 1}]\n\
                     rules: {stitching: {params: {max_spacing_mm: 5}}, edge-stitching: {params: {max_spacing_mm: 5}}, \
                     plane-gap: {params: {min_crossing_mm: 0.6}}}";

#[test]
fn a_board_that_lies_elsewhere_has_the_same_findings_to_the_last_digit() {
    for (name, sheet) in [("busy", busy()), ("along edges", along_edges())] {
        let plain = sheet.report_as(&Style::default(), RULES);
        assert!(plain.findings.len() > 5, "{name}");
        for (x, y) in OFFSETS {
            let (from_x, from_y) = Style::default().moved;
            let style = Style {
                moved: (from_x + x, from_y + y),
                ..Style::default()
            };
            let moved = sheet.report_as(&style, RULES);
            assert_moved(&plain, &moved, (x, y), &format!("{name} by {x}, {y}"));
        }
    }
}

#[test]
fn traces_along_edges_do_not_depend_on_how_the_board_lies() {
    let plain = along_edges().report_as(&Style::default(), RULES);
    let gaps = plain.findings.iter().filter(|f| f.rule == "plane-gap");
    let mut nets: Vec<&str> = gaps.map(|f| f.net.as_str()).collect();
    nets.dedup();
    // An edge belongs to its plane, and a gap that is exactly as long as what is allowed is none.
    assert_eq!(nets, ["E3", "E9"]);
    for turns in 0..4 {
        for mirrored in [false, true] {
            for moved in OFFSETS {
                let style = Style {
                    turns,
                    mirrored,
                    moved,
                    ..Style::default()
                };
                let found = along_edges().report_as(&style, RULES);
                assert_eq!(gist(&found), gist(&plain), "{turns} {mirrored} {moved:?}");
            }
        }
    }
}

#[test]
fn the_order_of_an_outline_does_not_matter() {
    let bare =
        four_layers()
            .plane("GND", "In1.Cu")
            .fill("GND", "In2.Cu", plate((0.5, 0.5), (40.0, 39.5)));
    let posts = bare.clone().via("GND", (30.0, 1.0)).via("GND", (1.0, 1.0));
    for (sheet, slots) in [(bare, 1), (posts, 3)] {
        let found = |seed, turns| {
            let style = Style {
                seed,
                turns,
                ..Style::default()
            };
            let mut report = sheet.report_as(&style, RULES);
            report.findings.retain(|f| f.rule == "edge-stitching");
            report.findings.iter_mut().for_each(|f| f.at.line = None);
            report
        };
        let plain = found(None, 0);
        assert_eq!(plain.findings.len(), slots, "wherever the outline begins");
        for seed in 1..8 {
            assert_eq!(found(Some(seed), 0).findings, plain.findings, "{seed}");
            for turns in 1..4 {
                assert_eq!(
                    gist(&found(Some(seed), turns)),
                    gist(&plain),
                    "{seed} {turns}"
                );
            }
        }
    }
}

#[test]
fn a_turned_or_mirrored_board_has_the_same_findings() {
    let plain = gist(&report(Style::default()));
    for turns in 0..4 {
        for mirrored in [false, true] {
            assert_eq!(
                gist(&report(Style {
                    turns,
                    mirrored,
                    ..Style::default()
                })),
                plain,
                "{turns} {mirrored}"
            );
        }
    }
}

#[test]
fn threads_do_not_matter() {
    let plain = report(Style::default());
    for threads in [1, 2, 7] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        assert_eq!(pool.install(|| report(Style::default())), plain);
    }
}
