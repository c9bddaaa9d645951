//! Limits of the DAC's output, which protect what is connected to one of its outputs.
//!
//! The DAC has one code for all outputs, so while limits are set it stays within theirs, whatever
//! is routed. `dac_stop` and every start put it at the end at which the stage behind gives least.

use serde_json::{Value, json};

use super::analog::Switches;
use super::args::Args;
use super::frontend::OutputPath;
use super::refuse::Refuse;
use super::world::World;

/// Limits as they are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    path: OutputPath,
    /// The stage behind gives most at the lowest voltage.
    inverted: bool,
    min_mv: i32,
    max_mv: i32,
}

impl Limits {
    fn park_mv(self) -> i32 {
        if self.inverted {
            self.max_mv
        } else {
            self.min_mv
        }
    }

    fn report(self) -> Value {
        json!({"enabled": true, "path": self.path.name(), "inverted": self.inverted,
            "min_mv": self.min_mv, "max_mv": self.max_mv})
    }
}

/// `dac_limits`: reads, sets or clears.
pub(crate) fn dac_limits(world: &mut World, args: &Args<'_>, now_ns: u64) -> Result<Value, Refuse> {
    if let Some(path) = args.text("path")? {
        let limits = from_args(world, path, args)?;
        world.stored.limits = Some(limits);
        world.park(now_ns);
        let mut report = limits.report();
        report["park_mv"] = limits.park_mv().into();
        return Ok(report);
    }
    if args.flag("enabled")? == Some(false) {
        world.stored.limits = None;
    }
    Ok(match world.stored.limits {
        Some(limits) => limits.report(),
        None => {
            json!({"enabled": false, "path": "", "inverted": false, "min_mv": 0, "max_mv": 0})
        }
    })
}

fn from_args(world: &World, path: &str, args: &Args<'_>) -> Result<Limits, Refuse> {
    let path = OutputPath::from_name(path).ok_or(Refuse::Bad {
        field: "path",
        want: "3v3, 5v or 12v",
    })?;
    let fit = path.built_in(world.config.board);
    let (low_mv, high_mv) = (milli(fit.code_volts(0)), milli(fit.code_volts(u16::MAX)));
    let end = |field| {
        args.int(field, low_mv.min(0)..=high_mv)?
            .ok_or(Refuse::Missing { field })
    };
    let (min_mv, max_mv) = (end("min_mv")?, end("max_mv")?);
    if min_mv > max_mv {
        return Err(Refuse::Bad {
            field: "min_mv",
            want: "at most max_mv",
        });
    }
    let narrow = |mv: i64| i32::try_from(mv).expect("within the output's range");
    Ok(Limits {
        path,
        inverted: args.flag("inverted")?.unwrap_or(false),
        min_mv: narrow(min_mv),
        max_mv: narrow(max_mv),
    })
}

impl World {
    /// Refuses a command that limits rule out.
    pub(crate) fn need_no_limits(&self, command: &str) -> Result<(), Refuse> {
        match self.stored.limits {
            None => Ok(()),
            Some(_) => Err(Refuse::LimitsSet {
                command: command.to_owned(),
            }),
        }
    }

    /// Refuses codes beyond the limits.
    pub(crate) fn check_codes(&self, low: u16, high: u16) -> Result<(), Refuse> {
        let Some(limits) = self.stored.limits else {
            return Ok(());
        };
        let fit = self.output_fit(limits.path);
        let code = |mv: i32| fit.code(f64::from(mv) / 1e3);
        if code(limits.min_mv) <= low && high <= code(limits.max_mv) {
            return Ok(());
        }
        Err(Refuse::BeyondLimits {
            path: limits.path.name(),
            min_mv: limits.min_mv,
            max_mv: limits.max_mv,
        })
    }

    /// Refuses to take the limited output from an inverted stage, which would then give most.
    pub(crate) fn check_switches(&self, after: Switches) -> Result<(), Refuse> {
        let limits = self.stored.limits.filter(|limits| limits.inverted);
        match limits {
            Some(limits) if after.output() != Some(limits.path) => Err(Refuse::LimitedRoute {
                path: limits.path.name(),
            }),
            _ => Ok(()),
        }
    }

    /// Puts the DAC at the safe end of its limits, when there are any; gives it in mV.
    pub(crate) fn park(&mut self, now_ns: u64) -> Option<i32> {
        let limits = self.stored.limits?;
        let park_mv = limits.park_mv();
        let code = self.output_fit(limits.path).code(f64::from(park_mv) / 1e3);
        if limits.inverted && self.switches.at(now_ns).output() != Some(limits.path) {
            let (_, routed) = Switches::PARKED
                .routed(limits.path.name())
                .expect("every output has a route");
            self.switch(routed, now_ns);
        }
        self.dac.hold(code, now_ns);
        Some(park_mv)
    }
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "volts of an output in mV are far below 2^53"
)]
fn milli(volts: f64) -> i64 {
    (volts * 1e3).round() as i64
}

#[cfg(test)]
mod tests;
