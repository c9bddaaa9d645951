//! The boards a simulated pod can be, with the constants of their analog front ends.

/// Number of counts on the 16-bit circle.
const CIRCLE: f64 = 65_536.0;

/// A board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Board {
    /// Second revision: analog, LA bank at 3.3 V only.
    V2,
    /// Third revision: analog, LA bank at 1.8 or 3.3 V, reset line, USB-C monitor.
    V3,
    /// Third revision without the analog front end.
    Digital,
}

/// A straight line: volts = a + b · x.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Fit {
    pub(crate) a: f64,
    pub(crate) b: f64,
}

impl Fit {
    /// The raw 16-bit count that an ADC with this fit shows for `volts`. The front end inverts and
    /// wraps slightly below 0 V.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the remainder on the 16-bit circle fits"
    )]
    pub(crate) fn count(self, volts: f64) -> u16 {
        let count = ((volts - self.a) / self.b).round().rem_euclid(CIRCLE);
        count as u16
    }

    /// Volts for an unwrapped count.
    pub(crate) fn volts(self, unwrapped: f64) -> f64 {
        self.a + self.b * unwrapped
    }

    /// The 16-bit DAC code nearest to `volts`, if the fit is per 8-bit level; clamped.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to 16 bits just before"
    )]
    pub(crate) fn code(self, volts: f64) -> u16 {
        let code = (volts - self.a) / self.b * 256.0;
        code.round().clamp(0.0, 65_535.0) as u16
    }

    /// Volts for a 16-bit DAC code, if the fit is per 8-bit level.
    pub(crate) fn code_volts(self, code: u16) -> f64 {
        self.a + self.b * f64::from(code) / 256.0
    }
}

/// Fits of the ADC's inputs.
pub(crate) struct AdcFits {
    pub(crate) ext: Fit,
    pub(crate) cal1: Fit,
    pub(crate) cal2: Fit,
}

/// Fits of the DAC's outputs, per 8-bit level.
pub(crate) struct DacFits {
    pub(crate) out_3v3: Fit,
    pub(crate) out_5v: Fit,
    pub(crate) out_12v: Fit,
}

const fn fit(a: f64, b: f64) -> Fit {
    Fit { a, b }
}

const V2_ADC: AdcFits = AdcFits {
    ext: fit(65.788_900, -0.001_003_762),
    cal1: fit(65.832_398, -0.001_004_471),
    cal2: fit(65.920_100, -0.001_005_709),
};
const V3_ADC: AdcFits = AdcFits {
    ext: fit(65.716_013, -0.001_002_767),
    cal1: fit(65.720_665, -0.001_002_852),
    cal2: fit(65.824_094, -0.001_004_449),
};
const V2_DAC: DacFits = DacFits {
    out_3v3: fit(0.004_235, 0.012_914),
    out_5v: fit(0.007_490, 0.019_488),
    out_12v: fit(-12.043_680, 0.094_352),
};
const V3_DAC: DacFits = DacFits {
    out_3v3: fit(0.001_514, 0.012_903),
    out_5v: fit(0.002_428, 0.019_539),
    out_12v: fit(-12.087_271, 0.094_405),
};

/// The 4-20 mA output's current at code 0 and at code 65535, in µA.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CurrentRange {
    pub(crate) min_ua: f64,
    pub(crate) max_ua: f64,
}

impl Board {
    /// Reads `v2`, `v3` or `digital`.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "v2" => Some(Self::V2),
            "v3" => Some(Self::V3),
            "digital" => Some(Self::Digital),
            _ => None,
        }
    }

    /// Whether the board has the analog front end.
    pub(crate) fn is_analog(self) -> bool {
        !matches!(self, Self::Digital)
    }

    /// Whether the board is of the third revision.
    pub(crate) fn is_v3(self) -> bool {
        !matches!(self, Self::V2)
    }

    pub(crate) fn revision(self) -> &'static str {
        if self.is_v3() { "v3" } else { "v2" }
    }

    /// Voltage of the strap that marks the revision; v2 has none.
    pub(crate) fn strap_mv(self) -> i32 {
        if self.is_v3() { 3000 } else { -1 }
    }

    pub(crate) fn adc_fits(self) -> &'static AdcFits {
        if self.is_v3() { &V3_ADC } else { &V2_ADC }
    }

    pub(crate) fn dac_fits(self) -> &'static DacFits {
        if self.is_v3() { &V3_DAC } else { &V2_DAC }
    }

    pub(crate) fn current_range(self) -> CurrentRange {
        if self.is_v3() {
            CurrentRange {
                min_ua: 4_056.0,
                max_ua: 20_094.0,
            }
        } else {
            CurrentRange {
                min_ua: 4_015.686,
                max_ua: 20_078.196,
            }
        }
    }
}

/// A voltage output of the DAC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputPath {
    V3,
    V5,
    V12,
}

impl OutputPath {
    pub(crate) const ALL: [Self; 3] = [Self::V3, Self::V5, Self::V12];

    /// Reads `3v3` or `dac_3v3`, and so on.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        let name = name.strip_prefix("dac_").unwrap_or(name);
        Self::ALL.into_iter().find(|path| path.name() == name)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::V3 => "3v3",
            Self::V5 => "5v",
            Self::V12 => "12v",
        }
    }

    /// The fit built into the firmware.
    pub(crate) fn built_in(self, board: Board) -> Fit {
        let fits = board.dac_fits();
        match self {
            Self::V3 => fits.out_3v3,
            Self::V5 => fits.out_5v,
            Self::V12 => fits.out_12v,
        }
    }

    pub(crate) fn index(self) -> usize {
        match self {
            Self::V3 => 0,
            Self::V5 => 1,
            Self::V12 => 2,
        }
    }
}

#[cfg(test)]
mod tests;
