//! The odd mode alone against that of the full solution.

use super::*;

#[test]
fn the_odd_mode_alone_is_that_of_the_full_solution() {
    let masked = Above::Mask {
        thickness_m: 20e-6,
        permittivity: 3.5,
    };
    let plane = |permittivity| Above::Plane {
        height_m: 0.3e-3,
        permittivity,
    };
    for above in [Above::Air, masked, plane(4.3), plane(3.1)] {
        for (coplanar_gap_m, thickness_m) in [(None, 35e-6), (Some(0.2e-3), 35e-6), (None, 0.0)] {
            let mut section = Section {
                above,
                coplanar_gap_m,
                ..Section::microstrip(0.2e-3, 0.15e-3, thickness_m, 4.3).with_neighbour(0.1e-3)
            };
            // The last ones are not symmetric.
            for width_m in [0.2e-3, 0.3e-3] {
                section.traces[1].width_m = width_m;
                let full = section.solve().expect("it is a section");
                let odd = full.value.pair(0, 1).expect("there are two traces").odd;
                let alone = section.odd_unless(&|| false).expect("it is a section");
                assert_eq!(alone.outside, full.outside);
                let alone = alone.value.expect("there are two traces");
                let same = |x: f64, y: f64| (x / y - 1.0).abs() < 1e-9;
                assert!(
                    same(alone.impedance_ohm, odd.impedance_ohm)
                        && same(alone.permittivity, odd.permittivity),
                    "{section:?}: {alone:?} {odd:?}"
                );
            }
        }
    }
}

#[test]
fn only_two_traces_have_an_odd_mode() {
    let one = Section::microstrip(0.2e-3, 0.15e-3, 35e-6, 4.3);
    let three = one.clone().with_neighbour(0.1e-3).with_neighbour(0.1e-3);
    for section in [one, three] {
        let odd = section.odd_unless(&|| false).expect("it is a section");
        assert_eq!(odd.value, None);
    }
    let none = Section {
        traces: Vec::new(),
        ..Section::microstrip(0.2e-3, 0.15e-3, 35e-6, 4.3)
    };
    let found = none.odd_unless(&|| false);
    assert_eq!(found, Err(SectionError::TraceCount { count: 0 }));
}
