//! The two-dimensional solver against exact and published solutions.

use emi::fields::line::{self, Line, coupled_stripline, microstrip, stripline};
use emi::fields::section::{Above, Cache, PairImpedance, Section, SectionError, Trace};

use crate::close;

fn single(section: &Section) -> Line {
    section.solve().unwrap().value.line(0).unwrap()
}

fn pair(section: &Section) -> PairImpedance {
    section.solve().unwrap().value.pair(0, 1).unwrap()
}

#[test]
fn thin_striplines_are_exact_to_a_tenth_of_a_per_cent() {
    for width in [0.02, 0.1, 0.35, 1.0, 3.0, 20.0] {
        let exact = stripline(width * 1e-3, 1e-3, 0.0, 3.7).unwrap().value;
        let found = single(&Section::stripline(width * 1e-3, 1e-3, 0.0, 3.7));
        close(found.impedance_ohm, exact.impedance_ohm, 0.001);
        close(found.permittivity, 3.7, 1e-6);
    }
}

#[test]
fn coupled_thin_striplines_are_exact_to_a_third_of_a_per_cent() {
    for width in [0.1, 0.4, 1.0] {
        for gap in [0.02, 0.1, 0.5, 2.0] {
            let (even, odd) = coupled_stripline(width * 1e-3, gap * 1e-3, 1e-3, 4.2)
                .unwrap()
                .value;
            let section = Section::stripline(width * 1e-3, 1e-3, 0.0, 4.2);
            let found = pair(&section.with_neighbour(gap * 1e-3));
            close(found.even.impedance_ohm, even.impedance_ohm, 0.003);
            close(found.odd.impedance_ohm, odd.impedance_ohm, 0.003);
        }
    }
}

#[test]
fn thick_striplines_agree_with_cohn_where_his_formula_holds() {
    for width in [0.6, 1.0, 3.0] {
        for thickness in [0.02, 0.1, 0.25] {
            let (w, t) = (width * 1e-3, thickness * 1e-3);
            let expected = stripline(w, 1e-3, t, 4.0).unwrap().value.impedance_ohm;
            let found = single(&Section::stripline(w, 1e-3, t, 4.0)).impedance_ohm;
            close(found, expected, 0.003);
        }
    }
}

#[test]
fn microstrips_agree_with_hammerstad_and_jensen() {
    for permittivity in [1.0, 2.2, 4.3, 10.0] {
        for width in [0.1, 0.5, 1.0, 3.0, 10.0] {
            for thickness in [0.0, 0.005, 0.02, 0.1] {
                let (w, t) = (width * 1e-3, thickness * 1e-3);
                let expected = microstrip(w, 1e-3, t, permittivity).unwrap();
                if expected.outside_validity() {
                    continue;
                }
                let found = single(&Section::microstrip(w, 1e-3, t, permittivity));
                close(found.impedance_ohm, expected.value.impedance_ohm, 0.01);
                close(found.permittivity, expected.value.permittivity, 0.015);
            }
        }
    }
}

/// K(k)/K(k′) by the same means as the crate, written out again.
fn elliptic_ratio(k: f64) -> f64 {
    let mean = |mut b: f64| {
        let mut a = 1.0f64;
        for _ in 0..30 {
            (a, b) = (0.5 * (a + b), (a * b).sqrt());
        }
        a
    };
    mean(k) / mean((1.0 - k * k).sqrt())
}

#[test]
fn coplanar_lines_far_from_a_plane_are_exact() {
    // Wen 1969: C = 2 ε0 (1 + εr) K(k)/K(k′), k = w/(w + 2s), between wide grounds on a thick dielectric.
    for (width, gap) in [(0.3e-3, 0.15e-3), (0.2e-3, 0.4e-3), (0.5e-3, 0.1e-3)] {
        let ratio = elliptic_ratio(width / (width + 2.0 * gap));
        let section = Section {
            coplanar_gap_m: Some(gap),
            ..Section::microstrip(width, 5e-3, 0.0, 4.3)
        };
        let found = single(&section);
        let expected = 0.25 * 376.730_313_668 / (ratio * 2.65f64.sqrt());
        close(found.impedance_ohm, expected, 0.01);
        close(found.permittivity, 2.65, 0.01);
    }
}

