//! The analog input: which voltage a sample sees, and the count it becomes.

use serde_json::{Value, json};

use super::analog::{AnalogSource, Input, Switches};
use super::board::{Board, Fit};
use super::dac::Output;
use super::noise::gaussian;
use super::refuse::Refuse;
use super::world::World;
use crate::protocol::rates;

/// Noise of the converter, in counts.
const NOISE_COUNTS: f64 = 1.2;

/// Sense resistor of the 4-20 mA input.
const SENSE_OHMS: f64 = 249.0;

/// Samples an `adc_read` averages.
const BURST_SAMPLES: u64 = 16;

/// Divider of that burst: the fastest rate.
const BURST_DIVIDER: u32 = 60;

/// Counts that burst may span.
const BURST_SPAN_MAX: u32 = 1024;

/// How long `adc_read` lets a routed input settle.
pub(crate) const SETTLE_NS: u64 = 20_000_000;

/// What the ADC sees from an instant on.
pub(crate) struct AdcRender {
    board: Board,
    seed: u64,
    ext: AnalogSource,
    current_in: AnalogSource,
    switches: Pieces<Switches>,
    output: Pieces<Output>,
}

/// Values in force one after the other, walked forward.
struct Pieces<T> {
    pieces: Vec<(u64, T)>,
    at: usize,
}

impl<T> Pieces<T> {
    fn at(&mut self, ns: u64) -> &T {
        while self
            .pieces
            .get(self.at + 1)
            .is_some_and(|(at, _)| *at <= ns)
        {
            self.at += 1;
        }
        &self.pieces[self.at].1
    }
}

impl AdcRender {
    /// Takes what happens from `from_ns` to `to_ns`.
    pub(crate) fn new(world: &World, from_ns: u64, to_ns: u64) -> Self {
        Self {
            board: world.config.board,
            seed: world.config.seed,
            ext: world.config.ext.clone(),
            current_in: world.config.current_in.clone(),
            switches: Pieces {
                pieces: world.switches.window(from_ns, to_ns),
                at: 0,
            },
            output: Pieces {
                pieces: world.dac.output().window(from_ns, to_ns),
                at: 0,
            },
        }
    }

    /// The raw count at an instant; instants must not go back.
    pub(crate) fn count(&mut self, at_ns: u64) -> u16 {
        let switches = *self.switches.at(at_ns);
        let code = self.output.at(at_ns).code(at_ns);
        let fits = self.board.dac_fits();
        let volts = match switches.input() {
            Input::Ext => self.ext.volts(self.seed, at_ns),
            Input::CurrentIn => self.current_in.volts(!self.seed, at_ns),
            Input::Cal1 if switches.out_5v_on() => fits.out_5v.code_volts(code),
            Input::Cal2 if switches.out_12v_on_adc() => fits.out_12v.code_volts(code),
            Input::Cal1 | Input::Cal2 => 0.0,
        };
        let fit = input_fit(self.board, switches.input());
        let noise = gaussian(self.seed.rotate_left(17), at_ns) * NOISE_COUNTS * fit.b;
        fit.count(volts + noise)
    }

    /// Counts of `samples` from the instant `t0_ns` on.
    pub(crate) fn counts(
        &mut self,
        t0_ns: u64,
        divider: u32,
        samples: std::ops::Range<u64>,
    ) -> Vec<u16> {
        samples
            .map(|index| self.count(t0_ns + rates::sample_ns(index, divider)))
            .collect()
    }
}

fn input_fit(board: Board, input: Input) -> Fit {
    let fits = board.adc_fits();
    match input {
        Input::Ext => fits.ext,
        Input::Cal1 | Input::CurrentIn => fits.cal1,
        Input::Cal2 => fits.cal2,
    }
}

/// When the burst of an `adc_read` that started at `from_ns` is complete.
pub(crate) fn burst_end_ns(from_ns: u64) -> u64 {
    from_ns + SETTLE_NS + rates::sample_ns(BURST_SAMPLES, BURST_DIVIDER)
}

/// The reply of `adc_read`: the mean of a burst that ends at `end_ns`.
pub(crate) fn burst(world: &World, path: &'static str, end_ns: u64) -> Result<Value, Refuse> {
    let t0_ns = end_ns.saturating_sub(rates::sample_ns(BURST_SAMPLES, BURST_DIVIDER));
    let counts =
        AdcRender::new(world, t0_ns, end_ns).counts(t0_ns, BURST_DIVIDER, 0..BURST_SAMPLES);
    // On the circle: distances from the first count, which noise may carry across the wrap.
    let first = counts[0];
    let offsets = counts
        .iter()
        .map(|count| i32::from(count.wrapping_sub(first).cast_signed()));
    let (low, high, sum) = offsets.fold((0, 0, 0), |(low, high, sum), offset| {
        (offset.min(low), offset.max(high), sum + offset)
    });
    let span = high.abs_diff(low);
    if span > BURST_SPAN_MAX {
        return Err(Refuse::Unsteady {
            span,
            limit: BURST_SPAN_MAX,
        });
    }
    let mean = f64::from(first) + f64::from(sum) / f64::from(16_u8);
    let circled = mean.rem_euclid(65_536.0);
    let unwrapped = circled + if circled < 32_768.0 { 65_536.0 } else { 0.0 };
    let input = world.switches.at(end_ns).input();
    let volts = input_fit(world.config.board, input).volts(unwrapped);
    let mut reply = json!({"source": path, "mv": whole(volts * 1e3), "count": whole(circled),
        "span": span});
    if input == Input::CurrentIn {
        reply["ua"] = whole(volts / SENSE_OHMS * 1e6).into();
    }
    Ok(reply)
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "readings are far below 2^53"
)]
fn whole(value: f64) -> i64 {
    value.round() as i64
}

#[cfg(test)]
mod tests;
