//! Rules about parts: each on a board where it finds something and on one where it does not.

use emi::Severity;

use crate::sheet::{Pad, Sheet, four_layers, pad, plate, plated};

pub(crate) fn two(a: &'static str, b: &'static str) -> Vec<Pad> {
    vec![pad("1", (-0.5, 0.0), a), pad("2", (0.5, 0.0), b)]
}

/// A circuit in the middle and a capacitor that far from its supply pin.
pub(crate) fn decoupled(distance: f64) -> Sheet {
    let sheet = four_layers().plane("GND", "In1.Cu");
    let pins = vec![
        pad("1", (0.0, 0.0), "+3V3"),
        pad("2", (-2.0, 0.0), "GND"),
        pad("3", (-4.0, 0.0), "SDA"),
    ];
    let sheet = sheet
        .part("U1", "MCU", (20.0, 20.0), pins)
        .via("GND", (20.5 + 0.6 + distance, 21.0));
    // From edge to edge: both pads are 0.6 mm wide.
    sheet.part(
        "C1",
        "100n",
        (20.0 + 0.6 + distance + 0.5, 20.0),
        two("+3V3", "GND"),
    )
}

#[test]
fn supply_pins_need_a_capacitor_nearby() {
    assert_eq!(decoupled(2.5).finds("decoupling"), []);
    let found = decoupled(5.0).finds("decoupling");
    assert_eq!(
        (found.len(), found[0].severity, found[0].value),
        (1, Severity::Warning, Some(5.0))
    );
    assert_eq!(found[0].at.footprint.as_deref(), Some("U1"));
    assert!(
        found[0]
            .detail
            .ends_with("the way there and back is about 2.1 nH"),
        "{}",
        found[0].detail
    );
    assert_eq!(
        decoupled(12.0).finds("decoupling")[0].severity,
        Severity::Critical
    );
    let lone = four_layers().part("U1", "", (20.0, 20.0), two("+3V3", "GND"));
    assert_eq!(
        lone.finds("decoupling")[0].detail,
        "pin 1 has no capacitor from +3V3 to ground within 25 mm"
    );
}

#[test]
fn capacitors_need_a_via_to_ground() {
    let capacitor = |via: f64| {
        let sheet = four_layers().plane("GND", "In1.Cu").part(
            "C1",
            "100n",
            (20.0, 20.0),
            two("+3V3", "GND"),
        );
        sheet
            .via("GND", (20.8 + 0.3 + via, 20.0))
            .finds("decoupling")
    };
    assert_eq!(capacitor(0.8), []);
    assert_eq!(capacitor(1.2)[0].title, "A capacitor has no via to ground");
    let sheet =
        four_layers()
            .plane("GND", "In1.Cu")
            .part("C1", "100n", (20.0, 20.0), two("+3V3", "GND"));
    let poured = sheet.fill("GND", "F.Cu", plate((20.1, 19.0), (25.0, 21.0)));
    assert_eq!(poured.finds("decoupling"), []);
}

#[test]
fn crystals_keep_away_from_edges_connectors_and_signals() {
    let at = |x: f64, y: f64| four_layers().part("Y1", "8MHz", (x, y), two("XIN", "XOUT"));
    let titles = |sheet: Sheet| -> Vec<String> {
        sheet
            .finds("crystal")
            .into_iter()
            .map(|f| f.title)
            .collect()
    };
    assert_eq!(titles(at(30.0, 20.0)), [""; 0]);
    assert_eq!(titles(at(30.0, 3.0)), ["A crystal is near the edge"]);
    let jack = vec![pad("1", (0.0, 0.0), "A"), pad("2", (0.0, 2.0), "B")];
    assert_eq!(
        titles(at(30.0, 20.0).part("J1", "", (38.0, 20.0), jack.clone())),
        ["A crystal is near a connector"]
    );
    assert_eq!(
        titles(at(30.0, 20.0).part("J1", "", (45.0, 20.0), jack)),
        [""; 0]
    );
    let under = |layer, net| at(30.0, 20.0).track(net, layer, &[(30.0, 10.0), (30.0, 30.0)]);
    assert_eq!(
        titles(under("F.Cu", "SDA")),
        ["A signal runs under a crystal"]
    );
    assert_eq!(
        titles(under("In1.Cu", "SDA")),
        ["A signal runs under a crystal"]
    );
    assert_eq!(
        titles(under("In1.Cu", "SDA").plane("GND", "In1.Cu")),
        [""; 0],
        "a plane shields it"
    );
    assert_eq!(titles(under("F.Cu", "XIN")), [""; 0]);
    assert_eq!(titles(under("In2.Cu", "SDA")), [""; 0]);
    assert_eq!(
        titles(at(30.0, 20.0).track("SDA", "F.Cu", &[(20.0, 18.0), (40.0, 18.0)])),
        [""; 0]
    );
}

#[test]
fn switch_nodes_are_small() {
    let node = |name, side: f64| {
        let sheet = four_layers().part("U1", "", (20.0, 20.0), two(name, "VIN"));
        let sheet = sheet.part("L1", "10u", (25.0, 20.0), two(name, "+5V"));
        sheet.fill(
            name,
            "F.Cu",
            plate((19.0, 19.0), (19.0 + side, 19.0 + side)),
        )
    };
    let found = node("SW", 7.0).finds("switch-node");
    assert_eq!(
        (found.len(), found[0].value, found[0].limit),
        (1, Some(49.96), Some(30.0))
    );
    assert_eq!(
        node("Net-(L1-Pad1)", 7.0).finds("switch-node").len(),
        1,
        "told by its inductor"
    );
    assert_eq!(node("SW", 4.0).finds("switch-node"), []);
    let long = node("SW", 1.0).track("SW", "F.Cu", &[(20.0, 20.0), (40.0, 20.0)]);
    assert_eq!(long.finds("switch-node")[0].value, Some(20.0));
    let filter = four_layers()
        .part("U1", "", (20.0, 20.0), two("RF", "GND"))
        .part("L1", "", (25.0, 20.0), two("RF", "ANT"));
    assert_eq!(
        filter
            .fill("RF", "F.Cu", plate((19.0, 19.0), (29.0, 29.0)))
            .finds("switch-node"),
        []
    );
}

