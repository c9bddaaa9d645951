//! Ways of return currents around gaps of planes: how long they are, and that severities and emission follow their loops.

use emi::{Finding, Severity};

use crate::lines::over_hole;
use crate::sheet::{Sheet, Xy, four_layers, pad, plate, plate_with_hole};

const CLOCK: &str = "clocks: [{net: SCK, hz: 100e6, rise_s: 1e-9, volts: 3.3, load_ohm: 50}]";

fn gap(sheet: &Sheet) -> Finding {
    let mut found = sheet.finds_with("plane-gap", CLOCK);
    assert_eq!(found.len(), 1, "{found:#?}");
    found.remove(0)
}

/// How much longer the way is, in mm, as the finding says it.
fn detour(found: &Finding) -> f64 {
    let (_, text) = found.detail.split_once("around it is ").unwrap();
    text.split(' ').next().unwrap().parse().unwrap()
}

/// What the clock's loops add up to, in mm², as the first line of its spectrum says it in comparison with that of a whole plane.
fn emission(sheet: &Sheet) -> f64 {
    let report = sheet.report(CLOCK);
    report.emission.spectrum.unwrap().points[0].dbuv_per_m
}

/// A trace over a ground on the back of two layers, 1.51 mm below, with a hole of that width that ends so far from the trace.
fn two_layers(width: f64, end: f64) -> Sheet {
    let hole = (
        (30.0 - width / 2.0, 20.0 - end),
        (30.0 + width / 2.0, 20.0 + end),
    );
    let sheet = Sheet {
        layers: vec!["F.Cu", "B.Cu"],
        gaps: vec![1.51],
        size: Some((60.0, 40.0)),
        items: Vec::new(),
    };
    sheet
        .fill(
            "GND",
            "B.Cu",
            plate_with_hole((0.3, 0.3), (59.7, 39.7), hole),
        )
        .track("SCK", "F.Cu", &[(5.0, 20.0), (55.0, 20.0)])
}

#[test]
fn the_way_around_a_slot_is_told_to_the_tenth_of_a_millimetre() {
    for (width, end) in [
        (0.3, 5.0),
        (0.7, 19.0),
        (1.5, 18.0),
        (6.0, 3.0),
        (5.0, 19.4),
    ] {
        for sheet in [over_hole(width, end), two_layers(width, end)] {
            let found = gap(&sheet);
            assert!(
                (detour(&found) - 2.0 * end).abs() < 0.051,
                "{width} {end}: {}",
                found.detail
            );
        }
    }
}

#[test]
fn severity_and_emission_follow_the_loop() {
    // By loop, as it grows: longer, wider, square holes, and a long narrow one that is worse than all of these.
    let families: [&[Xy]; 4] = [
        &[
            (1.0, 1.0),
            (1.0, 3.0),
            (1.0, 6.0),
            (1.0, 10.0),
            (1.0, 15.0),
            (1.0, 19.0),
        ],
        &[
            (0.2, 10.0),
            (0.7, 10.0),
            (1.5, 10.0),
            (3.0, 10.0),
            (6.0, 10.0),
        ],
        &[(2.0, 1.0), (4.0, 2.0), (6.0, 3.0), (8.0, 4.0), (12.0, 6.0)],
        &[(6.0, 3.0), (1.5, 18.0), (5.0, 19.4)],
    ];
    for of in [over_hole, two_layers] {
        for family in families {
            let boards: Vec<Sheet> = family.iter().map(|(w, end)| of(*w, *end)).collect();
            let found: Vec<Finding> = boards.iter().map(gap).collect();
            let fields: Vec<f64> = boards.iter().map(emission).collect();
            for index in 1..found.len() {
                let (less, more) = (&found[index - 1], &found[index]);
                assert!(less.value < more.value, "{} {}", less.detail, more.detail);
                assert!(
                    more.severity <= less.severity,
                    "{} {}",
                    less.detail,
                    more.detail
                );
                assert!(fields[index - 1] < fields[index], "{family:?} {index}");
            }
        }
    }
    // A hole of 6 mm is no slot of 37 mm.
    assert_eq!(gap(&over_hole(6.0, 3.0)).severity, Severity::Warning);
    assert_eq!(gap(&over_hole(1.5, 18.0)).severity, Severity::Critical);
    assert_eq!(gap(&over_hole(0.7, 19.0)).severity, Severity::Critical);
    assert_eq!(gap(&two_layers(5.0, 19.4)).severity, Severity::Critical);
}

