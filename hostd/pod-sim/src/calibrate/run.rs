//! The measurements behind `calibrate`: many short bursts of an input that is steady.

use std::sync::Arc;

use pod_protocol::connection::Stream;
use serde_json::{Value, json};

use super::check_gain;
use crate::adc::{BURST_DIVIDER, BURST_SAMPLES, SETTLE_NS, unwrapped};
use crate::analog::Input;
use crate::board::Fit;
use crate::calibration::{Offset, whole};
use crate::client::{Client, Gone};
use crate::converters::Converters;
use crate::frontend::built_in_input;
use crate::hold::Hold;
use crate::refuse::Refuse;
use crate::shared::Shared;

/// Bursts in a measurement, and the time from one to the next: 0.3 s including the settling.
const BURSTS: u64 = 32;
const BURST_EVERY_NS: u64 = 8_750_000;

/// Largest span of the counts of all samples in a measurement.
const SPAN_MAX: u32 = 64;

/// A reading beyond this means that something drives the input that should be open.
const DRIVEN_V: f64 = 0.150;

/// How far a looped reading may be from the output's nominal value, in volts.
const FAR_V: f64 = 0.250;

/// What is measured.
pub(crate) enum Measurement {
    Offset,
    Gain(Gain),
}

/// An input's gain, through a loop to an output whose line is known.
pub(crate) struct Gain {
    pub(super) index: usize,
    pub(super) input: Input,
    pub(super) path: &'static str,
    pub(super) codes: [u16; 2],
    pub(super) line: Fit,
}

/// Result of the bursts: the mean unwrapped count and the span.
struct Level {
    count: f64,
    span: u32,
}

fn measured_ns(from_ns: u64) -> u64 {
    from_ns + SETTLE_NS + BURSTS * BURST_EVERY_NS
}

/// Averages the bursts of a measurement that began at `from_ns`.
fn level(converters: &Converters, from_ns: u64) -> Result<Level, Refuse> {
    let mut player = converters.player(from_ns, measured_ns(from_ns));
    let mut counts = Vec::new();
    for burst in 0..BURSTS {
        let burst_ns = from_ns + SETTLE_NS + burst * BURST_EVERY_NS;
        for sample in 0..BURST_SAMPLES {
            let at_ns = burst_ns + pod_protocol::rates::sample_ns(sample, BURST_DIVIDER);
            counts.push(unwrapped(player.count(at_ns)));
        }
    }
    let lowest = counts.iter().min().expect("there are bursts");
    let highest = counts.iter().max().expect("there are bursts");
    let span = highest - lowest;
    if span > SPAN_MAX {
        return Err(Refuse::Unsteady {
            span,
            limit: SPAN_MAX,
        });
    }
    let sum: f64 = counts.iter().copied().map(f64::from).sum();
    let samples = f64::from(u32::try_from(counts.len()).expect("512 samples"));
    Ok(Level {
        count: sum / samples,
        span,
    })
}

/// Measures for a client, stores the result and answers.
pub(crate) async fn run<S: Stream>(
    shared: &Arc<Shared>,
    client: &mut Client<S>,
    run: Measurement,
) -> Result<(), Gone> {
    let hold = match Hold::take(shared) {
        Ok(hold) => hold,
        Err(refusal) => return client.refuse(&refusal).await,
    };
    let from_ns = hold.since_ns();
    let started = shared.with(|world, _| match &run {
        Measurement::Offset => offset_starts(&mut world.converters, from_ns),
        Measurement::Gain(gain) => gain.starts(&mut world.converters, from_ns),
    });
    let end_ns = match started {
        Ok(end_ns) => end_ns,
        Err(refusal) => return client.refuse(&refusal).await,
    };
    let left = client.wait_until(shared, end_ns).await.is_err();
    let result = shared.with(|world, now_ns| match &run {
        _ if left => {
            run.ends(&mut world.converters, now_ns);
            None
        }
        Measurement::Offset => Some(offset_ends(&mut world.converters, from_ns)),
        Measurement::Gain(gain) => {
            let result = gain.measured(&mut world.converters, from_ns);
            run.ends(&mut world.converters, now_ns);
            Some(result)
        }
    });
    drop(hold);
    match result {
        None => Err(Gone),
        Some(Ok(data)) => client.ok(data).await,
        Some(Err(refusal)) => client.refuse(&refusal).await,
    }
}

