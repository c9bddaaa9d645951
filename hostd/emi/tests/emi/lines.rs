//! Rules about traces and their planes: each on a board where it finds something and on one where it does not.

use emi::Severity;

use crate::sheet::{Sheet, four_layers, plate, plate_with_hole};

/// A trace over a plane with a slot of that width across it, which ends 10 mm from the trace on both sides.
pub(crate) fn over_slot(width: f64) -> Sheet {
    over_hole(width, 10.0)
}

/// A trace over a plane with a hole of that width, which ends so far from the trace on both sides.
pub(crate) fn over_hole(width: f64, end: f64) -> Sheet {
    let slot = (
        (30.0 - width / 2.0, 20.0 - end),
        (30.0 + width / 2.0, 20.0 + end),
    );
    let ring = plate_with_hole((0.5, 0.5), (59.5, 39.5), slot);
    four_layers()
        .fill("GND", "In1.Cu", ring)
        .track("SCK", "F.Cu", &[(10.0, 20.0), (50.0, 20.0)])
}

#[test]
fn a_slot_under_a_trace_is_a_gap() {
    let found = over_slot(6.0).finds("plane-gap");
    assert_eq!(found.len(), 1);
    let gap = &found[0];
    assert_eq!(
        (gap.severity, gap.net.as_str(), gap.layer.as_str()),
        (Severity::Warning, "SCK", "F.Cu")
    );
    assert_eq!(
        (gap.limit, gap.unit, gap.detail.as_str()),
        (
            Some(25.0),
            Some("mm²"),
            "6.0 mm on F.Cu without plane on In1.Cu; the return current's way around it is 20.0 mm longer, a loop of 122 mm²"
        )
    );
    // 6 mm · 10 mm, and (10 mm)²·ln(10/0.2)/2π.
    assert!((gap.value.unwrap() - 122.262).abs() < 0.001);
    // Board space has y up from the bottom left, the file has it down from wherever the board is.
    assert_eq!(
        (gap.x, gap.y, gap.at.x, gap.at.y),
        (30.0, 20.0, 130.0, 70.0)
    );
}

#[test]
fn a_closed_slot_is_no_gap_and_a_wider_one_is_a_longer_gap() {
    assert_eq!(
        four_layers()
            .plane("GND", "In1.Cu")
            .track("SCK", "F.Cu", &[(10.0, 20.0), (50.0, 20.0)])
            .finds("plane-gap"),
        []
    );
    assert_eq!(over_slot(0.05).finds("plane-gap"), []);
    let mut last = 0.0;
    for width in [0.2, 0.7, 1.5, 3.0, 8.0] {
        let found = over_slot(width).finds("plane-gap");
        assert_eq!(found[0].severity, Severity::Warning, "{width}");
        let value = found[0].value.unwrap();
        assert!(last < value);
        last = value;
    }
    // What has a short way around it is none.
    assert_eq!(over_hole(0.9, 0.45).finds("plane-gap"), []);
}

#[test]
fn where_a_zone_is_not_filled_nothing_is_said_about_gaps() {
    let mut text = over_slot(6.0).text(&crate::sheet::Style::default());
    let end = text.trim_end().len() - 1;
    text.replace_range(
        end..,
        "(zone (net 0) (layer \"In1.Cu\") (polygon (pts (xy 0 0) (xy 9 0) (xy 9 9)))))",
    );
    let board = emi::kicad::read(text.as_bytes(), &emi::Limits::default()).unwrap();
    let report = emi::check(board, &emi::Settings::default(), &()).unwrap();
    assert!(!report.rules.contains_key("plane-gap") && !report.rules.contains_key("stackup"));
    assert!(report.notes.iter().any(|note| note.contains("not filled")));
}

#[test]
fn a_gap_is_critical_under_a_clock_and_harmless_under_a_slow_net() {
    let clock = "clocks: [{net: SCK, hz: 25e6, rise_s: 1e-9}]";
    assert_eq!(
        over_slot(6.0).finds_with("plane-gap", clock)[0].severity,
        Severity::Critical
    );
    let slow = "groups: [{match: SCK, speed: slow}]";
    assert_eq!(
        over_slot(6.0).finds_with("plane-gap", slow)[0].severity,
        Severity::Info
    );
}