/// A connector at the left edge or in the middle.
pub(crate) fn jack(x: f64) -> Sheet {
    let pins = vec![
        plated("1", (0.0, 0.0), "VBUS"),
        plated("2", (0.0, 3.0), "GND"),
        plated("3", (0.0, 6.0), "SDA"),
    ];
    let circuit = vec![pad("1", (0.0, 0.0), "SDA"), pad("2", (2.0, 0.0), "GND")];
    four_layers()
        .part("J1", "", (x, 15.0), pins)
        .part("U1", "", (45.0, 20.0), circuit)
}

#[test]
fn supplies_are_filtered_where_they_come_in() {
    assert_eq!(
        jack(3.0).finds("input-filter")[0].detail,
        "VBUS has no capacitor to ground"
    );
    assert_eq!(
        jack(30.0).finds("input-filter"),
        [],
        "no cable is plugged in there"
    );
    let all = "rules: {input-filter: {params: {edge_mm: 0}}}";
    assert_eq!(jack(30.0).finds_with("input-filter", all).len(), 1);
    let near = |x| jack(3.0).part("C1", "10u", (x, 15.0), two("VBUS", "GND"));
    assert_eq!(near(10.0).finds("input-filter"), []);
    assert!(near(30.0).finds("input-filter")[0].value.unwrap() > 15.0);
    let fused = jack(3.0).part("F1", "1A", (8.0, 15.0), two("VBUS", "+5V"));
    assert_eq!(fused.clone().finds("input-filter").len(), 1);
    assert_eq!(
        fused
            .part("C1", "10u", (12.0, 15.0), two("+5V", "GND"))
            .finds("input-filter"),
        []
    );
}

#[test]
fn lines_to_connectors_are_clamped() {
    assert_eq!(
        jack(3.0).finds("esd-protection")[0].title,
        "A line to a connector has no clamp"
    );
    assert_eq!(jack(30.0).finds("esd-protection"), []);
    let clamp = |reference, value, x| {
        let sheet = jack(3.0).part(reference, value, (x, 21.0), two("SDA", "GND"));
        sheet
            .plane("GND", "In1.Cu")
            .via("GND", (x + 1.0, 21.0))
            .finds("esd-protection")
    };
    assert_eq!(clamp("D1", "", 8.0), []);
    assert_eq!(clamp("U9", "USBLC6-2", 8.0), []);
    assert_eq!(clamp("R1", "10k", 8.0).len(), 1);
    assert_eq!(
        clamp("D1", "", 30.0)[0].title,
        "A clamp is far from its connector"
    );
    let loose = jack(3.0)
        .part("D1", "", (8.0, 21.0), two("SDA", "GND"))
        .finds("esd-protection");
    assert_eq!(loose[0].title, "A clamp has no short way to ground");
}

#[test]
fn shells_and_enclosures_are_connected() {
    let shell = |net| {
        let pins = vec![
            plated("1", (0.0, 0.0), "VBUS"),
            plated("SH", (0.0, 3.0), net),
        ];
        four_layers()
            .part("J1", "", (3.0, 15.0), pins)
            .finds("connector-shield")
    };
    assert_eq!(
        (
            shell("").len(),
            shell("unconnected-(J1-PadSH)").len(),
            shell("GND").len()
        ),
        (1, 1, 0)
    );
    let hole = |net| four_layers().part("H1", "", (5.0, 5.0), vec![plated("1", (0.0, 0.0), net)]);
    assert_eq!(
        (
            hole("").finds("connector-shield").len(),
            hole("GND").finds("connector-shield").len()
        ),
        (1, 0)
    );
    let enclosure = hole("CHASSIS").part("U1", "", (20.0, 20.0), two("GND", "SDA"));
    assert_eq!(enclosure.clone().finds("connector-shield").len(), 1);
    assert_eq!(
        enclosure
            .part("R1", "1M", (9.0, 5.0), two("CHASSIS", "GND"))
            .finds("connector-shield"),
        []
    );
}

#[test]
fn reset_lines_have_a_capacitor() {
    let reset = |name| {
        let sheet = four_layers().part("U1", "", (20.0, 20.0), two(name, "GND"));
        sheet.part("R1", "10k", (25.0, 20.0), two(name, "+3V3"))
    };
    let found = reset("NRST").finds("reset-filter");
    assert_eq!(
        (found.len(), found[0].detail.as_str()),
        (1, "only a pull-up holds it at U1")
    );
    let with = |x| {
        reset("NRST")
            .part("C1", "100n", (x, 20.0), two("NRST", "GND"))
            .finds("reset-filter")
    };
    assert_eq!((with(27.0).len(), with(45.0).len()), (0, 1));
    assert_eq!(reset("PRESET1").finds("reset-filter"), []);
    let driven = four_layers().part("U1", "", (20.0, 20.0), two("NRST", "GND"));
    assert_eq!(driven.finds("reset-filter"), []);
}
