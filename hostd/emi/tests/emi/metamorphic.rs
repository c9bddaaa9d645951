//! What must not matter does not: where a board lies, how it is turned, in which order and syntax it was saved, how many
//! threads there are.

use emi::Report;

use crate::sheet::{Sheet, Style, four_layers, pad, plate, plate_with_hole, plated};

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