#[test]
fn slivers_of_copper_are_no_plane_and_own_antipads_no_gap() {
    // 0.5 mm of copper in the middle of the slot is less than three heights.
    let sliver = over_slot(6.0).fill("GND", "In1.Cu", plate((29.75, 9.0), (30.25, 31.0)));
    let found = sliver.finds("plane-gap");
    assert_eq!(found.len(), 1);
    assert!(
        found[0].detail.starts_with("5.5 mm on F.Cu") && found[0].detail.contains("20.0 mm longer"),
        "{}",
        found[0].detail
    );
    let wide = over_slot(6.0).fill("GND", "In1.Cu", plate((29.5, 9.0), (30.5, 31.0)));
    assert_eq!(wide.finds("plane-gap").len(), 2);
    // The same void, as far as the antipad of a via of the trace's own net.
    let own = |size: f64| {
        let hole = ((30.0 - size, 20.0 - size), (30.0 + size, 20.0 + size));
        let ring = plate_with_hole((0.5, 0.5), (59.5, 39.5), hole);
        let sheet = four_layers()
            .fill("GND", "In1.Cu", ring)
            .via("SCK", (30.0, 20.0));
        sheet
            .track("SCK", "F.Cu", &[(10.0, 20.0), (50.0, 20.0)])
            .finds("plane-gap")
            .len()
    };
    assert_eq!((own(0.9), own(2.0)), (0, 1));
}

/// A trace from one plane to another, which are that far apart.
pub(crate) fn over_split(left: &'static str, right: &'static str, gap: f64) -> Sheet {
    four_layers()
        .fill(left, "In1.Cu", plate((0.5, 0.5), (30.0, 39.5)))
        .fill(right, "In1.Cu", plate((30.0 + gap, 0.5), (59.5, 39.5)))
        .track("SCK", "F.Cu", &[(10.0, 20.0), (50.0, 20.0)])
}

#[test]
fn a_trace_from_one_plane_to_another_crosses_a_split() {
    let found = over_split("GND", "+3V3", 0.4).finds("plane-split");
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].severity, found[0].x), (Severity::Warning, 30.2));
    assert_eq!(
        found[0].detail,
        "on F.Cu, the reference changes from GND to +3V3"
    );
    assert_eq!(over_split("GND", "GND", 0.4).finds("plane-split"), []);
    assert_eq!(over_split("GND", "+3V3", 2.0).finds("plane-split"), []);
    assert_eq!(over_split("GND", "+3V3", 2.0).finds("plane-gap").len(), 1);
    // A common plane on the other side carries the current on.
    let inner = over_split("GND", "+3V3", 0.4).track("D", "In2.Cu", &[(10.0, 10.0), (50.0, 10.0)]);
    assert_eq!(inner.clone().finds("plane-split").len(), 2);
    assert_eq!(inner.plane("GND", "B.Cu").finds("plane-split").len(), 1);
}

/// A signal from the top to the bottom between two planes, and a via of the first one's net.
pub(crate) fn through(lower: &'static str, via: f64) -> Sheet {
    four_layers()
        .plane("GND", "In1.Cu")
        .plane(lower, "In2.Cu")
        .track("SCK", "F.Cu", &[(10.0, 20.0), (30.0, 20.0)])
        .via("SCK", (30.0, 20.0))
        .track("SCK", "B.Cu", &[(30.0, 20.0), (50.0, 20.0)])
        .via("GND", (30.0, 20.0 + via))
}

#[test]
fn a_signal_that_changes_layers_needs_a_return_via() {
    let found = through("GND", 7.6).finds("return-via");
    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0].severity, found[0].value, found[0].limit),
        (Severity::Warning, Some(7.6), Some(2.0))
    );
    assert_eq!(through("GND", 1.9).finds("return-via"), []);
    assert_eq!(
        through("GND", 7.6)
            .via_between("GND", (31.0, 20.0), ("F.Cu", "In1.Cu"))
            .finds("return-via")
            .len(),
        1
    );
    assert_eq!(
        through("GND", 7.6)
            .via("GND", (31.0, 20.0))
            .finds("return-via"),
        []
    );
    let params = "rules: {return-via: {params: {max_distance_mm: 8}}}";
    assert_eq!(through("GND", 7.6).finds_with("return-via", params), []);
}

