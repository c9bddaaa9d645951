//! Closed forms of lines.

use emi::fields::line::{coupled_stripline, microstrip, stripline};

use crate::close;

#[test]
fn limits_of_microstrip_are_those_of_a_wire_and_of_plates() {
    // Narrow: a strip is a wire of a quarter of its width as radius, 60 ln(8h/w).
    let narrow = microstrip(0.01e-3, 1e-3, 0.0, 1.0).unwrap().value;
    close(narrow.impedance_ohm, 59.96 * 800f64.ln(), 0.001);
    // Wide: plates, η0 h/w, with some fringe.
    let wide = microstrip(100e-3, 1e-3, 0.0, 1.0).unwrap().value;
    assert!(wide.impedance_ohm < 3.767 && wide.impedance_ohm > 3.5);
    close(wide.permittivity, 1.0, 1e-12);
}

#[test]
fn effective_permittivity_lies_between_air_and_dielectric() {
    for width in [0.01e-3, 0.3e-3, 2e-3, 50e-3] {
        let line = microstrip(width, 1e-3, 18e-6, 4.3).unwrap().value;
        assert!(1.0 < line.permittivity && line.permittivity < 4.3);
        close(
            line.henry_per_m() / line.farad_per_m(),
            line.impedance_ohm.powi(2),
            1e-12,
        );
    }
}

#[test]
fn thickness_lowers_impedance_steadily() {
    let at = |thickness| {
        microstrip(0.2e-3, 0.2e-3, thickness, 4.3)
            .unwrap()
            .value
            .impedance_ohm
    };
    assert!(at(0.0) > at(1e-9) && at(1e-9) > at(18e-6) && at(18e-6) > at(35e-6));
    close(at(1e-9), at(0.0), 1e-4);
}

#[test]
fn a_thin_stripline_is_exact() {
    // w/b for which k = 1/√2 and K = K′: Z0 √εr = η0/4.
    let width = 2.0 / std::f64::consts::PI * std::f64::consts::SQRT_2.acosh();
    let line = stripline(width * 1e-3, 1e-3, 0.0, 1.0).unwrap().value;
    close(line.impedance_ohm, 376.730_313_668 / 4.0, 1e-12);
    let wide = stripline(5.0, 1e-3, 0.0, 4.0).unwrap().value;
    close(
        wide.impedance_ohm,
        376.730_313_668 / 4.0 / 2.0 / (5000.0 + 0.441),
        1e-5,
    );
}

#[test]
fn a_wide_stripline_keeps_its_impedance_as_it_loses_its_thickness() {
    let thin = stripline(1e-3, 1e-3, 0.0, 4.0).unwrap().value.impedance_ohm;
    let nearly = stripline(1e-3, 1e-3, 1e-9, 4.0)
        .unwrap()
        .value
        .impedance_ohm;
    close(nearly, thin, 0.001);
}

#[test]
fn distant_striplines_do_not_couple() {
    let (even, odd) = coupled_stripline(0.5e-3, 5e-3, 1e-3, 4.0).unwrap().value;
    let single = stripline(0.5e-3, 1e-3, 0.0, 4.0)
        .unwrap()
        .value
        .impedance_ohm;
    close(even.impedance_ohm, single, 1e-5);
    close(odd.impedance_ohm, single, 1e-5);
    let (even, odd) = coupled_stripline(0.5e-3, 0.05e-3, 1e-3, 4.0).unwrap().value;
    assert!(odd.impedance_ohm < 0.7 * single && single < even.impedance_ohm);
}

#[test]
fn what_is_outside_of_a_range_is_said() {
    let estimate = microstrip(1e-6, 1e-3, 35e-6, 4.3).unwrap();
    let quantities: Vec<_> = estimate
        .outside
        .iter()
        .map(|excess| excess.quantity)
        .collect();
    assert_eq!(quantities, ["width / height", "thickness / width"]);
    assert!(estimate.outside_validity());
    assert!(
        stripline(0.1e-3, 1e-3, 35e-6, 4.3)
            .unwrap()
            .outside_validity()
    );
    assert!(
        !stripline(0.5e-3, 1e-3, 35e-6, 4.3)
            .unwrap()
            .outside_validity()
    );
}

#[test]
fn a_refusal_says_what_to_give() {
    let error = microstrip(f64::NAN, 1e-3, 0.0, 4.3).unwrap_err();
    assert_eq!(
        error.to_string(),
        "width (m) is NaN; give a number from 0.00000001 to 10"
    );
    let error = microstrip(1e-3, 1e-3, 0.0, 0.5).unwrap_err();
    assert_eq!(error.quantity, "relative permittivity");
}
