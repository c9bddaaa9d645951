//! How long bits and silences are, in samples.

use hostd_plugin::decoder::{Setup, option};

/// Above this rate, silences have a fixed length ("MODBUS over Serial Line" V1.02, 2.5.1.1).
const FIXED_ABOVE_BAUD: f64 = 19_200.0;

/// That length between frames, and the longest inside one, in seconds.
const FIXED_BETWEEN_S: f64 = 1.75e-3;
const FIXED_INSIDE_S: f64 = 0.75e-3;

/// The same below, in characters.
const BETWEEN_CHARACTERS: f64 = 3.5;
const INSIDE_CHARACTERS: f64 = 1.5;

/// Fewest samples of a bit that can be told from its neighbours.
const SAMPLES_PER_BIT_MIN: f64 = 3.0;

/// The parity bit of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parity {
    None,
    Even,
    Odd,
}

/// What the options come to at the capture's sample rate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timing {
    /// Samples of a bit.
    pub(crate) bit: f64,
    pub(crate) parity: Parity,
    /// Data, parity and stop bits behind the start bit.
    pub(crate) bits: u32,
    /// Samples of silence that end a frame.
    pub(crate) between: u64,
    /// Samples of silence that a frame may have inside.
    pub(crate) inside: u64,
}

impl Timing {
    pub(crate) fn new(setup: &Setup) -> Result<Self, String> {
        let baud = number(setup, "baudrate")?;
        let rate = setup.sample_rate_hz;
        let bit = rate / baud;
        if bit < SAMPLES_PER_BIT_MIN {
            return Err(format!(
                "{rate} samples a second are too few for {baud} baud; record at least {SAMPLES_PER_BIT_MIN} for each bit"
            ));
        }
        let parity = match option(setup, "parity") {
            "even" => Parity::Even,
            "odd" => Parity::Odd,
            _ => Parity::None,
        };
        let stop = if option(setup, "stop_bits") == "2" {
            2
        } else {
            1
        };
        let bits = 8 + u32::from(parity != Parity::None) + stop;
        let character = bit * f64::from(1 + bits);
        let (between, inside) = match option(setup, "gap_us") {
            "auto" if FIXED_ABOVE_BAUD < baud => (FIXED_BETWEEN_S * rate, FIXED_INSIDE_S * rate),
            "auto" => (
                BETWEEN_CHARACTERS * character,
                INSIDE_CHARACTERS * character,
            ),
            _ => {
                let between = number(setup, "gap_us")? * 1e-6 * rate;
                (between, between * INSIDE_CHARACTERS / BETWEEN_CHARACTERS)
            }
        };
        Ok(Self {
            bit,
            parity,
            bits,
            between: samples(between),
            inside: samples(inside),
        })
    }

    /// The sample in the middle of bit `index` of a character whose start bit, index 0, begins at sample `start`.
    pub(crate) fn middle(&self, start: u64, index: u32) -> u64 {
        start + samples((f64::from(index) + 0.5) * self.bit)
    }

    /// The sample behind a character that begins at `start`.
    pub(crate) fn end(&self, start: u64) -> u64 {
        start + samples(f64::from(1 + self.bits) * self.bit)
    }
}

fn number(setup: &Setup, name: &str) -> Result<f64, String> {
    let text = option(setup, name);
    let parsed = text.parse::<f64>().ok();
    let valid = parsed.filter(|number| (1.0..=1e9).contains(number));
    valid.ok_or_else(|| format!("{name} is {text:?}; it must be a number from 1 to 1000000000"))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a length in samples is not negative, and a cast stops at the bounds"
)]
fn samples(length: f64) -> u64 {
    length.round() as u64
}
