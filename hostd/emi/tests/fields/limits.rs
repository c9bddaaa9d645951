//! Tables of limits against the texts they come from.

use emi::fields::limits::{Detector, Table, table, tables};

use crate::close;

/// Level of a detector at a frequency in MHz and a distance.
#[track_caller]
fn level(table: &Table, detector: Detector, megahertz: f64, distance: f64) -> f64 {
    let limits = table.limits(megahertz * 1e6, distance).unwrap();
    let found = limits.iter().find(|limit| limit.detector == detector);
    let found = found.unwrap_or_else(|| panic!("{megahertz} MHz has no limit for {detector:?}"));
    assert!(!found.extrapolated);
    found.dbuv_per_m
}

#[test]
fn every_table_says_where_it_comes_from() {
    assert_eq!(tables().len(), 4);
    for table in tables() {
        assert!(
            !table.sources.is_empty() && table.version >= 1,
            "{}",
            table.id
        );
        assert!(
            table.verified.len() == 10 && !table.status.is_empty(),
            "{}",
            table.id
        );
        let expected = if table.id.starts_with("fcc") {
            "public law"
        } else {
            "secondary sources"
        };
        assert_eq!(table.status, expected);
    }
}

#[test]
fn cispr_32() {
    let b = table("cispr-32-b").unwrap();
    let a = table("cispr-32-a").unwrap();
    for (megahertz, at_10, at_3) in [(30.0, 30.0, 40.0), (229.0, 30.0, 40.0), (231.0, 37.0, 47.0)] {
        assert_eq!(level(b, Detector::QuasiPeak, megahertz, 10.0), at_10);
        assert_eq!(level(b, Detector::QuasiPeak, megahertz, 3.0), at_3);
        assert_eq!(level(a, Detector::QuasiPeak, megahertz, 10.0), at_10 + 10.0);
        assert_eq!(level(a, Detector::QuasiPeak, megahertz, 3.0), at_3 + 10.0);
    }
    for (megahertz, average) in [(1500.0, 50.0), (4000.0, 54.0)] {
        assert_eq!(level(b, Detector::Average, megahertz, 3.0), average);
        assert_eq!(level(b, Detector::Peak, megahertz, 3.0), average + 20.0);
        assert_eq!(level(a, Detector::Average, megahertz, 3.0), average + 6.0);
        assert_eq!(level(a, Detector::Peak, megahertz, 3.0), average + 26.0);
    }
}

#[test]
fn fcc_15_109_in_microvolts() {
    let microvolts = |id: &str, megahertz: f64, distance: f64| {
        let table = table(id).unwrap();
        1e6 * emi::fields::constants::volts_per_m(level(
            table,
            if megahertz > 1000.0 {
                Detector::Average
            } else {
                Detector::QuasiPeak
            },
            megahertz,
            distance,
        ))
    };
    for (megahertz, a, b) in [
        (50.0, 90.0, 100.0),
        (100.0, 150.0, 150.0),
        (500.0, 210.0, 200.0),
        (980.0, 300.0, 500.0),
        (2000.0, 300.0, 500.0),
    ] {
        close(microvolts("fcc-15.109-a", megahertz, 10.0), a, 1e-9);
        close(microvolts("fcc-15.109-b", megahertz, 3.0), b, 1e-9);
    }
}

#[test]
fn the_stricter_limit_counts_at_edges() {
    let b = table("cispr-32-b").unwrap();
    assert_eq!(level(b, Detector::QuasiPeak, 230.0, 3.0), 40.0);
    assert_eq!(level(b, Detector::Average, 3000.0, 3.0), 50.0);
    let fcc = table("fcc-15.109-b").unwrap();
    assert!((level(fcc, Detector::QuasiPeak, 960.0, 3.0) - 46.02).abs() < 0.01);
    assert!((level(fcc, Detector::QuasiPeak, 88.0, 3.0) - 40.0).abs() < 1e-9);
}

#[test]
fn limits_at_other_distances_are_marked() {
    let fcc = table("fcc-15.109-b").unwrap();
    // 15.109(g)(2): 150 µV/m at 10 m above 1 GHz.
    let limits = fcc.limits(2e9, 10.0).unwrap();
    assert!(
        limits
            .iter()
            .all(|limit| limit.extrapolated && limit.given_at_m == 3.0)
    );
    let average = limits
        .iter()
        .find(|limit| limit.detector == Detector::Average)
        .unwrap();
    close(
        emi::fields::constants::volts_per_m(average.dbuv_per_m),
        150e-6,
        1e-6,
    );
    // CISPR has limits of its own at 3 and at 10 m: the nearer one is moved.
    let cispr = table("cispr-32-b").unwrap();
    let limits = cispr.limits(100e6, 5.0).unwrap();
    assert_eq!((limits.len(), limits[0].given_at_m), (1, 3.0));
    close(
        limits[0].dbuv_per_m,
        40.0 - 20.0 * (5.0f64 / 3.0).log10(),
        1e-9,
    );
}

#[test]
fn there_is_no_limit_outside_of_the_bands() {
    for table in tables() {
        assert!(table.limits(29e6, 3.0).unwrap().is_empty());
        assert!(table.limits(50e9, 3.0).unwrap().is_empty());
    }
    assert!(
        table("cispr-32-b")
            .unwrap()
            .limits(6.1e9, 3.0)
            .unwrap()
            .is_empty()
    );
    assert!(table("cispr-32-c").is_none());
}

#[test]
fn highest_frequencies_of_15_33() {
    let fcc = table("fcc-15.109-b").unwrap();
    for (clock, highest) in [
        (1e6, 30e6),
        (25e6, 1e9),
        (200e6, 2e9),
        (600e6, 5e9),
        (1.5e9, 7.5e9),
        (20e9, 40e9),
    ] {
        assert_eq!(fcc.highest_frequency(clock).unwrap(), highest, "{clock}");
    }
    assert_eq!(
        table("cispr-32-b")
            .unwrap()
            .highest_frequency(25e6)
            .unwrap(),
        6e9
    );
}
