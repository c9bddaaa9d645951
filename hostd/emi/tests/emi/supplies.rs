//! Supplies and parts: recognized by what pins say, pours and capacitors, and names beside these.

use emi::{Finding, Severity};

use crate::parts::two;
use crate::sheet::{Pad, Sheet, four_layers, pad, plate};

fn pin(number: &'static str, y: f64, net: &'static str, kind: &'static str) -> Pad {
    pad(number, (0.0, y), net).of_pin(kind)
}

/// A circuit with these pins and a ground, and a capacitor far away for each net.
fn circuit(pins: &[(&'static str, &'static str)]) -> Sheet {
    const NUMBERS: [&str; 4] = ["2", "3", "4", "5"];
    const NAMES: [&str; 4] = ["C1", "C2", "C3", "C4"];
    let mut pads = vec![pad("1", (0.0, 0.0), "GND")];
    for (index, (net, kind)) in pins.iter().enumerate() {
        pads.push(pin(NUMBERS[index], 1.0 + index as f64, net, kind));
    }
    let mut sheet = four_layers()
        .plane("GND", "In1.Cu")
        .part("U1", "FPGA", (20.0, 10.0), pads);
    for (index, (net, _)) in pins.iter().enumerate() {
        let y = 20.0 + 3.0 * index as f64;
        sheet = sheet
            .part(NAMES[index], "100n", (50.0, y), two(net, "GND"))
            .via("GND", (51.3, y));
    }
    sheet
}

fn nets(found: &[Finding]) -> Vec<&str> {
    found.iter().map(|f| f.net.as_str()).collect()
}

#[test]
fn a_pin_that_takes_a_supply_makes_its_net_one() {
    let found = circuit(&[
        ("P1.1V", "power_in"),
        ("VIOA", "power_in"),
        ("Net-(U1-VCAP)", "power_in"),
    ])
    .finds("decoupling");
    assert_eq!(nets(&found), ["Net-(U1-VCAP)", "P1.1V", "VIOA"]);
    assert!(found.iter().all(|f| f.severity == Severity::Critical));
}

#[test]
fn a_control_line_that_is_called_after_a_supply_is_none() {
    let lines = [
        ("!RX_AMP_PWR", "bidirectional"),
        ("/CPU/VBUS_ENA", "bidirectional"),
        ("/GPIO12_PHY_PWR", "bidirectional"),
        ("VIN_SENSE", "input"),
    ];
    let mut pads = vec![pad("1", (0.0, 0.0), "GND")];
    for (index, (net, kind)) in lines.iter().enumerate() {
        pads.push(pin("9", 1.0 + index as f64, net, kind));
    }
    let sheet = four_layers().part("U1", "MCU", (20.0, 10.0), pads);
    assert_eq!(sheet.finds("decoupling"), []);
    // Without types of pins, the name alone does not make it one.
    let nameless = four_layers().part("U1", "MCU", (20.0, 10.0), two("RX_PWR", "GND"));
    assert_eq!(nameless.finds("decoupling"), []);
}

#[test]
fn names_that_may_be_supplies_are_some_beside_capacitors_or_a_pour() {
    let bare = |name| four_layers().part("U1", "MCU", (20.0, 10.0), two(name, "GND"));
    let filtered = |name| {
        bare(name)
            .part("C1", "100n", (50.0, 20.0), two(name, "GND"))
            .part("C2", "100n", (50.0, 25.0), two(name, "GND"))
            .via("GND", (51.3, 20.0))
            .via("GND", (51.3, 25.0))
    };
    for name in ["P1.1V", "VIOA", "+3.3VLAN", "P3V3"] {
        assert_eq!(bare(name).finds("decoupling"), [], "{name}");
        assert_eq!(nets(&filtered(name).finds("decoupling")), [name]);
        let poured = bare(name).fill(name, "F.Cu", plate((18.0, 12.0), (22.0, 16.0)));
        assert_eq!(nets(&poured.finds("decoupling")), [name]);
    }
    assert_eq!(filtered("SDA").finds("decoupling"), []);
}