#[test]
fn planes_of_two_nets_are_joined_by_a_capacitor() {
    let found = through("+3V3", 1.0).finds("return-via");
    assert_eq!((found.len(), found[0].severity), (1, Severity::Info));
    let pads = vec![
        crate::sheet::pad("1", (-0.5, 0.0), "+3V3"),
        crate::sheet::pad("2", (0.5, 0.0), "GND"),
    ];
    assert_eq!(
        through("+3V3", 1.0)
            .part("C1", "100n", (33.0, 22.0), pads.clone())
            .finds("return-via"),
        []
    );
    assert_eq!(
        through("+3V3", 1.0)
            .part("C1", "100n", (45.0, 22.0), pads)
            .finds("return-via")
            .len(),
        1
    );
}

#[test]
fn traces_near_the_edge_of_their_plane_lose_return_current() {
    // 0.2 mm above a plane that ends 0.5 mm from the outline.
    let along = |distance: f64| {
        let y = 0.5 + distance;
        let sheet =
            four_layers()
                .plane("GND", "In1.Cu")
                .track("SCK", "F.Cu", &[(10.0, y), (50.0, y)]);
        sheet.finds("edge-proximity")
    };
    let found = along(0.5);
    // ½ − atan(2.5)/π.
    assert_eq!(
        (found.len(), found[0].value, found[0].limit),
        (1, Some(12.1119), Some(10.0))
    );
    assert_eq!(along(0.7), []);
    assert_eq!(along(10.0), []);
    let half =
        four_layers()
            .plane("GND", "In1.Cu")
            .track("SCK", "F.Cu", &[(10.0, 1.0), (12.0, 1.0)]);
    assert_eq!(
        half.finds("edge-proximity"),
        [],
        "2 mm are too short to matter"
    );
}

#[test]
fn long_nets_are_told_by_the_wavelength() {
    let long = |length: f64, rules: &str| {
        let track = [(10.0, 20.0), (10.0 + length, 20.0)];
        four_layers()
            .plane("GND", "In1.Cu")
            .track("SCK", "F.Cu", &track)
            .finds_with("radiator", rules)
    };
    let found = long(30.0, "");
    // 299.79 mm / √εeff / 20, εeff = 2.75 + 1.75/√13.
    assert_eq!(
        (found.len(), found[0].severity, found[0].limit),
        (1, Severity::Info, Some(8.3335))
    );
    assert_eq!(found[0].assumed, ["nothing above 1000 MHz matters"]);
    assert_eq!(long(7.0, ""), []);
    assert_eq!(long(30.0, "board: {max_frequency_hz: 100e6}"), []);
    let declared = long(30.0, "clocks: [{net: SCK, hz: 25e6, rise_s: 0.2e-9}]");
    assert_eq!(
        (declared[0].severity, declared[0].assumed.len()),
        (Severity::Warning, 0)
    );
}

#[test]
fn the_unused_end_of_a_via_resonates() {
    let to = |layer: &'static str, rules: &str| {
        let sheet = four_layers()
            .track("SCK", "F.Cu", &[(10.0, 20.0), (30.0, 20.0)])
            .via("SCK", (30.0, 20.0));
        sheet
            .track("SCK", layer, &[(30.0, 20.0), (50.0, 20.0)])
            .finds_with("via-stub", rules)
    };
    let fast = "board: {max_frequency_hz: 10e9}";
    let found = to("In1.Cu", fast);
    // 1.235 mm: c/(4·L·√4.5).
    assert_eq!(
        (found.len(), found[0].value, found[0].limit),
        (1, Some(28.608), Some(40.0))
    );
    assert_eq!(to("B.Cu", fast), []);
    assert_eq!(to("In1.Cu", ""), []);
}

/// 40 mm between two parts, and a branch of that length that ends nowhere.
pub(crate) fn branch(length: f64) -> Sheet {
    four_layers()
        .plane("GND", "In1.Cu")
        .part(
            "U1",
            "",
            (10.0, 20.0),
            vec![crate::sheet::pad("1", (0.0, 0.0), "SCK")],
        )
        .part(
            "U2",
            "",
            (50.0, 20.0),
            vec![crate::sheet::pad("1", (0.0, 0.0), "SCK")],
        )
        .track("SCK", "F.Cu", &[(10.0, 20.0), (30.0, 20.0)])
        .track("SCK", "F.Cu", &[(30.0, 20.0), (50.0, 20.0)])
        .track("SCK", "F.Cu", &[(30.0, 20.0), (30.0, 20.0 - length)])
}

