//! Sentences for a fix, field by field.

use crate::gps::fix::{Fix, Quality};
use crate::gps::nmea::{Sentence, epoch};
use crate::gps::sky::Sky;

/// 2026-10-08T12:34:56.
const UTC_US: i64 = 1_791_462_896_000_000;

fn fix() -> Fix {
    Fix {
        latitude_deg: 50.846_612_3,
        longitude_deg: 4.352_798_7,
        altitude_m: 13.25,
        speed_kmh: 36.0,
        course_deg: 90.5,
        satellites: 9,
        hdop: 1.5,
        quality: Quality::Autonomous,
        utc_us: UTC_US,
    }
}

fn lines(fix: &Fix) -> Vec<String> {
    let text = epoch(fix, &Sentence::ALL, &Sky::new(1));
    assert!(text.ends_with("\r\n"));
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for line in &lines {
        let (body, sum) = line.strip_prefix('$').unwrap().split_once('*').unwrap();
        let wanted = body.bytes().fold(0, |sum, byte| sum ^ byte);
        assert_eq!(format!("{wanted:02X}"), sum);
    }
    lines
}

#[test]
fn a_fix_fills_every_sentence() {
    let lines = lines(&fix());
    let bodies: Vec<&str> = lines.iter().map(|line| &line[1..line.len() - 3]).collect();
    assert_eq!(
        bodies[0],
        "GPRMC,123456.00,A,5050.79674,N,00421.16792,E,19.438,90.50,081026,,,A"
    );
    assert_eq!(bodies[1], "GPVTG,90.50,T,,M,19.438,N,36.000,K,A");
    assert_eq!(
        bodies[2],
        "GPGGA,123456.00,5050.79674,N,00421.16792,E,1,09,1.50,13.2,M,0.0,M,,"
    );
    let gsa: Vec<&str> = bodies[3].split(',').collect();
    assert_eq!(gsa[..3], ["GPGSA", "A", "3"]);
    assert_eq!(gsa[3..15].iter().filter(|prn| !prn.is_empty()).count(), 9);
    assert_eq!(gsa[15..], ["1.95", "1.50", "1.35", "1"]);
    // Eleven in view: sentences with four, four and three.
    assert!(bodies[4].starts_with("GPGSV,3,1,11,"));
    assert_eq!(bodies[4].split(',').count(), 4 + 16 + 1);
    assert_eq!(bodies[6].split(',').count(), 4 + 12 + 1);
    assert!(bodies[6].ends_with(",1"));
    assert_eq!(bodies[7], "GPGLL,5050.79674,N,00421.16792,E,123456.00,A,A");
    assert_eq!(bodies.len(), 8);
}

#[test]
fn without_a_fix_there_is_no_position_speed_or_course() {
    let lines = lines(&Fix {
        quality: Quality::None,
        ..fix()
    });
    assert!(lines[0].starts_with("$GPRMC,123456.00,V,,,,,,,081026,,,N*"));
    assert!(lines[1].starts_with("$GPVTG,,T,,M,,N,,K,N*"));
    assert!(lines[2].starts_with("$GPGGA,123456.00,,,,,0,09,99.99,13.2,M,0.0,M,,*"));
    assert!(lines[3].starts_with("$GPGSA,A,1,,,,,,,,,,,,,99.99,99.99,99.99,1*"));
    assert!(lines[4].starts_with("$GPGSV,1,1,04,"));
    let signals: Vec<&str> = lines[4].split(',').collect();
    assert!([7, 11, 15, 19].iter().all(|at| signals[*at].is_empty()));
    assert!(lines[5].starts_with("$GPGLL,,,,,123456.00,V,N*"));
}

#[test]
fn south_and_west_and_rounding_to_the_next_degree() {
    let lines = lines(&Fix {
        latitude_deg: -33.999_999_999,
        longitude_deg: -0.5,
        quality: Quality::Differential,
        ..fix()
    });
    assert!(lines[0].contains(",A,3400.00000,S,00030.00000,W,"));
    assert!(lines[2].contains(",W,2,09,"));
}

#[test]
fn it_moves_along_its_course() {
    let hour = 3_600_000_000;
    let north = Fix {
        course_deg: 0.0,
        speed_kmh: 111.195,
        ..fix()
    };
    let after = north.after(hour);
    assert!((after.latitude_deg - north.latitude_deg - 1.0).abs() < 1e-4);
    assert!((after.longitude_deg - north.longitude_deg).abs() < 1e-9);
    assert_eq!(after.utc_us, UTC_US + hour);
    // Along a parallel, a degree is shorter by the cosine of the latitude.
    let east = Fix {
        course_deg: 90.0,
        latitude_deg: 60.0,
        longitude_deg: 179.5,
        ..north
    };
    let after = east.after(hour);
    assert!((after.latitude_deg - 60.0).abs() < 1e-9);
    assert!((after.longitude_deg + 178.5).abs() < 1e-3, "{after:?}");
    // The result is the same in one step or in many.
    let slanted = Fix {
        course_deg: 37.0,
        ..north
    };
    let many = (0..3_600).fold(slanted, |fix, _| fix.after(1_000_000));
    let one = slanted.after(hour);
    assert!((many.latitude_deg - one.latitude_deg).abs() < 1e-9);
    assert!((many.longitude_deg - one.longitude_deg).abs() < 1e-9);
    let pole = north.after(1_000 * hour);
    assert!((pole.latitude_deg - 90.0).abs() < 1e-9);
}

#[test]
fn the_sky_has_twelve_different_satellites_and_follows_the_seed() {
    for seed in 0..50 {
        let sky = Sky::new(seed);
        let mut prns: Vec<u64> = (0..12).map(|place| sky.satellite(place).prn).collect();
        prns.sort_unstable();
        prns.dedup();
        assert_eq!(prns.len(), 12);
        assert!(prns.iter().all(|prn| (1..=32).contains(prn)));
    }
    let text = |seed| epoch(&fix(), &[Sentence::Gsv], &Sky::new(seed));
    assert_eq!(text(4), text(4));
    assert_ne!(text(4), text(5));
}
