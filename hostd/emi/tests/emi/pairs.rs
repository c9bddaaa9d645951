//! Pairs: which nets are some, how much their two ways differ, and what does not count.

use emi::{Limits, Settings, Severity, kicad};

use crate::sheet::{Sheet, Style, four_layers, pad};

/// Two nets from one part to another; the second one goes another way by `detour`, there and back.
fn pair(positive: &'static str, negative: &'static str, detour: f64) -> Sheet {
    let ends = |x: f64| {
        let pins = vec![
            pad("1", (0.0, 0.0), positive).of_size(0.3, 0.3),
            pad("2", (0.0, 0.4), negative).of_size(0.3, 0.3),
        ];
        (x, pins)
    };
    let ((left, a), (right, b)) = (ends(10.0), ends(50.0));
    let low = 20.4 + detour;
    four_layers()
        .plane("GND", "In1.Cu")
        .part("U1", "", (left, 20.0), a)
        .part("U2", "", (right, 20.0), b)
        .track(positive, "F.Cu", &[(10.0, 20.0), (50.0, 20.0)])
        .track(
            negative,
            "F.Cu",
            &[
                (10.0, 20.4),
                (25.0, 20.4),
                (25.0, low),
                (35.0, low),
                (35.0, 20.4),
                (50.0, 20.4),
            ],
        )
}

#[test]
fn pairs_are_known_by_the_names_that_are_in_use() {
    for (positive, negative) in [
        ("/USB_DP", "/USB_DN"),
        ("USB_DP", "USB_DM"),
        ("TX0P", "TX0N"),
        ("D_P1", "D_N1"),
        ("ETH_TD+", "ETH_TD-"),
    ] {
        let found = pair(positive, negative, 10.0);
        assert_eq!(found.finds("pair").len(), 1, "{positive}");
        assert_eq!(found.finds("ddr-skew").len(), 1, "{positive}");
        assert_eq!(
            pair(positive, negative, 0.1).finds("pair"),
            [],
            "{positive}"
        );
    }
    assert_eq!(pair("CAN_H", "CAN_L", 10.0).finds("pair").len(), 1);
    assert_eq!(pair("DCDC_HV+", "DCDC_HV-", 10.0).finds("pair"), []);
    assert_eq!(pair("DCDC_HV+", "DCDC_HV-", 10.0).finds("ddr-skew"), []);
}

#[test]
fn budgets_are_those_of_the_interface() {
    let limit = |positive, negative, rules: &str| {
        let found = pair(positive, negative, 3.0).finds_with("ddr-skew", rules);
        found.first().and_then(|f| f.limit)
    };
    assert_eq!(limit("PCIE_TX_P", "PCIE_TX_N", ""), Some(2.0));
    assert_eq!(limit("USB_D+", "USB_D-", ""), Some(10.0));
    for (positive, negative) in [("CAN_H", "CAN_L"), ("RS485_P", "RS485_N"), ("SPK+", "SPK-")] {
        assert_eq!(limit(positive, negative, ""), None, "{positive}");
        let declared = "rules: {ddr-skew: {params: {intra_pair_ps: 5}}}";
        assert_eq!(limit(positive, negative, declared), Some(5.0), "{positive}");
    }
    // Nor are they fast for being a pair.
    let over = |positive, negative| {
        let slot = ((34.0, 5.0), (36.0, 35.0));
        let ring = crate::sheet::plate_with_hole((0.5, 0.5), (59.5, 39.5), slot);
        let sheet = four_layers().fill("GND", "In1.Cu", ring);
        let sheet = sheet.track(positive, "F.Cu", &[(10.0, 20.0), (50.0, 20.0)]);
        sheet
            .track(negative, "F.Cu", &[(10.0, 20.4), (50.0, 20.4)])
            .finds("plane-gap")[0]
            .severity
    };
    assert_eq!(over("CAN_H", "CAN_L"), Severity::Warning);
    assert_eq!(over("USB_D+", "USB_D-"), Severity::Critical);
}

/// What `pair` finds with the net classes of a project.
fn in_classes(sheet: &Sheet, classes: &str, patterns: &str) -> usize {
    let project = format!(
        r#"{{"net_settings": {{"classes": [{classes}], "netclass_patterns": [{patterns}]}}}}"#
    );
    let mut board = sheet.board();
    let project = kicad::Project::read(project.as_bytes()).unwrap();
    project.apply(&mut board);
    let report = emi::check(board, &Settings::default(), &()).unwrap();
    report.rules.get("pair").map_or(0, |counts| counts.found)
}

