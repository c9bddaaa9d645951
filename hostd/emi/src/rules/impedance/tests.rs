//! Pours, pairs and mask against the solver's own answer for the whole section.

use super::*;
use crate::fields::section::Trace;

const OUTER: Profile = Profile {
    width_m: 0.3e-3,
    thickness_m: 35e-6,
    plane: Side {
        height_m: 0.2e-3,
        permittivity: 4.3,
    },
    other: None,
    is_between: false,
    mask: None,
    pour_m: None,
    mate_m: None,
};

fn solved(profile: Profile) -> Solved {
    let found = profile.solved(&Cache::default(), &|| false);
    found.expect("it is a section").expect("it is a line")
}

#[test]
fn a_pour_on_one_side_is_nearly_that_of_the_whole_section() {
    for (height_m, gap) in [(0.2e-3, 0.1e-3), (0.2e-3, 0.3e-3), (1.5e-3, 0.2e-3)] {
        let profile = Profile {
            plane: Side {
                height_m,
                ..OUTER.plane
            },
            ..OUTER
        };
        let width = profile.width_m;
        let mut section = Section::microstrip(width, height_m, profile.thickness_m, 4.3);
        section.traces.push(Trace {
            left_m: 0.5 * width + gap,
            width_m: 10.0 * (gap + height_m),
        });
        let whole = section.solve().expect("it is a section").value;
        let whole = whole.line(0).expect("there is a trace");
        let mean = solved(Profile {
            pour_m: Some((gap, false)),
            ..profile
        });
        let apart = (mean.ohm / whole.impedance_ohm - 1.0).abs();
        assert!(apart < 0.03, "{height_m} {gap}: {mean:?} {whole:?}");
        let apart = (mean.permittivity / whole.permittivity - 1.0).abs();
        assert!(apart < 0.03, "{height_m} {gap}: {mean:?} {whole:?}");
    }
}

#[test]
fn everything_beside_and_over_a_trace_lowers_its_impedance() {
    let plain = solved(OUTER);
    let one = solved(Profile {
        pour_m: Some((0.15e-3, false)),
        ..OUTER
    });
    let both = solved(Profile {
        pour_m: Some((0.15e-3, true)),
        ..OUTER
    });
    let mask = solved(Profile {
        mask: Some(Side {
            height_m: 20e-6,
            permittivity: 3.5,
        }),
        ..OUTER
    });
    let pair = solved(Profile {
        mate_m: Some(0.15e-3),
        ..OUTER
    });
    assert!(both.ohm < one.ohm && one.ohm < plain.ohm);
    assert!(mask.ohm < plain.ohm && 0.95 * plain.ohm < mask.ohm);
    assert!(pair.ohm < plain.ohm, "odd mode");
    let apart = solved(Profile {
        mate_m: Some(3e-3),
        ..OUTER
    });
    assert!((apart.ohm / plain.ohm - 1.0).abs() < 0.01);
    // Without anything beside it, the closed form says the same.
    let closed = OUTER.in_closed_form().expect("it holds");
    assert!((closed.ohm / plain.ohm - 1.0).abs() < 0.02);
}