#[test]
fn inputs_that_are_tied_to_a_supply_need_no_capacitor() {
    let pads = vec![
        pad("1", (0.0, 0.0), "GND"),
        pin("2", 1.0, "+3V3", "power_in"),
        pin("3", 14.0, "+3V3", "input"),
    ];
    let sheet = four_layers()
        .plane("GND", "In1.Cu")
        .part("U1", "MCU", (20.0, 10.0), pads)
        .part("C1", "100n", (22.0, 11.0), two("+3V3", "GND"))
        .via("GND", (23.3, 11.0));
    assert_eq!(sheet.finds("decoupling"), []);
}

#[test]
fn a_pin_that_may_be_an_input_is_not_critical() {
    let sheet = |pins: &[(&'static str, &'static str)]| {
        let mut pads = vec![pad("1", (0.0, 0.0), "GND")];
        for (index, (net, kind)) in pins.iter().enumerate() {
            pads.push(pin(["2", "3", "4"][index], 1.0 + index as f64, net, kind));
        }
        let near = |net| two(net, "GND");
        four_layers()
            .plane("GND", "In1.Cu")
            .part("U1", "BQ25792", (20.0, 10.0), pads)
            .part("C1", "100n", (22.0, 11.0), near("VBUS"))
            .part("C2", "100n", (50.0, 20.0), near("+3V3"))
            .via("GND", (23.3, 11.0))
            .via("GND", (51.3, 20.0))
            .finds("decoupling")
            .first()
            .map(|f| f.severity)
    };
    // One of several supplies, and nothing says what the pin does there.
    assert_eq!(
        sheet(&[("VBUS", ""), ("+3V3", "")]),
        Some(Severity::Warning)
    );
    assert_eq!(sheet(&[("+3V3", "power_out")]), Some(Severity::Warning));
    for certain in [
        &[("VBUS", ""), ("+3V3", "power_in")][..],
        &[("VBUS", ""), ("+3V3", ""), ("+3V3", "")],
        &[("+3V3", "")],
    ] {
        assert_eq!(sheet(certain), Some(Severity::Critical), "{certain:?}");
    }
}

#[test]
fn pads_of_one_number_are_one_pin() {
    let regulator = |tab: &'static str| {
        let pads = vec![
            pad("1", (0.0, -2.3), "GND").of_size(2.2, 1.2),
            pad("2", (0.0, 0.0), "+3V3").of_size(2.2, 1.2),
            pad(tab, (-15.0, 0.0), "+3V3").of_size(6.4, 5.8),
        ];
        four_layers()
            .plane("GND", "In1.Cu")
            .part("U1", "LD1117", (25.0, 10.0), pads)
            .part("C1", "10u", (28.0, 10.0), two("+3V3", "GND"))
            .via("GND", (29.3, 10.0))
            .finds("decoupling")
    };
    assert_eq!(regulator("2"), []);
    assert_eq!(regulator("4")[0].severity, Severity::Critical);
}

#[test]
fn capacitors_behind_a_link_are_those_of_the_supply() {
    let sheet = |value: &'static str| {
        let pads = vec![pad("1", (0.0, 0.0), "GND"), pad("2", (0.0, 1.0), "+3V3")];
        four_layers()
            .plane("GND", "In1.Cu")
            .part("U1", "MCU", (20.0, 10.0), pads)
            .part("R1", value, (21.5, 13.0), two("+3V3", "VDD_CORE_IN"))
            .part("C1", "100n", (22.0, 11.0), two("VDD_CORE_IN", "GND"))
            .via("GND", (23.3, 11.0))
            .finds("decoupling")
    };
    assert_eq!(sheet("0R"), []);
    assert_eq!(nets(&sheet("10R")), ["+3V3"]);
    assert_eq!(nets(&sheet("0R DNP")), ["+3V3"]);
}