#[test]
fn a_stripline_of_two_dielectrics_lies_between_those_of_one() {
    let of = |below: f64, above: f64| {
        single(&Section {
            above: Above::Plane {
                height_m: 0.3e-3,
                permittivity: above,
            },
            ..Section::microstrip(0.2e-3, 0.2e-3, 35e-6, below)
        })
    };
    let (low, high, mixed) = (of(3.5, 3.5), of(4.5, 4.5), of(3.5, 4.5));
    close(low.permittivity, 3.5, 1e-6);
    assert!(high.impedance_ohm < mixed.impedance_ohm && mixed.impedance_ohm < low.impedance_ohm);
    assert!(3.5 < mixed.permittivity && mixed.permittivity < 4.5);
    // Nearly equal dielectrics must not lose digits: the border's equation divides by their difference.
    close(
        of(4.0, 4.0001).impedance_ohm,
        of(4.0, 4.0).impedance_ohm,
        1e-3,
    );
}

#[test]
fn mask_lowers_impedance_by_some_per_cent() {
    let bare = Section::microstrip(0.2e-3, 0.12e-3, 35e-6, 4.2);
    let with = |thickness_m, permittivity| {
        single(&Section {
            above: Above::Mask {
                thickness_m,
                permittivity,
            },
            ..bare.clone()
        })
    };
    let without = single(&bare).impedance_ohm;
    let usual = with(20e-6, 3.5).impedance_ohm;
    assert!(
        usual < 0.99 * without && 0.93 * without < usual,
        "{usual} {without}"
    );
    assert!(with(40e-6, 3.5).impedance_ohm < usual);
    close(with(20e-6, 1.0001).impedance_ohm, without, 0.002);
}

#[test]
fn thick_mask_approaches_a_trace_in_one_dielectric() {
    // Mask as thick as fields reach: everything is dielectric, εeff = εr.
    let section = Section {
        above: Above::Mask {
            thickness_m: 4e-3,
            permittivity: 4.0,
        },
        ..Section::microstrip(0.2e-3, 0.1e-3, 20e-6, 4.0)
    };
    close(single(&section).permittivity, 4.0, 0.01);
}

#[test]
fn masked_pairs_solve_with_and_without_room_in_their_gap() {
    let mut last = 0.0;
    for gap in [0.03e-3, 0.1e-3, 0.2e-3, 0.6e-3] {
        let section = Section {
            above: Above::Mask {
                thickness_m: 25e-6,
                permittivity: 3.5,
            },
            ..Section::microstrip(0.15e-3, 0.1e-3, 35e-6, 4.2).with_neighbour(gap)
        };
        let found = pair(&section).differential_ohm;
        assert!(found > last, "{gap}: {found}");
        last = found;
    }
}

#[test]
fn distant_traces_are_alone() {
    let one = single(&Section::microstrip(0.2e-3, 0.2e-3, 35e-6, 4.3));
    let far = pair(&Section::microstrip(0.2e-3, 0.2e-3, 35e-6, 4.3).with_neighbour(8e-3));
    close(far.differential_ohm, 2.0 * one.impedance_ohm, 0.003);
    close(far.common_ohm, 0.5 * one.impedance_ohm, 0.003);
}

#[test]
fn crosstalk_of_the_solver_stays_below_the_rule_of_thumb() {
    for gap in [0.1e-3, 0.2e-3, 0.4e-3, 1e-3] {
        let section = Section::microstrip(0.2e-3, 0.15e-3, 35e-6, 4.3).with_neighbour(gap);
        let solved = section
            .solve()
            .unwrap()
            .value
            .backward_coupling(0, 1)
            .unwrap();
        let bound = emi::fields::crosstalk::backward(0.2e-3 + gap, 0.15e-3, 1.0, 1e-9, 3.2);
        let bound = bound.unwrap().value;
        assert!(0.0 < solved && solved < bound, "{gap}: {solved} {bound}");
    }
}

