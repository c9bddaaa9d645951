//! The second reading of a file: what happens in it, as samples for the store.

use std::ops::ControlFlow;

use super::rate::Rate;
use super::scale::{Scale, is_value};
use super::source::Sink;
use super::{ImportError, Store};

/// Edges passed on at a time.
const EDGES: usize = 4096;

/// Counts passed on at a time.
const COUNTS: usize = 1 << 16;

/// Logic channels on their way to the store.
pub(super) struct LogicFeed {
    rate: Rate,
    samples: u64,
    edges: Vec<(u64, u64)>,
    /// The last edge, which another at the same sample may replace.
    last: Option<(u64, u64)>,
    is_raw: bool,
}

impl LogicFeed {
    pub(super) fn new(rate: Rate, samples: u64) -> Self {
        Self {
            rate,
            samples,
            edges: Vec::with_capacity(EDGES),
            last: None,
            is_raw: false,
        }
    }
}

/// An analog channel on its way to the store.
pub(super) struct AnalogFeed {
    rate: Rate,
    scale: Scale,
    samples: u64,
    /// The value in force, and from which sample on it is missing; none before the first.
    held: Option<u16>,
    at: u64,
    counts: Vec<u16>,
}

impl AnalogFeed {
    pub(super) fn new(rate: Rate, scale: Scale, samples: u64) -> Self {
        Self {
            rate,
            scale,
            samples,
            held: None,
            at: 0,
            counts: Vec::with_capacity(COUNTS),
        }
    }

    /// The value in force lasts up to `upto`.
    fn hold(&mut self, upto: u64, store: &mut dyn Store) -> Result<(), ImportError> {
        let upto = upto.min(self.samples);
        let count = self.held.unwrap_or(0);
        while self.at < upto {
            let room = COUNTS - self.counts.len();
            let now = usize::try_from(upto - self.at).unwrap_or(room).min(room);
            self.counts.resize(self.counts.len() + now, count);
            self.at += now as u64;
            if self.counts.len() == COUNTS {
                self.pass(store)?;
            }
        }
        Ok(())
    }

    fn pass(&mut self, store: &mut dyn Store) -> Result<(), ImportError> {
        let flow = store.counts(&self.counts);
        self.counts.clear();
        go_on(flow)
    }
}

/// Passes what happens on to a store.
pub(super) struct Feed<'s> {
    store: &'s mut dyn Store,
    tick: Rate,
    logic: Option<LogicFeed>,
    analog: Option<AnalogFeed>,
}

impl<'s> Feed<'s> {
    pub(super) fn new(
        store: &'s mut dyn Store,
        tick: Rate,
        logic: Option<LogicFeed>,
        analog: Option<AnalogFeed>,
    ) -> Self {
        Self {
            store,
            tick,
            logic,
            analog,
        }
    }

    /// The file has ended.
    pub(super) fn finish(mut self) -> Result<(), ImportError> {
        if let Some(logic) = self.logic.as_mut().filter(|logic| !logic.is_raw) {
            logic.edges.extend(logic.last.take());
            go_on(self.store.edges(&logic.edges, logic.samples))?;
        }
        if let Some(mut analog) = self.analog.take() {
            analog.hold(analog.samples, self.store)?;
            if !analog.counts.is_empty() {
                analog.pass(self.store)?;
            }
        }
        Ok(())
    }
}

impl Sink for Feed<'_> {
    fn samples(&mut self, raw: &[u8], unit: usize) -> Result<(), ImportError> {
        if let Some(logic) = &mut self.logic {
            logic.is_raw = true;
            go_on(self.store.samples(raw, unit))?;
        }
        Ok(())
    }

    fn levels(&mut self, at: u64, levels: u64) -> Result<(), ImportError> {
        let Some(logic) = &mut self.logic else {
            return Ok(());
        };
        let at = logic.rate.sample(at, self.tick)?;
        match &mut logic.last {
            _ if at >= logic.samples => return Ok(()),
            // A later change at the same sample is what remains of both.
            Some((last, held)) if *last >= at => *held = levels,
            Some((_, held)) if *held == levels => {}
            last => {
                let before = last.replace((at, levels));
                logic.edges.extend(before);
                if logic.edges.len() >= EDGES {
                    let flow = self.store.edges(&logic.edges, at);
                    logic.edges.clear();
                    go_on(flow)?;
                }
            }
        }
        Ok(())
    }

    fn value(&mut self, at: u64, value: f64) -> Result<(), ImportError> {
        let Some(analog) = self.analog.as_mut().filter(|_| is_value(value)) else {
            return Ok(());
        };
        let count = analog.scale.count(value);
        // Before the first value, the channel is taken to have had it.
        analog.held.get_or_insert(count);
        let at = analog.rate.sample(at, self.tick)?;
        analog.hold(at, self.store)?;
        analog.held = Some(count);
        Ok(())
    }
}

fn go_on(flow: ControlFlow<()>) -> Result<(), ImportError> {
    match flow {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(ImportError::Stopped),
    }
}
