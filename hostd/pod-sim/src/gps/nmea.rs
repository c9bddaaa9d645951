//! NMEA 0183 sentences of a fix, talker GP.

use std::fmt::Write as _;

use super::fix::{Fix, Quality};
use super::sky::Sky;
use super::utc::civil;

/// km/h in a knot.
const KNOT_KMH: f64 = 1.852;

/// The precision that a receiver without a fix reports.
const NO_DOP: f64 = 99.99;

/// The sentences, in the order in which they are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sentence {
    Rmc,
    Vtg,
    Gga,
    Gsa,
    Gsv,
    Gll,
}

impl Sentence {
    pub(crate) const ALL: [Self; 6] = [
        Self::Rmc,
        Self::Vtg,
        Self::Gga,
        Self::Gsa,
        Self::Gsv,
        Self::Gll,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Rmc => "RMC",
            Self::Vtg => "VTG",
            Self::Gga => "GGA",
            Self::Gsa => "GSA",
            Self::Gsv => "GSV",
            Self::Gll => "GLL",
        }
    }
}

/// The text of one epoch.
pub(crate) fn epoch(fix: &Fix, sentences: &[Sentence], sky: &Sky) -> String {
    let mut text = String::new();
    for sentence in sentences {
        match sentence {
            Sentence::Rmc => finish(&mut text, &rmc(fix)),
            Sentence::Vtg => finish(&mut text, &vtg(fix)),
            Sentence::Gga => finish(&mut text, &gga(fix)),
            Sentence::Gsa => finish(&mut text, &gsa(fix, sky)),
            Sentence::Gsv => {
                for body in gsv(fix, sky) {
                    finish(&mut text, &body);
                }
            }
            Sentence::Gll => finish(&mut text, &gll(fix)),
        }
    }
    text
}

/// Adds a sentence: the body between `$` and `*`, its checksum, and the line end.
fn finish(text: &mut String, body: &str) {
    let sum = body.bytes().fold(0, |sum, byte| sum ^ byte);
    let written = write!(text, "${body}*{sum:02X}\r\n");
    debug_assert!(written.is_ok(), "writing to a string never fails");
}

fn rmc(fix: &Fix) -> String {
    let date = civil(fix.utc_us);
    format!(
        "GPRMC,{},{},{},{},{},{:02}{:02}{:02},,,{}",
        time(fix),
        validity(fix),
        position(fix),
        speed(fix, fix.speed_kmh / KNOT_KMH),
        course(fix),
        date.day(),
        date.month(),
        date.year() % 100,
        fix.quality.mode()
    )
}

fn vtg(fix: &Fix) -> String {
    format!(
        "GPVTG,{},T,,M,{},N,{},K,{}",
        course(fix),
        speed(fix, fix.speed_kmh / KNOT_KMH),
        speed(fix, fix.speed_kmh),
        fix.quality.mode()
    )
}

fn gga(fix: &Fix) -> String {
    format!(
        "GPGGA,{},{},{},{:02},{:.2},{:.1},M,0.0,M,,",
        time(fix),
        position(fix),
        fix.quality.digit(),
        fix.satellites,
        hdop(fix),
        fix.altitude_m
    )
}

fn gsa(fix: &Fix, sky: &Sky) -> String {
    let used = match fix.quality {
        Quality::None => 0,
        _ => usize::from(fix.satellites),
    };
    let dimension = if has_fix(fix) { 3 } else { 1 };
    let mut body = format!("GPGSA,A,{dimension},");
    for place in 0..super::sky::SATELLITES {
        if place < used {
            body += &format!("{:02}", sky.satellite(place).prn);
        }
        body.push(',');
    }
    let dops = match has_fix(fix) {
        true => [1.3 * fix.hdop, fix.hdop, 0.9 * fix.hdop],
        false => [NO_DOP; 3],
    };
    let [position, horizontal, vertical] = dops;
    body + &format!("{position:.2},{horizontal:.2},{vertical:.2},1")
}

fn gsv(fix: &Fix, sky: &Sky) -> Vec<String> {
    /// Satellites per sentence, and the number in view while there is no fix.
    const IN_SENTENCE: usize = 4;
    const WITHOUT_FIX: usize = 4;
    let in_view = match has_fix(fix) {
        true => (usize::from(fix.satellites) + 2).min(super::sky::SATELLITES),
        false => WITHOUT_FIX,
    };
    let count = in_view.div_ceil(IN_SENTENCE);
    let bodies = (0..count).map(|index| {
        let mut body = format!("GPGSV,{count},{},{in_view:02}", index + 1);
        let places = index * IN_SENTENCE..((index + 1) * IN_SENTENCE).min(in_view);
        for place in places {
            let satellite = sky.satellite(place);
            body += &format!(
                ",{:02},{:02},{:03},",
                satellite.prn, satellite.elevation_deg, satellite.azimuth_deg
            );
            if has_fix(fix) {
                body += &format!("{:02}", satellite.strength_db);
            }
        }
        body + ",1"
    });
    bodies.collect()
}

fn gll(fix: &Fix) -> String {
    format!(
        "GPGLL,{},{},{},{}",
        position(fix),
        time(fix),
        validity(fix),
        fix.quality.mode()
    )
}

fn has_fix(fix: &Fix) -> bool {
    fix.quality != Quality::None
}

fn validity(fix: &Fix) -> char {
    if has_fix(fix) { 'A' } else { 'V' }
}

fn time(fix: &Fix) -> String {
    let time = civil(fix.utc_us);
    time.strftime("%H%M%S%.2f").to_string()
}

fn hdop(fix: &Fix) -> f64 {
    if has_fix(fix) { fix.hdop } else { NO_DOP }
}

fn speed(fix: &Fix, speed: f64) -> String {
    if has_fix(fix) {
        format!("{speed:.3}")
    } else {
        String::new()
    }
}

fn course(fix: &Fix) -> String {
    if has_fix(fix) {
        format!("{:.2}", fix.course_deg)
    } else {
        String::new()
    }
}

fn position(fix: &Fix) -> String {
    if !has_fix(fix) {
        return ",,,".to_owned();
    }
    let (latitude, longitude) = (fix.latitude_deg, fix.longitude_deg);
    let north = if latitude < 0.0 { 'S' } else { 'N' };
    let east = if longitude < 0.0 { 'W' } else { 'E' };
    format!(
        "{},{north},{},{east}",
        angle(latitude, 2),
        angle(longitude, 3)
    )
}

/// Degrees and minutes without a separator, the minutes with five decimals.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "at most 180 degrees in steps of 1e-5 minutes, and not negative"
)]
fn angle(degrees: f64, digits: usize) -> String {
    const DEGREE: u64 = 60 * 100_000;
    // Rounded as a whole, so that 59.999999 minutes become the next degree.
    let steps = (degrees.abs() * 6e6).round() as u64;
    let (degrees, rest) = (steps / DEGREE, steps % DEGREE);
    format!(
        "{degrees:0digits$}{:02}.{:05}",
        rest / 100_000,
        rest % 100_000
    )
}