#[test]
fn the_worst_loop_is_listed_first() {
    let sheet = over_hole(1.5, 15.0)
        .track("NEAR", "F.Cu", &[(10.0, 33.0), (50.0, 33.0)])
        .track("FAR", "F.Cu", &[(10.0, 25.0), (50.0, 25.0)]);
    let found = sheet.finds("plane-gap");
    let nets: Vec<&str> = found.iter().map(|f| f.net.as_str()).collect();
    assert_eq!(nets, ["SCK", "FAR", "NEAR"]);
}

#[test]
fn the_way_goes_over_another_plane_if_vias_are_nearer() {
    let slot = over_hole(1.5, 15.0).plane("GND", "In2.Cu");
    assert!((detour(&gap(&slot)) - 30.0).abs() < 0.05);
    // 2.25 mm to each via, 6 mm between them, 1 mm down and up, less 1.5 mm.
    let stitched = slot
        .clone()
        .via("GND", (27.0, 20.0))
        .via("GND", (33.0, 20.0));
    let found = gap(&stitched);
    assert!((detour(&found) - 11.0).abs() < 0.05, "{}", found.detail);
    // A via on one side alone is no way.
    let one = slot.clone().via("GND", (27.0, 20.0));
    assert!((detour(&gap(&one)) - 30.0).abs() < 0.05);
    // Nor is a plane with the same slot.
    let ring = plate_with_hole((0.5, 0.5), (59.5, 39.5), ((29.25, 5.0), (30.75, 35.0)));
    let both = over_hole(1.5, 15.0)
        .fill("GND", "In2.Cu", ring)
        .via("GND", (27.0, 20.0))
        .via("GND", (33.0, 20.0));
    assert!((detour(&gap(&both)) - 30.0).abs() < 0.05);
}

#[test]
fn the_way_goes_through_capacitors_to_a_plane_of_another_net() {
    let capacitor = |sheet: Sheet, name, x| {
        let pads = vec![pad("1", (0.0, -0.6), "+3V3"), pad("2", (0.0, 0.6), "GND")];
        sheet.part(name, "100n", (x, 20.0), pads)
    };
    let slot = over_hole(1.5, 15.0).plane("+3V3", "In2.Cu");
    let coupled = capacitor(capacitor(slot.clone(), "C1", 26.0), "C2", 34.0);
    let found = gap(&coupled);
    // 3.25 mm to each of them, 8 mm between, 1 mm down and up, less 1.5 mm.
    assert!((detour(&found) - 15.0).abs() < 0.05, "{}", found.detail);
    assert!((detour(&gap(&capacitor(slot.clone(), "C1", 26.0))) - 30.0).abs() < 0.05);
    let left_out =
        capacitor(capacitor(slot, "C1", 26.0), "C2", 34.0).with_footprint("C", "smd dnp");
    assert!((detour(&gap(&left_out)) - 30.0).abs() < 0.05);
}

#[test]
fn a_plane_that_is_cut_through_leaves_no_way() {
    let cut = four_layers()
        .fill("GND", "In1.Cu", plate((0.5, 0.5), (29.0, 39.5)))
        .fill("GND", "In1.Cu", plate((31.0, 0.5), (59.5, 39.5)))
        .track("SCK", "F.Cu", &[(10.0, 20.0), (50.0, 20.0)]);
    let found = gap(&cut);
    assert!(
        found.detail.contains("has no way around it"),
        "{}",
        found.detail
    );
    assert_eq!(found.severity, Severity::Critical);
    let joined = cut
        .plane("GND", "In2.Cu")
        .via("GND", (27.0, 20.0))
        .via("GND", (33.0, 20.0));
    let found = gap(&joined);
    // 2 mm to each via, 6 mm between them, 1 mm down and up, less 2 mm.
    assert!((detour(&found) - 10.0).abs() < 0.05, "{}", found.detail);
}

#[test]
fn antipads_in_a_row_are_no_slot() {
    let mut ring = plate((0.5, 0.5), (59.5, 39.5));
    for index in 0..12 {
        let x = 14.0 + 2.54 * f64::from(index);
        ring.extend([
            (0.5, 0.5),
            (x, 19.6),
            (x, 20.4),
            (x + 1.6, 20.4),
            (x + 1.6, 19.6),
            (x, 19.6),
        ]);
    }
    ring.push((0.5, 0.5));
    let row = four_layers().fill("GND", "In1.Cu", ring).track(
        "SCK",
        "F.Cu",
        &[(10.0, 20.0), (50.0, 20.0)],
    );
    assert_eq!(row.finds_with("plane-gap", CLOCK), []);
}