#[test]
fn mirrored_sections_are_equal() {
    let section = |widths: [f64; 2]| Section {
        traces: vec![
            Trace {
                left_m: 0.0,
                width_m: widths[0],
            },
            Trace {
                left_m: widths[0] + 0.1e-3,
                width_m: widths[1],
            },
        ],
        ..Section::microstrip(0.1e-3, 0.2e-3, 35e-6, 4.3)
    };
    let a = section([0.1e-3, 0.4e-3]).solve().unwrap().value;
    let b = section([0.4e-3, 0.1e-3]).solve().unwrap().value;
    close(a.capacitance[0][0], b.capacitance[1][1], 1e-9);
    close(a.inductance[0][1], b.inductance[1][0], 1e-9);
    close(
        a.line(0).unwrap().impedance_ohm,
        b.line(1).unwrap().impedance_ohm,
        1e-9,
    );
}

#[test]
fn halves_of_symmetric_sections_stand_for_the_whole() {
    // A width that is off by a millionth is solved without mirror images.
    let mask = Above::Mask {
        thickness_m: 20e-6,
        permittivity: 3.5,
    };
    let plane = Above::Plane {
        height_m: 0.2e-3,
        permittivity: 3.8,
    };
    for above in [Above::Air, mask, plane] {
        for (thickness_m, gap) in [(35e-6, 0.15e-3), (0.0, 0.15e-3), (35e-6, 0.03e-3)] {
            let even = Section {
                above,
                thickness_m,
                coplanar_gap_m: Some(0.25e-3),
                ..Section::microstrip(0.2e-3, 0.12e-3, 0.0, 4.3).with_neighbour(gap)
            };
            let mut uneven = even.clone();
            uneven.traces[1].width_m *= 1.000_001;
            let (half, whole) = (pair(&even), pair(&uneven));
            close(half.even.impedance_ohm, whole.even.impedance_ohm, 1e-5);
            close(half.odd.impedance_ohm, whole.odd.impedance_ohm, 1e-5);
            close(half.odd.permittivity, whole.odd.permittivity, 1e-5);
        }
    }
}

#[test]
fn impedance_depends_on_ratios_alone() {
    let at = |scale: f64| {
        single(&Section::microstrip(
            0.3 * scale,
            0.2 * scale,
            0.02 * scale,
            4.3,
        ))
        .impedance_ohm
    };
    for scale in [1e-6, 1e-3, 0.4] {
        close(at(scale), at(1e-4), 1e-7);
    }
}

#[test]
fn the_cache_answers_like_the_solver_whatever_the_order() {
    let cache = Cache::default();
    let section = Section::microstrip(0.2e-3, 0.15e-3, 35e-6, 4.3);
    let moved = Section {
        traces: vec![Trace {
            left_m: 0.3,
            width_m: 0.200_000_3e-3,
        }],
        ..section.clone()
    };
    let first = cache.solve(&section).unwrap();
    let second = cache.solve(&moved).unwrap();
    assert_eq!(first.value, second.value);
    assert_eq!(cache.len(), 1);
    let direct = single(&section).impedance_ohm;
    close(first.value.line(0).unwrap().impedance_ohm, direct, 1e-9);
    let none = Section {
        traces: vec![],
        ..section
    };
    assert_eq!(
        cache.solve(&none).unwrap_err(),
        SectionError::TraceCount { count: 0 }
    );
}

#[test]
fn refusals_say_what_is_wrong() {
    let section = Section::microstrip(0.2e-3, 0.15e-3, 35e-6, 4.3);
    let overlapping = section.clone().with_neighbour(-0.05e-3);
    assert_eq!(
        overlapping.solve().unwrap_err(),
        SectionError::Overlap { index: 1 }
    );
    let touching = Section {
        above: Above::Plane {
            height_m: 30e-6,
            permittivity: 4.0,
        },
        ..section.clone()
    };
    assert!(matches!(
        touching.solve(),
        Err(SectionError::Touches { .. })
    ));
    let coarse = Section::microstrip(1.0, 1e-3, 35e-6, 4.3).solve().unwrap();
    assert!(coarse.outside_validity());
    assert!(!section.solve().unwrap().outside_validity());
}

#[test]
fn delay_of_a_stripline_is_that_of_its_dielectric() {
    let delay = line::stripline(0.2e-3, 0.5e-3, 0.0, 4.0)
        .unwrap()
        .value
        .delay_s_per_m();
    close(delay, 2.0 / 299_792_458.0, 1e-12);
}