#[test]
fn net_classes_for_pairs_make_pairs_whatever_their_names_are() {
    let class = |name: &str, width: f64, gap: f64| {
        format!(r#"{{"name": "{name}", "diff_pair_width": {width}, "diff_pair_gap": {gap}}}"#)
    };
    let default = class("Default", 0.2, 0.25);
    let hv = pair("DCDC_HV+", "DCDC_HV-", 10.0);
    let all = |class: &str| format!(r#"{{"netclass": "{class}", "pattern": "DCDC*"}}"#);
    let with = |own: &str| format!("{default}, {own}");
    // Sizes that somebody gave, or what the class is called.
    for own in [class("HV", 0.15, 0.18), class("HV", 0.2, 0.18)] {
        assert_eq!(in_classes(&hv, &with(&own), &all("HV")), 1, "{own}");
    }
    for name in ["Diff", "USB_DIFF90", "Pairs 100", "90Ohm"] {
        let own = format!(r#"{{"name": "{name}"}}"#);
        assert_eq!(in_classes(&hv, &with(&own), &all(name)), 1, "{name}");
        assert_eq!(in_classes(&hv, &default, &all(name)), 1, "{name}");
    }
    // Sizes that every class has say nothing, nor does a class in which there is one of the nets alone.
    for own in [class("HV", 0.2, 0.25), r#"{"name": "HV"}"#.to_owned()] {
        assert_eq!(in_classes(&hv, &with(&own), &all("HV")), 0, "{own}");
    }
    let as_default = format!("{}, {}", class("Default", 0.1, 0.1), class("HV", 0.1, 0.1));
    assert_eq!(in_classes(&hv, &as_default, &all("HV")), 0);
    let one = r#"{"netclass": "Diff", "pattern": "DCDC_HV+"}"#;
    assert_eq!(in_classes(&hv, &default, one), 0);
    // Two nets of a class are a pair; of more nets, those whose names differ in a letter.
    let odd = pair("DATA_OUT", "DATA_BACK", 10.0);
    let data = r#"{"netclass": "Diff", "pattern": "DATA*"}"#;
    assert_eq!(in_classes(&odd, &default, data), 1);
    let third = |sheet: Sheet| sheet.track("DATA_3", "B.Cu", &[(5.0, 5.0), (9.0, 5.0)]);
    assert_eq!(in_classes(&third(odd), &default, data), 0);
    let within = third(pair("DATA_P_OUT", "DATA_N_OUT", 10.0));
    assert_eq!(in_classes(&within, &default, data), 1);
}

#[test]
fn boards_of_kicad_5_have_their_net_classes_in_themselves() {
    let style = Style {
        version: 20_171_130,
        ..Style::default()
    };
    let text = pair("DCDC_HV+", "DCDC_HV-", 10.0).text(&style);
    let classes = |sizes: &str| {
        format!(
            "(net_class Default \"all\" (clearance 0.2) (add_net GND))
             (net_class HV \"\" (clearance 0.2) {sizes} (add_net DCDC_HV+) (add_net \"DCDC_HV-\"))"
        )
    };
    let found = |classes: &str| {
        let end = text.rfind(')').unwrap();
        let text = format!("{}{classes})", &text[..end]);
        let board = kicad::read(text.as_bytes(), &Limits::default()).unwrap();
        let net = board.net_named("DCDC_HV-").unwrap();
        let classes = board.nets[net].classes.join(" ");
        let report = emi::check(board, &Settings::default(), &()).unwrap();
        (classes, report.rules.contains_key("pair"))
    };
    assert_eq!(found(""), (String::new(), false));
    assert_eq!(found(&classes("")), ("HV".to_owned(), false));
    let sizes = "(diff_pair_width 0.15) (diff_pair_gap 0.18)";
    assert_eq!(found(&classes(sizes)), ("HV".to_owned(), true));
}

/// Both rows of a USB-C connector: one net joins its pads around the others, the other one through vias below them.
fn usb_c(longer: f64) -> Sheet {
    let narrow = |number, y, net| pad(number, (0.0, y), net).of_size(1.2, 0.3);
    let rows = vec![
        narrow("B7", -0.75, "USB_D-"),
        narrow("A6", -0.25, "USB_D+"),
        narrow("A7", 0.25, "USB_D-"),
        narrow("B6", 0.75, "USB_D+"),
    ];
    let pins = vec![
        narrow("1", -0.25, "USB_D+"),
        narrow("2", 0.25, "USB_D-"),
        pad("3", (0.0, 3.0), "GND"),
    ];
    let low = 20.25 + longer / 2.0;
    four_layers()
        .plane("GND", "In1.Cu")
        .part("J1", "USB_C", (5.0, 20.0), rows)
        .part("U1", "MCU", (40.0, 20.0), pins)
        .track("USB_D+", "F.Cu", &[(5.0, 19.75), (40.0, 19.75)])
        .track(
            "USB_D+",
            "F.Cu",
            &[(5.0, 20.75), (3.5, 20.75), (3.5, 19.75), (5.0, 19.75)],
        )
        .track(
            "USB_D-",
            "F.Cu",
            &[
                (5.0, 20.25),
                (20.0, 20.25),
                (20.0, low),
                (21.0, low),
                (21.0, 20.25),
                (40.0, 20.25),
            ],
        )
        .track("USB_D-", "F.Cu", &[(5.0, 19.25), (6.5, 19.25)])
        .via("USB_D-", (6.5, 19.25))
        .track("USB_D-", "B.Cu", &[(6.5, 19.25), (6.5, 20.25)])
        .via("USB_D-", (6.5, 20.25))
}

#[test]
fn the_second_row_of_a_usb_c_connector_does_not_count() {
    assert_eq!(usb_c(0.0).finds("ddr-skew"), []);
    let found = usb_c(4.0).finds("ddr-skew");
    // 4 mm of a trace of 0.2 mm, 0.2 mm above its plane: √3.2353/c each.
    assert_eq!(found.len(), 1);
    assert!(
        (found[0].value.unwrap() - 23.999).abs() < 0.01,
        "{}",
        found[0].detail
    );
}

#[test]
fn branches_and_test_points_do_not_count() {
    let sheet = pair("USB_D+", "USB_D-", 0.0)
        .track("USB_D+", "F.Cu", &[(25.0, 20.0), (25.0, 12.0)])
        .part(
            "TP1",
            "",
            (25.0, 12.0),
            vec![pad("1", (0.0, 0.0), "USB_D+")],
        );
    assert_eq!(sheet.finds("ddr-skew"), []);
    let clamp = vec![
        pad("1", (0.0, 0.0), "USB_D+"),
        pad("2", (0.0, 2.0), "GND"),
        pad("3", (0.0, 4.0), "USB_D-"),
    ];
    let clamped = pair("USB_D+", "USB_D-", 0.0)
        .track("USB_D+", "F.Cu", &[(20.0, 20.0), (20.0, 10.0)])
        .part("D1", "USBLC6", (20.0, 10.0), clamp)
        .track(
            "USB_D-",
            "F.Cu",
            &[(20.0, 14.0), (21.0, 14.0), (21.0, 20.4)],
        );
    assert_eq!(clamped.finds("ddr-skew"), []);
}

#[test]
fn pairs_that_end_at_resistors_of_their_own_are_compared_up_to_these() {
    let resistors = |shift: f64| {
        let pins = vec![
            pad("1", (0.0, 0.0), "USB_D+").of_size(0.3, 0.3),
            pad("2", (0.0, 0.4), "USB_D-").of_size(0.3, 0.3),
        ];
        let at = |net, far| {
            vec![
                pad("1", (0.0, 0.0), net).of_size(0.3, 0.3),
                pad("2", (1.0, 0.0), far),
            ]
        };
        four_layers()
            .plane("GND", "In1.Cu")
            .part("U1", "", (10.0, 20.0), pins)
            .part("R1", "22", (40.0, 20.0), at("USB_D+", "X"))
            .part("R2", "22", (40.0 + shift, 20.4), at("USB_D-", "Y"))
            .track("USB_D+", "F.Cu", &[(10.0, 20.0), (40.0, 20.0)])
            .track("USB_D-", "F.Cu", &[(10.0, 20.4), (40.0 + shift, 20.4)])
            .finds("ddr-skew")
            .len()
    };
    assert_eq!((resistors(0.5), resistors(3.0)), (0, 1));
}
