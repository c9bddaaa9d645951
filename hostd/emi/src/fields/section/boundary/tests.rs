//! Capacitances of round conductors, for which there are closed forms.

use std::f64::consts::{PI, TAU};

use super::*;

/// A circle as a polygon of equal area, counter-clockwise.
fn circle(centre: Complex, radius: f64, sides: u32, border: Border) -> Vec<Panel> {
    let step = TAU / f64::from(sides);
    let radius = radius * (step / step.sin()).sqrt();
    let corner = |k: u32| centre + Complex::unit(f64::from(k) * step) * radius;
    (0..sides)
        .map(|k| Panel {
            a: corner(k),
            b: corner(k + 1),
            border,
        })
        .collect()
}

fn face(conductor: usize, outside: f64) -> Border {
    Border::Face { conductor, outside }
}

#[track_caller]
fn close(found: f64, expected: f64, tolerance: f64) {
    let error = found / expected - 1.0;
    assert!(error.abs() < tolerance, "{found} {expected} {error}");
}

#[test]
fn a_coaxial_cable_has_its_capacitance() {
    let mut panels = circle(Complex::ZERO, 1.0, 80, face(0, 2.3));
    panels.extend(circle(Complex::ZERO, 3.5, 80, face(1, 2.3)));
    let found = capacitances(&panels, 1, Planes::None, &|| false)
        .unwrap()
        .loaded[0][0];
    close(found, TAU * 2.3 * constants::ELECTRIC / 3.5f64.ln(), 0.002);
}

#[test]
fn two_layers_of_insulation_are_in_series() {
    let mut panels = circle(Complex::ZERO, 1.0, 240, face(0, 4.0));
    // Borders need more sides than conductors: the field at the middle of a side is not its mean along the arc.
    let border = Border::Dielectrics {
        left: 4.0,
        right: 1.0,
    };
    panels.extend(circle(Complex::ZERO, 2.0, 240, border));
    panels.extend(circle(Complex::ZERO, 3.0, 240, face(1, 1.0)));
    let found = capacitances(&panels, 1, Planes::None, &|| false)
        .unwrap()
        .loaded[0][0];
    let expected = TAU * constants::ELECTRIC / (2f64.ln() / 4.0 + 1.5f64.ln());
    close(found, expected, 0.005);
}

#[test]
fn a_wire_over_a_plane_has_its_capacitance() {
    let panels = circle(Complex::new(0.0, 3.0), 1.0, 80, face(0, 1.0));
    let found = capacitances(&panels, 1, Planes::Below, &|| false)
        .unwrap()
        .loaded[0][0];
    close(found, TAU * constants::ELECTRIC / 3f64.acosh(), 0.002);
}

#[test]
fn a_thin_wire_between_planes_has_its_capacitance() {
    // Exact for a thin wire in the middle: ln(4b/πd).
    let panels = circle(Complex::new(0.0, 5.0), 0.05, 64, face(0, 1.0));
    let found = capacitances(&panels, 1, Planes::Both(10.0), &|| false)
        .unwrap()
        .loaded[0][0];
    let expected = TAU * constants::ELECTRIC / (40.0 / (PI * 0.1)).ln();
    close(found, expected, 0.001);
}

#[test]
fn the_matrix_is_symmetric_and_its_sums_are_positive() {
    let mut panels = circle(Complex::new(-1.5, 2.0), 1.0, 64, face(0, 1.0));
    panels.extend(circle(Complex::new(1.2, 1.5), 0.7, 64, face(1, 1.0)));
    let c = capacitances(&panels, 2, Planes::Below, &|| false)
        .unwrap()
        .loaded;
    close(c[0][1], c[1][0], 0.003);
    assert!(c[0][1] < 0.0 && c[0][0] + c[0][1] > 0.0 && c[1][1] + c[1][0] > 0.0);
}
