//! Rules about planes and pours: each on a board where it finds something and on one where it does not.

use crate::sheet::{Sheet, four_layers, pad, plate};

#[test]
fn a_layer_of_signals_needs_a_plane_beside_it() {
    let sheet = four_layers().track("SCK", "F.Cu", &[(5.0, 20.0), (55.0, 20.0)]);
    let found = sheet.finds("stackup");
    assert_eq!((found.len(), found[0].layer.as_str()), (1, "F.Cu"));
    assert_eq!(sheet.clone().plane("GND", "In1.Cu").finds("stackup"), []);
    assert_eq!(
        sheet.clone().plane("GND", "In2.Cu").finds("stackup").len(),
        1
    );
    let piece = sheet.fill("GND", "In1.Cu", plate((1.0, 1.0), (20.0, 20.0)));
    assert_eq!(piece.finds("stackup").len(), 1, "a small pour is no plane");
}

pub(crate) const FIVE: &str = "rules: {stitching: {params: {max_spacing_mm: 5}}, edge-stitching: {params: {max_spacing_mm: 5}}}";

/// Two grounds, with vias in a grid.
pub(crate) fn grid(spacing: f64) -> Sheet {
    let mut sheet = four_layers().plane("GND", "In1.Cu").plane("GND", "In2.Cu");
    let steps = |size: f64| {
        let inner = size - 2.0;
        let count = (1..)
            .take_while(|count| f64::from(*count - 1) * spacing < inner)
            .last()
            .unwrap();
        (0..=count).map(move |i| 1.0 + inner * f64::from(i) / f64::from(count))
    };
    for x in steps(60.0) {
        for y in steps(40.0) {
            sheet = sheet.via("GND", (x, y));
        }
    }
    sheet
}

#[test]
fn grounds_are_joined_often_enough() {
    // The middle of a square is farther from its corners than the spacing says: 6.9 mm are allowed, 7.3 not.
    assert_eq!(grid(6.5).finds_with("stitching", FIVE), []);
    let wide = grid(8.9).finds_with("stitching", FIVE);
    assert!(wide.len() > 10, "each square has one: {}", wide.len());
    assert!(
        wide.iter()
            .all(|finding| (5.0..6.4).contains(&finding.value.unwrap()))
    );
    let bare = four_layers().plane("GND", "In1.Cu").plane("GND", "In2.Cu");
    assert_eq!(
        bare.finds_with("stitching", FIVE).len(),
        1,
        "one area, not each place of it"
    );
    assert_eq!(
        four_layers()
            .plane("GND", "In1.Cu")
            .plane("+3V3", "In2.Cu")
            .finds_with("stitching", FIVE),
        []
    );
}

#[test]
fn grounds_are_joined_along_the_edge() {
    assert_eq!(grid(4.5).finds_with("edge-stitching", FIVE), []);
    let bare = four_layers().plane("GND", "In1.Cu").plane("GND", "In2.Cu");
    let found = bare.finds_with("edge-stitching", FIVE);
    assert_eq!((found.len(), found[0].value), (1, Some(200.0)));
    // Without the post in the middle of one side.
    let mut open = grid(4.5);
    open.items.retain(|item| !matches!(item, crate::sheet::Item::Via { at: (x, y), .. } if *y < 2.0 && (20.0..40.0).contains(x)));
    let found = open.finds_with("edge-stitching", FIVE);
    assert_eq!(found.len(), 1);
    assert!(
        (20.0..26.0).contains(&found[0].value.unwrap()),
        "{:?}",
        found[0].value
    );
    assert_eq!(
        four_layers()
            .plane("GND", "In1.Cu")
            .finds_with("edge-stitching", FIVE),
        [],
        "one plane has no slot"
    );
}

#[test]
fn floating_copper_is_found() {
    let pour = |net| four_layers().fill(net, "F.Cu", plate((10.0, 10.0), (12.0, 12.0)));
    let found = pour("GND").finds("copper-island");
    assert_eq!(
        (found.len(), found[0].value, found[0].limit),
        (1, Some(4.0), Some(2.0))
    );
    assert_eq!(
        pour("GND").via("GND", (11.0, 11.0)).finds("copper-island"),
        []
    );
    assert_eq!(
        pour("GND")
            .via("VCC", (11.0, 11.0))
            .finds("copper-island")
            .len(),
        1
    );
    assert_eq!(
        pour("GND")
            .via_between("GND", (11.0, 11.0), ("In2.Cu", "B.Cu"))
            .finds("copper-island")
            .len(),
        1
    );
    let spoke = vec![pad("1", (0.0, 0.0), "GND")];
    assert_eq!(
        pour("GND")
            .part("C1", "", (12.2, 11.0), spoke.clone())
            .finds("copper-island"),
        []
    );
    assert_eq!(
        pour("GND")
            .part("C1", "", (12.4, 11.0), spoke)
            .finds("copper-island")
            .len(),
        1
    );
    assert_eq!(
        pour("GND")
            .track("GND", "F.Cu", &[(11.0, 11.0), (20.0, 11.0)])
            .finds("copper-island"),
        []
    );
    assert_eq!(
        pour("").finds("copper-island")[0].detail,
        "4.0 mm² on F.Cu: it has no net"
    );
    let joined = pour("GND")
        .fill("GND", "F.Cu", plate((12.0, 10.0), (15.0, 12.0)))
        .via("GND", (14.0, 11.0));
    assert_eq!(
        joined.finds("copper-island"),
        [],
        "it touches a piece that is connected"
    );
    let small = four_layers().fill("GND", "F.Cu", plate((10.0, 10.0), (11.0, 11.0)));
    assert_eq!(small.finds("copper-island"), []);
}
