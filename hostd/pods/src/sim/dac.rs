//! The DAC as a function of time: a held code, or a waveform since an instant. Evaluating it at a
//! sample's time is all a capture of it takes.

use std::sync::Arc;

use serde_json::{Value, json};

use super::args::Args;
use super::board::Board;
use super::control::Loop;
use super::refuse::Refuse;
use super::timeline::Timeline;
use super::world::World;

/// Codes that are played again and again.
#[derive(Debug, PartialEq)]
pub(crate) struct Wave {
    pub(crate) codes: Vec<u16>,
    /// Ticks of the 48 MHz clock for each code.
    pub(crate) divider: u32,
}

/// What the DAC puts out.
#[derive(Debug, Clone)]
pub(crate) enum Output {
    Hold(u16),
    Play { wave: Arc<Wave>, start_ns: u64 },
    Regulate(Box<Loop>),
}

impl Output {
    pub(crate) fn code(&self, at_ns: u64) -> u16 {
        match self {
            Self::Hold(code) => *code,
            Self::Regulate(running) => running.code(at_ns),
            Self::Play { wave, start_ns } => {
                // Sample times are rounded down to nanoseconds; rounding ticks up undoes that.
                let elapsed_ns = u128::from(at_ns.saturating_sub(*start_ns));
                let ticks = (elapsed_ns * 6).div_ceil(125);
                let step = ticks / u128::from(wave.divider) % wave.codes.len() as u128;
                let step = usize::try_from(step).expect("less than the length");
                wave.codes[step]
            }
        }
    }
}

/// A waveform that starts with the next capture.
#[derive(Debug)]
struct Armed {
    wave: Arc<Wave>,
    duration_ns: Option<u64>,
}

#[derive(Debug)]
pub(crate) struct Dac {
    output: Timeline<Output>,
    armed: Option<Armed>,
}

impl Dac {
    pub(crate) fn new() -> Self {
        Self {
            output: Timeline::new(Output::Hold(0)),
            armed: None,
        }
    }

    pub(crate) fn output(&self) -> &Timeline<Output> {
        &self.output
    }

    pub(crate) fn prune(&mut self, before_ns: u64) {
        self.output.prune(before_ns);
    }

    /// At the low end, with nothing armed.
    pub(crate) fn reboot(&mut self, now_ns: u64) {
        self.hold(0, now_ns);
    }

    pub(crate) fn hold(&mut self, code: u16, now_ns: u64) {
        self.armed = None;
        self.output.set(now_ns, Output::Hold(code));
    }

    /// From now on a control loop sets the level.
    pub(crate) fn regulate(&mut self, running: Loop, now_ns: u64) {
        self.armed = None;
        let output = Output::Regulate(Box::new(running));
        self.output.set(now_ns, output);
    }

    /// From `at_ns` on, the level it has there.
    pub(crate) fn freeze(&mut self, at_ns: u64) {
        let code = self.output.at(at_ns).code(at_ns);
        self.output.set(at_ns, Output::Hold(code));
    }

    /// Plays from `at_ns`, for a while or until stopped.
    pub(crate) fn play(&mut self, wave: Arc<Wave>, at_ns: u64, duration_ns: Option<u64>) {
        self.armed = None;
        let start_ns = at_ns;
        self.output.set(at_ns, Output::Play { wave, start_ns });
        if let Some(duration_ns) = duration_ns {
            self.freeze(at_ns.saturating_add(duration_ns));
        }
    }

    /// Holds the present level until the next capture starts the waveform.
    pub(crate) fn arm(&mut self, wave: Arc<Wave>, now_ns: u64, duration_ns: Option<u64>) {
        self.freeze(now_ns);
        self.armed = Some(Armed { wave, duration_ns });
    }

    /// A capture's first instant: what was armed starts there.
    pub(crate) fn capture_starts(&mut self, t0_ns: u64) {
        if let Some(Armed { wave, duration_ns }) = self.armed.take() {
            self.play(wave, t0_ns, duration_ns);
        }
    }

    /// Drops what was armed for a capture that will not come.
    pub(crate) fn disarm(&mut self) {
        self.armed = None;
    }

    /// `dac_stop`: the last level is held.
    pub(crate) fn stop(&mut self, now_ns: u64) {
        self.armed = None;
        self.freeze(now_ns);
    }
}

/// The 8-bit level nearest to a 16-bit code.
fn level(code: u16) -> u16 {
    (u32::from(code) + 128).checked_div(256).map_or(0, |level| {
        u16::try_from(level.min(255)).expect("at most 255")
    })
}

/// `dac_set`: an 8-bit level, no routing.
pub(crate) fn dac_set(world: &mut World, args: &Args<'_>, now_ns: u64) -> Result<Value, Refuse> {
    let value: u16 = args
        .uint("value", 0..=255)?
        .ok_or(Refuse::Missing { field: "value" })?;
    world.dac.hold(value << 8, now_ns);
    Ok(Value::Null)
}

/// `dac_out`: routes an output and sets its voltage, as near as it gets.
pub(crate) fn dac_out(world: &mut World, args: &Args<'_>, now_ns: u64) -> Result<Value, Refuse> {
    let path = args
        .text("path")?
        .ok_or(Refuse::Missing { field: "path" })?;
    let volts = args.number("volts")?;
    if path == "off" {
        world.route("off", now_ns)?;
        return Ok(json!({"path": "off", "mv": 0, "code": -1}));
    }
    let fit = output_fit(world.config.board, path)?;
    let name = world.route(path, now_ns)?;
    let Some(volts) = volts else {
        return Ok(json!({"path": name, "mv": 0, "code": -1}));
    };
    let code = fit.code(volts);
    world.dac.hold(code, now_ns);
    let achieved = fit.code_volts(code);
    Ok(
        json!({"path": name, "mv": whole(achieved * 1e3), "uv": whole(achieved * 1e6),
        "code": level(code), "code16": code}),
    )
}

/// The fit of the output that a path names.
pub(crate) fn output_fit(board: Board, path: &str) -> Result<super::board::Fit, Refuse> {
    let fits = board.dac_fits();
    match path.strip_prefix("dac_").unwrap_or(path) {
        "3v3" => Ok(fits.out_3v3),
        "5v" => Ok(fits.out_5v),
        "12v" => Ok(fits.out_12v),
        _ => Err(Refuse::Bad {
            field: "path",
            want: "3v3, 5v, 12v or off",
        }),
    }
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "volts of an output in µV are far below 2^53"
)]
fn whole(value: f64) -> i64 {
    value.round() as i64
}

#[cfg(test)]
mod tests;