impl Measurement {
    /// What a measurement leaves behind: outputs off after a gain, the input routed after an
    /// offset.
    fn ends(&self, converters: &mut Converters, now_ns: u64) {
        if let Self::Gain(_) = self {
            converters.switch(crate::analog::Switches::PARKED, now_ns);
            converters.dac.hold(0, now_ns);
        }
    }
}

fn offset_starts(converters: &mut Converters, from_ns: u64) -> Result<u64, Refuse> {
    converters.route("current_in", from_ns)?;
    Ok(measured_ns(from_ns))
}

fn offset_ends(converters: &mut Converters, from_ns: u64) -> Result<Value, Refuse> {
    let level = level(converters, from_ns)?;
    let board = converters.board();
    let volts = built_in_input(board, Input::CurrentIn).volts(level.count);
    if volts.abs() > DRIVEN_V {
        return Err(Refuse::Driven {
            mv: whole(volts * 1e3),
            limit_mv: whole(DRIVEN_V * 1e3),
        });
    }
    converters.stored.calibration.offset = Some(Offset {
        volts,
        zero_count: level.count,
    });
    let mut report = converters.stored.calibration.report(board);
    report["count"] = whole(level.count.rem_euclid(65_536.0)).into();
    report["span"] = level.span.into();
    report["samples"] = (BURSTS * BURST_SAMPLES).into();
    Ok(report)
}

impl Gain {
    fn second_ns(from_ns: u64) -> u64 {
        measured_ns(from_ns) + 1
    }

    /// Routes the loop and plans both levels.
    fn starts(&self, converters: &mut Converters, from_ns: u64) -> Result<u64, Refuse> {
        converters.route(self.path, from_ns)?;
        converters.dac.hold(self.codes[0], from_ns);
        let second_ns = Self::second_ns(from_ns);
        converters.dac.hold(self.codes[1], second_ns);
        Ok(measured_ns(second_ns))
    }

    /// Compares the readings with the output's voltages.
    fn measured(&self, converters: &mut Converters, from_ns: u64) -> Result<Value, Refuse> {
        let board = converters.board();
        let stored = &converters.stored.calibration;
        let offset = stored.offset.map_or(0.0, |offset| offset.volts);
        let built_in = built_in_input(board, self.input);
        let read = |from_ns| Ok(built_in.volts(level(converters, from_ns)?.count) - offset);
        let reads = [read(from_ns)?, read(Self::second_ns(from_ns))?];
        let given = self.codes.map(|code| self.line.code_volts(code));
        for (read, given) in reads.into_iter().zip(given) {
            if (read - given).abs() > FAR_V {
                return Err(Refuse::far(read, given));
            }
        }
        let gain = (given[1] - given[0]) / (reads[1] - reads[0]) - 1.0;
        check_gain(gain)?;
        let left = |at: usize| reads[at] * (1.0 + gain) - given[at];
        let residual = f64::midpoint(left(0), left(1));
        converters.stored.calibration.adc_gain[self.index] = Some(gain);
        let mut report = converters.stored.calibration.report(board);
        let micro = |volts: f64| whole(volts * 1e6);
        report["measured"] = json!({"v1_uv": micro(given[0]), "v2_uv": micro(given[1]),
            "r1_uv": micro(reads[0]), "r2_uv": micro(reads[1]), "residual_uv": micro(residual)});
        Ok(report)
    }
}
