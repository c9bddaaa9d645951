//! Follows the DAC's output through time: the code that it is given and the level it has settled
//! to.
//!
//! A walk only goes forward. Long spans are skipped if nothing depends on them: a level is settled
//! after some time constants, whatever came before.

use super::{Output, Piece, Wave};
use crate::control::LoopState;
use crate::frontend::{OUTPUT_TAU_NS, Wires};
use crate::timeline::Pieces;

/// After this long, the remaining distance of a step is far less than a code.
const SETTLED_NS: u64 = 14_000;

/// Below this distance, in codes, a level counts as settled.
const SETTLED_CODES: f64 = 1e-3;

/// The DAC's clock period is 125/6 ns.
const TICK_NS_OVER: u64 = 125;
const TICK_NS_UNDER: u64 = 6;

/// The output at an instant.
#[derive(Debug, Clone)]
pub(crate) struct Walk {
    at_ns: u64,
    /// Number of the current piece.
    piece: u64,
    code: u16,
    level: f64,
    running: Option<LoopState>,
}

impl Walk {
    /// An output that has held `code` since the start.
    pub(crate) fn holding(code: u16) -> Self {
        Self {
            at_ns: 0,
            piece: 0,
            code,
            level: f64::from(code),
            running: None,
        }
    }

    pub(crate) fn at_ns(&self) -> u64 {
        self.at_ns
    }

    /// The DAC's current code.
    pub(crate) fn code(&self) -> u16 {
        self.code
    }

    /// The level of its output, in codes.
    pub(crate) fn level(&self) -> f64 {
        self.level
    }

    /// The loop that sets the code, with its state, if there is one.
    pub(crate) fn running(&self) -> Option<&LoopState> {
        self.running.as_ref()
    }

    /// Advances to an instant.
    pub(crate) fn advance(&mut self, pieces: &mut Pieces<Piece>, wires: &mut Wires, to_ns: u64) {
        self.enter(pieces.current());
        while let Some(next_ns) = pieces.next_ns().filter(|next| *next <= to_ns) {
            self.follow(&pieces.current().output, wires, next_ns);
            pieces.step();
            self.enter(pieces.current());
        }
        self.follow(&pieces.current().output, wires, to_ns);
    }

    /// Starts a new piece at its first instant.
    fn enter(&mut self, piece: &Piece) {
        if self.piece == piece.number {
            return;
        }
        self.piece = piece.number;
        self.running = None;
        match &piece.output {
            Output::Hold(code) => self.code = *code,
            Output::Freeze => {}
            Output::Play { wave, .. } => self.code = wave.codes[0],
            Output::Regulate(order) => {
                let state = LoopState::new(order.as_ref().clone(), self.code);
                self.code = state.code();
                self.running = Some(state);
            }
        }
    }

    /// Advances within one piece.
    fn follow(&mut self, output: &Output, wires: &mut Wires, to_ns: u64) {
        match output {
            Output::Hold(_) | Output::Freeze => {}
            Output::Play { wave, start_ns } => self.play(wave, *start_ns, to_ns),
            Output::Regulate(_) => self.regulate(wires, to_ns),
        }
        self.settle_to(to_ns);
    }

    fn play(&mut self, wave: &Wave, start_ns: u64, to_ns: u64) {
        let divider = u64::from(wave.divider);
        let step_at = |ns: u64| {
            let ticks = u128::from(ns.saturating_sub(start_ns)) * u128::from(TICK_NS_UNDER);
            let step = ticks / u128::from(TICK_NS_OVER * divider);
            u64::try_from(step).expect("fewer steps than nanoseconds")
        };
        let code = |step: u64| {
            let index = usize::try_from(step % wave.codes.len() as u64);
            wave.codes[index.expect("less than the length")]
        };
        let skipped_ns = to_ns.saturating_sub(SETTLED_NS);
        if self.at_ns < skipped_ns {
            self.at_ns = skipped_ns;
            self.code = code(step_at(skipped_ns));
            self.level = f64::from(self.code);
        }
        for step in step_at(self.at_ns) + 1..=step_at(to_ns) {
            // The first instant, in whole nanoseconds, at which the step has begun.
            let begins_ns = (step * divider * TICK_NS_OVER).div_ceil(TICK_NS_UNDER);
            self.settle_to(start_ns + begins_ns);
            self.code = code(step);
        }
    }

    fn regulate(&mut self, wires: &mut Wires, to_ns: u64) {
        let Some(mut running) = self.running.take() else {
            return;
        };
        running.skip_to(wires, self.level, to_ns);
        while let Some(tick_ns) = running.next_tick_ns().filter(|tick| *tick <= to_ns) {
            let sampled_ns = running.sample_ns_for(tick_ns);
            self.settle_to(sampled_ns);
            running.tick(wires, sampled_ns, self.level);
            self.settle_to(tick_ns);
            self.code = running.code();
        }
        self.code = running.code();
        self.running = Some(running);
    }

    /// Lets the output settle towards its code.
    fn settle_to(&mut self, to_ns: u64) {
        let target = f64::from(self.code);
        let distance = self.level - target;
        if distance.abs() < SETTLED_CODES {
            self.level = target;
        } else if to_ns > self.at_ns {
            let elapsed_ns = u32::try_from(to_ns - self.at_ns).map_or(f64::INFINITY, f64::from);
            self.level = target + distance * (-elapsed_ns / OUTPUT_TAU_NS).exp();
        }
        self.at_ns = self.at_ns.max(to_ns);
    }
}

/// A walk together with the pieces that it walks along.
#[derive(Debug, Clone)]
pub(crate) struct Player {
    walk: Walk,
    pieces: Pieces<Piece>,
    wires: Wires,
}

impl Player {
    pub(crate) fn new(walk: Walk, pieces: Pieces<Piece>, wires: Wires) -> Self {
        Self {
            walk,
            pieces,
            wires,
        }
    }

    pub(crate) fn advance(&mut self, to_ns: u64) -> &Walk {
        self.walk.advance(&mut self.pieces, &mut self.wires, to_ns);
        &self.walk
    }

    pub(crate) fn into_walk(self) -> Walk {
        self.walk
    }

    /// What the ADC reads at an instant.
    pub(crate) fn count(&mut self, at_ns: u64) -> u16 {
        let level = self.advance(at_ns).level();
        self.wires.count(level, at_ns)
    }
}