#[test]
fn capacitors_that_are_left_out_do_not_count() {
    let sheet = |value: &'static str, attributes: &'static str| {
        crate::parts::decoupled(50.0)
            .part("C2", value, (21.5, 20.0), two("+3V3", "GND"))
            .with_footprint("C", attributes)
            .via("GND", (22.8, 20.0))
            .finds("decoupling")
    };
    assert_eq!(sheet("100n", "smd"), []);
    for (value, attributes) in [
        ("100n", "smd exclude_from_bom dnp"),
        ("DNP", "smd"),
        ("NA(100n)", "smd"),
        ("100n/DNF", "smd"),
    ] {
        assert_eq!(
            sheet(value, attributes)[0].severity,
            Severity::Critical,
            "{value}"
        );
    }
}

#[test]
fn the_way_to_a_via_is_from_copper_to_copper() {
    let capacitor = |x: f64| {
        four_layers()
            .plane("GND", "In1.Cu")
            .part("C1", "100n", (20.0, 20.0), two("+3V3", "GND"))
            .via("GND", (x, 20.0))
            .finds("decoupling")
            .len()
    };
    // The pad ends at 20.8 mm, the via begins 0.3 mm before its middle.
    assert_eq!(
        (capacitor(22.0), capacitor(22.09), capacitor(22.11)),
        (0, 0, 1)
    );
    let clamped = |x: f64| {
        crate::parts::jack(3.0)
            .part("D1", "", (8.0, 21.0), two("SDA", "GND"))
            .plane("GND", "In1.Cu")
            .via("GND", (x, 21.0))
            .finds("esd-protection")
            .len()
    };
    assert_eq!((clamped(11.09), clamped(11.11)), (0, 1));
}

#[test]
fn a_crystal_is_one_whatever_its_reference() {
    let at = |value: &'static str, library: &'static str| {
        let pads = vec![
            pad("1", (-1.1, 0.85), "XA"),
            pad("2", (1.1, 0.85), "GND"),
            pad("3", (1.1, -0.85), "XB"),
            pad("4", (-1.1, -0.85), "GND"),
        ];
        let circuit = vec![
            pad("1", (0.0, 0.0), "XA"),
            pad("2", (0.0, 1.0), "XB"),
            pad("3", (0.0, 2.0), "GND"),
        ];
        four_layers()
            .plane("GND", "In1.Cu")
            .part("X1", value, (4.0, 20.0), pads)
            .with_footprint(library, "smd")
            .part("U1", "Si5351", (10.0, 20.0), circuit)
    };
    for (value, library) in [("XTAL4PIN", "x"), ("", "GSG-XTAL3.2x2.5mm"), ("25MHz", "x")] {
        let sheet = at(value, library);
        assert_eq!(sheet.finds("esd-protection"), [], "{value} {library}");
        let found = sheet.finds("crystal");
        // 4 mm less 1.1 mm and half of 0.6 mm.
        assert_eq!(
            (found.len(), found[0].value),
            (1, Some(2.6)),
            "{value} {library}"
        );
    }
    assert_eq!(at("", "Connector:SMA").finds("crystal"), []);
    assert_eq!(at("", "Connector:SMA").finds("esd-protection").len(), 2);
}

#[test]
fn a_filter_of_inductor_and_capacitor_is_no_switch_node() {
    let filter = |capacitor: bool, name: &'static str| {
        let sheet = four_layers()
            .part("L1", "33u", (20.0, 10.0), two("+3V3", name))
            .part("U8", "MAX11125", (42.0, 10.0), two(name, "GND"))
            .track(name, "F.Cu", &[(20.5, 10.0), (41.5, 10.0)]);
        let sheet = if capacitor {
            sheet.part("C1", "22u", (24.0, 10.0), two(name, "GND"))
        } else {
            sheet
        };
        sheet.finds("switch-node").len()
    };
    assert_eq!(filter(true, "/analog/ADC3V3"), 0);
    assert_eq!(filter(false, "Net-(L1-Pad2)"), 1);
    assert_eq!(filter(true, "SW"), 1);
}
