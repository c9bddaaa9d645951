//! Resonances, inductances and crosstalk in closed form.

use emi::fields::crosstalk::{backward, saturation_m};
use emi::fields::inductance::{of_via_pair, over_plane};
use emi::fields::resonance::{Ends, cable, plane_modes, stub};

use crate::close;

#[test]
fn cables_resonate_at_quarters_or_halves() {
    let open = cable(1.0, Ends::OneOpen, 400e6).unwrap().value;
    assert_eq!(open.len(), 3);
    close(open[0], 74.948e6, 1e-4);
    close(open[2], 5.0 * 74.948e6, 1e-4);
    let alike = cable(1.0, Ends::Alike, 400e6).unwrap().value;
    close(alike[0], 149.896e6, 1e-4);
    assert_eq!(alike.len(), 2);
}

#[test]
fn stubs_resonate_at_a_quarter() {
    close(stub(25e-3, 4.0).unwrap().value, 299_792_458.0 / 0.2, 1e-12);
    assert!(stub(0.0, 4.0).is_err());
}

/// Open stubs of microstrip on test boards, whose notches were measured with a network analyzer (published with the program
/// gerber2ems): 21.0 mm at 1.91 GHz, 8.35 mm at 5.15 GHz. Both have the same section, of εeff 3.12.
#[test]
fn stubs_resonate_where_a_network_analyzer_saw_it() {
    for (length_mm, computed, measured) in [(21.0, 2.02e9, 1.91e9), (8.35, 5.08e9, 5.15e9)] {
        let found = stub(length_mm * 1e-3, 3.12).unwrap().value;
        close(found, computed, 0.005);
        close(found, measured, 0.06);
    }
}

#[test]
fn modes_of_planes_come_in_order() {
    let modes = plane_modes(0.1, 0.07, 4.0, 3e9).unwrap().value;
    assert_eq!((modes[0].m, modes[0].n), (1, 0));
    close(
        modes[0].frequency_hz,
        299_792_458.0 / (2.0 * 2.0 * 0.1),
        1e-12,
    );
    assert_eq!((modes[1].m, modes[1].n), (0, 1));
    assert_eq!((modes[2].m, modes[2].n), (1, 1));
    close(
        modes[2].frequency_hz,
        modes[0].frequency_hz.hypot(modes[1].frequency_hz),
        1e-12,
    );
    assert!(modes.is_sorted_by(|a, b| a.frequency_hz <= b.frequency_hz));
    assert!(modes.iter().all(|mode| mode.frequency_hz <= 3e9));
}

#[test]
fn very_many_modes_are_cut_and_said() {
    let modes = plane_modes(10.0, 10.0, 4.0, 1e11).unwrap();
    assert_eq!(modes.value.len(), emi::fields::resonance::RESONANCES_MAX);
    assert!(modes.outside_validity());
}

#[test]
fn inductances() {
    // 2 mm of a conductor as wide as it is high: µ0 · 2 mm.
    close(
        over_plane(2e-3, 0.3e-3, 0.3e-3).unwrap().value,
        2.5133e-9,
        1e-4,
    );
    assert!(over_plane(2e-3, 0.1e-3, 0.3e-3).unwrap().outside_validity());
    // Two vias far apart: µ0 h/π ln(2s/d).
    let far = of_via_pair(1e-3, 10e-3, 0.3e-3).unwrap().value;
    close(far, 4e-10 * (20.0f64 / 0.3).ln(), 1e-3);
}

#[test]
fn crosstalk_saturates() {
    let length = saturation_m(1e-9, 4.0).unwrap();
    close(length, 0.5e-9 * 299_792_458.0 / 2.0, 1e-12);
    let at = |length| backward(0.4e-3, 0.2e-3, length, 1e-9, 4.0).unwrap().value;
    close(at(10.0 * length), 0.2, 1e-12);
    close(at(0.5 * length), 0.1, 1e-12);
}
