//! The DAC and the ADC with the switches around them: what the output does, what the inputs see,
//! the fits in use, and the output's limits.

use std::sync::Arc;

use super::SimConfig;
use super::analog::{AnalogSource, Input, Switches};
use super::board::{Board, Fit, OutputPath};
use super::control;
use super::dac::{Dac, Player, Walk};
use super::frontend::{Hardware, Wires};
use super::refuse::Refuse;
use super::stored::Stored;
use super::timeline::{Pieces, Timeline};

pub(crate) struct Converters {
    pub(crate) dac: Dac,
    pub(crate) switches: Timeline<Switches>,
    /// The last curve given to the control loop.
    pub(crate) curve: Arc<[u16]>,
    pub(crate) hardware: Hardware,
    pub(crate) stored: Stored,
    board: Board,
    seed: u64,
    /// What is connected to the front connector and to the 4-20 mA input.
    ext: AnalogSource,
    current_in: AnalogSource,
}

impl Converters {
    pub(crate) fn new(config: &SimConfig) -> Self {
        Self {
            dac: Dac::new(),
            switches: Timeline::new(Switches::PARKED),
            curve: control::identity(),
            hardware: Hardware::new(config.board, config.seed),
            stored: Stored::default(),
            board: config.board,
            seed: config.seed,
            ext: config.ext.clone(),
            current_in: config.current_in.clone(),
        }
    }

    /// After a restart of the firmware: outputs off, or at the safe end of their limits.
    pub(crate) fn reboot(&mut self, now_ns: u64) {
        self.dac.reboot(now_ns);
        self.switch(Switches::PARKED, now_ns);
        self.curve = control::identity();
        self.park(now_ns);
    }

    /// Forgets what no capture can show any more.
    pub(crate) fn settle(&mut self, before_ns: u64) {
        if before_ns > self.dac.settled_ns() {
            let walk = self.walk(before_ns);
            self.dac.settle(walk);
        }
        self.switches.prune(before_ns);
    }

    pub(crate) fn board(&self) -> Board {
        self.board
    }

    fn wires(&self, from_ns: u64, to_ns: u64) -> Wires {
        Wires {
            hardware: self.hardware.clone(),
            seed: self.seed,
            ext: self.ext.clone(),
            current_in: self.current_in.clone(),
            switches: Pieces::new(self.switches.window(from_ns, to_ns)),
        }
    }

    /// The DAC's output and what the ADC sees, for a span of time.
    pub(crate) fn player(&self, from_ns: u64, to_ns: u64) -> Player {
        let to_ns = to_ns.max(from_ns);
        self.dac
            .player(|since_ns| self.wires(since_ns, to_ns), to_ns)
    }

    /// The DAC's output at an instant.
    pub(crate) fn walk(&self, at_ns: u64) -> Walk {
        let mut player = self.player(at_ns, at_ns);
        player.advance(at_ns);
        player.into_walk()
    }

    /// Switches an analog path; returns its full name.
    pub(crate) fn route(&mut self, path: &str, now_ns: u64) -> Result<&'static str, Refuse> {
        let before = *self.switches.at(now_ns);
        let (name, after) = before.routed(path).ok_or(Refuse::Bad {
            field: "path",
            want: "off, dac_3v3, dac_5v, dac_12v, adc_ext, cal1, cal2, current_in or current_out",
        })?;
        self.check_switches(after)?;
        self.switch(after, now_ns);
        Ok(name)
    }

    pub(crate) fn switch(&mut self, after: Switches, now_ns: u64) {
        if *self.switches.at(now_ns) != after {
            self.switches.set(now_ns, after);
        }
    }

    /// The fit in use for an input.
    pub(crate) fn input_fit(&self, input: Input) -> Fit {
        self.stored.calibration.input(self.board, input)
    }

    /// The fit in use for an output.
    pub(crate) fn output_fit(&self, path: OutputPath) -> Fit {
        self.stored.calibration.output(self.board, path)
    }

    /// Refuses a command that is not allowed while limits are set.
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

    /// Refuses to disconnect the limited output from an inverted stage, whose output would then be
    /// at its maximum.
    pub(crate) fn check_switches(&self, after: Switches) -> Result<(), Refuse> {
        let limits = self.stored.limits.filter(|limits| limits.inverted);
        match limits {
            Some(limits) if after.output() != Some(limits.path) => Err(Refuse::LimitedRoute {
                path: limits.path.name(),
            }),
            _ => Ok(()),
        }
    }

    /// Puts the DAC at the safe end of its limits, if there are any; returns that end in mV.
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