#[test]
fn a_track_that_ends_nowhere_resonates() {
    let found = branch(18.0).finds("trace-stub");
    assert_eq!(
        (found.len(), found[0].value, found[0].limit),
        (1, Some(2.3149), Some(4.0))
    );
    assert_eq!((found[0].x, found[0].y), (30.0, 38.0));
    assert_eq!(branch(8.0).finds("trace-stub"), []);
    let ended = branch(18.0).part(
        "R1",
        "",
        (30.0, 2.0),
        vec![crate::sheet::pad("1", (0.0, 0.0), "SCK")],
    );
    assert_eq!(ended.finds("trace-stub"), []);
}

/// A pair of 40 mm, the second of which is longer by a detour.
pub(crate) fn pair(detour: f64) -> Sheet {
    let sheet =
        four_layers()
            .plane("GND", "In1.Cu")
            .track("USB_D+", "F.Cu", &[(10.0, 20.0), (50.0, 20.0)]);
    let (high, low) = (20.4, 20.4 + detour);
    sheet.track(
        "USB_D-",
        "F.Cu",
        &[
            (10.0, high),
            (30.0, high),
            (30.0, low),
            (31.0, low),
            (31.0, high),
            (50.0, high),
        ],
    )
}

#[test]
fn the_nets_of_a_pair_are_equally_long() {
    let found = pair(1.0).finds("ddr-skew");
    // 2 mm at √3.2353/c.
    assert_eq!(
        (found.len(), found[0].value, found[0].limit),
        (1, Some(11.9997), Some(10.0))
    );
    assert_eq!(found[0].net, "USB_D-");
    assert_eq!(pair(0.1).finds("ddr-skew"), []);
}

#[test]
fn groups_of_the_rules_file_are_equally_long() {
    let lane = |length: f64| {
        let mut sheet = four_layers().plane("GND", "In1.Cu");
        for (net, y) in [("DQ0", 10.0), ("DQ1", 15.0), ("DQ2", 20.0)] {
            let end = if net == "DQ2" { 10.0 + length } else { 40.0 };
            sheet = sheet.track(net, "F.Cu", &[(10.0, y), (end, y)]);
        }
        sheet.finds_with(
            "ddr-skew",
            "groups: [{match: \"DQ?\", params: {byte_lane_ps: 10}}]",
        )
    };
    assert_eq!(lane(31.0), []);
    let found = lane(35.0);
    assert_eq!(
        (found.len(), found[0].net.as_str(), found[0].value),
        (1, "DQ2", Some(29.9993))
    );
}

#[test]
fn a_pair_that_parts_is_found() {
    assert_eq!(pair(0.1).finds("pair"), []);
    let sheet = four_layers().track("A_P", "F.Cu", &[(10.0, 20.0), (50.0, 20.0)]);
    // Near the corners, the other net is still within twice the spacing of 0.4 mm: 12 mm less 2 · 0.8.
    let around = [
        (10.0, 20.4),
        (20.0, 20.4),
        (20.0, 23.0),
        (32.0, 23.0),
        (32.0, 20.4),
        (50.0, 20.4),
    ];
    let found = sheet.track("A_N", "F.Cu", &around).finds("pair");
    assert_eq!(found.len(), 1);
    assert!(
        (found[0].value.unwrap() - 10.4).abs() < 0.3,
        "{:?}",
        found[0].value
    );
}

#[test]
fn traces_beside_each_other_couple() {
    let beside = |distance: f64, rules: &str| {
        let sheet =
            four_layers()
                .plane("GND", "In1.Cu")
                .track("A", "F.Cu", &[(10.0, 20.0), (50.0, 20.0)]);
        let y = 20.0 + distance;
        sheet
            .track("B", "F.Cu", &[(10.0, y), (50.0, y)])
            .finds_with("crosstalk", rules)
    };
    let found = beside(0.4, "");
    // 40 mm are longer than t_r·v/2 of 26.5 mm: 1/(1 + 2²).
    assert_eq!(
        (found.len(), found[0].value, found[0].severity),
        (1, Some(20.0), Severity::Info)
    );
    assert_eq!(beside(0.9, ""), []);
    let clock = "clocks: [{net: A, hz: 25e6, rise_s: 0.2e-9}]";
    assert_eq!(beside(0.4, clock)[0].severity, Severity::Warning);
    // An edge of 10 ns is 30 times as long as the stretch.
    assert_eq!(
        beside(0.4, "clocks: [{net: A, hz: 1e6, rise_s: 10e-9}]"),
        []
    );
    let pair = pair(0.1).finds("crosstalk");
    assert_eq!(pair, [], "the nets of a pair are meant to couple");
}