#[test]
fn two_slots_beside_each_other_have_one_way() {
    // 0.4 mm of copper between both, which is connected at its ends.
    let ring = [
        plate_with_hole((0.5, 0.5), (59.5, 39.5), ((28.0, 5.0), (29.8, 35.0))),
        vec![
            (0.5, 0.5),
            (30.2, 5.0),
            (30.2, 35.0),
            (32.0, 35.0),
            (32.0, 5.0),
            (30.2, 5.0),
        ],
    ];
    let sheet = four_layers().fill("GND", "In1.Cu", ring.concat()).track(
        "SCK",
        "F.Cu",
        &[(10.0, 20.0), (50.0, 20.0)],
    );
    let found = gap(&sheet);
    assert!(
        found.detail.starts_with("3.6 mm on F.Cu"),
        "{}",
        found.detail
    );
    assert!((detour(&found) - 30.0).abs() < 0.1, "{}", found.detail);
}

#[test]
fn a_clock_goes_on_behind_its_resistor() {
    let with = |value: &'static str| {
        let pads = vec![pad("1", (-0.5, 0.0), "SCK"), pad("2", (0.5, 0.0), "SCK_R")];
        let slot = ((39.0, 5.0), (41.0, 35.0));
        four_layers()
            .fill(
                "GND",
                "In1.Cu",
                plate_with_hole((0.5, 0.5), (59.5, 39.5), slot),
            )
            .track("SCK", "F.Cu", &[(5.0, 20.0), (9.5, 20.0)])
            .part("R1", value, (10.0, 20.0), pads)
            .track("SCK_R", "F.Cu", &[(10.5, 20.0), (55.0, 20.0)])
    };
    let found = gap(&with("33R"));
    assert_eq!(
        (found.net.as_str(), found.severity),
        ("SCK_R", Severity::Critical)
    );
    assert_eq!(gap(&with("10k")).severity, Severity::Warning);
    assert!(emission(&with("10k")) + 20.0 < emission(&with("33R")));
}

#[test]
fn ground_beside_a_trace_carries_its_return_over_a_gap() {
    let slot = over_hole(1.5, 18.0);
    let pour = |to: f64| {
        slot.clone()
            .fill("GND", "F.Cu", plate((5.0, 20.3), (to, 30.0)))
            .via("GND", (7.0, 25.0))
    };
    assert_eq!(gap(&slot).severity, Severity::Critical);
    let found = gap(&pour(55.0));
    assert!(
        found.detail.contains("a plane beside it on F.Cu carries"),
        "{}",
        found.detail
    );
    // 1.5 mm · 0.3 mm.
    assert!(
        (found.value.unwrap() - 0.45).abs() < 1e-3,
        "{:?}",
        found.value
    );
    assert_eq!(found.severity, Severity::Warning);
    assert!(emission(&pour(55.0)) < emission(&slot));
    // One that ends at the gap, or is of another net, carries nothing over it.
    assert_eq!(gap(&pour(29.0)).severity, Severity::Critical);
    let other = slot
        .clone()
        .fill("+3V3", "F.Cu", plate((5.0, 20.3), (55.0, 30.0)));
    assert_eq!(gap(&other).severity, Severity::Critical);
}

#[test]
fn the_box_of_a_gap_has_all_of_it() {
    let bent = [(10.0, 20.0), (30.0, 20.0), (30.0, 24.1), (50.0, 24.1)];
    let slot = ((28.0, 5.0), (32.0, 35.0));
    let sheet = four_layers()
        .fill(
            "GND",
            "In1.Cu",
            plate_with_hole((0.5, 0.5), (59.5, 39.5), slot),
        )
        .track("SCK", "F.Cu", &bent);
    let found = gap(&sheet);
    let [left, low, right, high] = found.bbox.unwrap();
    for (value, expected) in [(left, 28.0), (right, 32.0), (high - low, 4.1)] {
        assert!((value - expected).abs() < 1e-3, "{:?}", found.bbox);
    }
}

#[test]
fn ground_beside_a_trace_on_its_own_layer_carries_its_return() {
    let sheet = |pour: bool| {
        let bare = four_layers().track("SCK", "F.Cu", &[(10.0, 20.0), (50.0, 20.0)]);
        if pour {
            bare.fill("GND", "F.Cu", plate((5.0, 20.3), (55.0, 30.0)))
        } else {
            bare
        }
    };
    assert_eq!(sheet(false).finds("stackup").len(), 1);
    assert_eq!(sheet(true).finds("stackup"), []);
    // 40 mm · 0.3 mm in place of 40 mm · 25 mm.
    let apart = emission(&sheet(false)) - emission(&sheet(true));
    assert!(
        (apart - 20.0 * (25.0 / 0.3_f64).log10()).abs() < 0.01,
        "{apart}"
    );
}
