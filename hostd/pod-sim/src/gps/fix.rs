//! Position, motion and time of the emulated receiver.

use super::super::args::Args;
use super::super::refuse::Refuse;
use super::utc;

/// Mean radius of the Earth in metres.
const EARTH_M: f64 = 6_371_008.8;

/// 2026-01-01T00:00:00Z.
const DEFAULT_UTC_US: i64 = 1_767_225_600_000_000;

/// The data from which sentences are made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Fix {
    pub(crate) latitude_deg: f64,
    pub(crate) longitude_deg: f64,
    pub(crate) altitude_m: f64,
    pub(crate) speed_kmh: f64,
    pub(crate) course_deg: f64,
    pub(crate) satellites: u8,
    pub(crate) hdop: f64,
    pub(crate) quality: Quality,
    /// Microseconds since 1970.
    pub(crate) utc_us: i64,
}

/// The kind of fix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quality {
    None,
    Autonomous,
    Differential,
}

impl Quality {
    pub(crate) fn digit(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Autonomous => 1,
            Self::Differential => 2,
        }
    }

    /// The mode letter of RMC, VTG and GLL.
    pub(crate) fn mode(self) -> char {
        match self {
            Self::None => 'N',
            Self::Autonomous => 'A',
            Self::Differential => 'D',
        }
    }
}

impl Fix {
    /// The fix before anything is set.
    pub(crate) fn power_on() -> Self {
        Self {
            latitude_deg: 0.0,
            longitude_deg: 0.0,
            altitude_m: 0.0,
            speed_kmh: 0.0,
            course_deg: 0.0,
            satellites: 8,
            hdop: 0.9,
            quality: Quality::Autonomous,
            utc_us: DEFAULT_UTC_US,
        }
    }

    /// This fix with the fields of a request; the second value tells whether there were any.
    pub(crate) fn with(mut self, args: &Args<'_>) -> Result<(Self, bool), Refuse> {
        let mut any = false;
        let numbers = [
            ("latitude_deg", -90.0, 90.0, &mut self.latitude_deg),
            ("longitude_deg", -180.0, 180.0, &mut self.longitude_deg),
            ("altitude_m", -1_000.0, 20_000.0, &mut self.altitude_m),
            ("speed_kmh", 0.0, 2_000.0, &mut self.speed_kmh),
            ("course_deg", 0.0, 360.0, &mut self.course_deg),
            ("hdop", 0.5, 99.0, &mut self.hdop),
        ];
        for (field, min, max, place) in numbers {
            let Some(value) = args.number(field)? else {
                continue;
            };
            if !(min..=max).contains(&value) {
                return Err(Refuse::Beyond { field, min, max });
            }
            (*place, any) = (value, true);
        }
        if let Some(satellites) = args.uint("satellites", 0..=12)? {
            (self.satellites, any) = (satellites, true);
        }
        if let Some(quality) = args.uint::<u8>("fix", 0..=2)? {
            self.quality = match quality {
                0 => Quality::None,
                1 => Quality::Autonomous,
                _ => Quality::Differential,
            };
            any = true;
        }
        if let Some(utc_us) = utc::from_args(args)? {
            (self.utc_us, any) = (utc_us, true);
        }
        Ok((self, any))
    }

    /// The fix this many microseconds later: it moves along its course at its speed, on a line of
    /// constant course.
    pub(crate) fn after(mut self, us: i64) -> Self {
        self.utc_us += us;
        #[allow(
            clippy::cast_precision_loss,
            reason = "microseconds of centuries stay below 2^53"
        )]
        let arc = self.speed_kmh / 3.6 * (us as f64 / 1e6) / EARTH_M;
        if arc == 0.0 {
            return self;
        }
        let course = self.course_deg.to_radians();
        let from = self.latitude_deg.to_radians();
        let to = from + arc * course.cos();
        let pole = std::f64::consts::FRAC_PI_2;
        let to = to.clamp(-pole, pole);
        // Along a parallel the stretched latitude does not change; in the limit, the ratio is the
        // cosine.
        let stretch = stretched(to) - stretched(from);
        let ratio = match (to - from).abs() {
            short if short < 1e-12 => from.cos(),
            _ => (to - from) / stretch,
        };
        self.latitude_deg = to.to_degrees();
        if ratio > 1e-9 {
            let turn = arc * course.sin() / ratio;
            let longitude = self.longitude_deg + turn.to_degrees();
            self.longitude_deg = (longitude + 180.0).rem_euclid(360.0) - 180.0;
        }
        self
    }
}

/// Latitude on a map on which lines of constant course are straight.
fn stretched(latitude: f64) -> f64 {
    (std::f64::consts::FRAC_PI_4 + latitude / 2.0).tan().ln()
}
