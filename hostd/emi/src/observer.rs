//! Who watches a check: told how far it is, asked whether to go on.

use std::sync::{Mutex, PoisonError};

/// Watches a check. Called from many threads.
pub trait Observer: Sync {
    /// A stage has begun.
    fn stage(&self, _name: &'static str) {}

    /// How much of the whole check is done, from 0 to 100 per cent. Each call has a greater number than the one before,
    /// and the last one, of a check that was not stopped, has 100.
    fn progress(&self, _percent: u8) {}

    /// Whether to stop. Asked several times a millisecond, and the last time right before a check ends.
    fn is_cancelled(&self) -> bool {
        false
    }

    /// Whether time is up. Asked as often. A check then ends with what it has, and its report says what is missing; a board
    /// that is being read is [cancelled](crate::OpenError::Cancelled).
    fn is_late(&self) -> bool {
        false
    }

    /// Whether to stop, for either reason.
    fn is_over(&self) -> bool {
        self.is_cancelled() || self.is_late()
    }
}

/// Nobody.
impl Observer for () {}

/// A check that was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the check was stopped")]
pub struct Cancelled;

/// Asked from any thread whether to stop.
pub type Stop<'a> = &'a (dyn Fn() -> bool + Sync);

/// How many small things are done between two questions whether to stop: less than a millisecond.
pub(crate) const STOP_EVERY: usize = 4_096;

/// A part of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Nets,
    Copper,
    Emission,
    Rules,
    Report,
    Done,
}

impl Stage {
    fn name(self) -> &'static str {
        match self {
            Self::Nets => "nets",
            Self::Copper => "copper",
            Self::Emission => "emission",
            Self::Rules => "rules",
            Self::Report => "report",
            Self::Done => "done",
        }
    }

    /// How much of a check is done when it begins, in per cent, about as the largest boards have it.
    fn begins_at(self) -> u8 {
        match self {
            Self::Nets => 0,
            Self::Copper => 2,
            Self::Emission => 30,
            Self::Rules => 45,
            Self::Report => 98,
            Self::Done => 100,
        }
    }

    fn next(self) -> Self {
        match self {
            Self::Nets => Self::Copper,
            Self::Copper => Self::Emission,
            Self::Emission => Self::Rules,
            Self::Rules => Self::Report,
            Self::Report | Self::Done => Self::Done,
        }
    }
}

/// An observer, and what it was told.
pub(crate) struct Watch<'a> {
    observer: &'a dyn Observer,
    /// The last percentage; greater than all, until there is one.
    told: Mutex<Option<u8>>,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(observer: &'a dyn Observer) -> Self {
        Self {
            observer,
            told: Mutex::new(None),
        }
    }

    /// Says that a stage begins.
    pub(crate) fn begin(&self, stage: Stage) {
        if stage != Stage::Done {
            self.observer.stage(stage.name());
        }
        self.tell(stage.begins_at());
    }

    /// Says that so many of the equal parts of a stage are done.
    pub(crate) fn advance(&self, stage: Stage, done: usize, of: usize) {
        let (from, to) = (stage.begins_at(), stage.next().begins_at());
        let part = usize::from(to - from) * done.min(of) / of.max(1);
        self.tell(from + u8::try_from(part).unwrap_or(0));
    }

    /// Whether to stop, for either reason.
    pub(crate) fn is_stopped(&self) -> bool {
        self.observer.is_over()
    }

    /// Whether what was stopped is stopped since time is up, and for no other reason.
    pub(crate) fn is_late(&self) -> bool {
        self.observer.is_late() && !self.observer.is_cancelled()
    }

    /// Whether nobody wants the report any more, as an error.
    pub(crate) fn is_wanted(&self) -> Result<(), Cancelled> {
        if self.observer.is_cancelled() {
            Err(Cancelled)
        } else {
            Ok(())
        }
    }

    /// Asks whether to go on.
    pub(crate) fn go_on(&self) -> Result<(), Cancelled> {
        if self.is_stopped() {
            Err(Cancelled)
        } else {
            Ok(())
        }
    }

    fn tell(&self, percent: u8) {
        // The lock is held during the call, so that no thread overtakes another one with a smaller number.
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.is_none_or(|told| told < percent) {
            *told = Some(percent);
            self.observer.progress(percent);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Told(Mutex<Vec<u8>>);

    impl Observer for Told {
        fn progress(&self, percent: u8) {
            self.0.lock().expect("nobody panics").push(percent);
        }
    }

    #[test]
    fn percentages_rise_whatever_the_order() {
        let told = Told::default();
        let watch = Watch::new(&told);
        watch.begin(Stage::Nets);
        watch.begin(Stage::Copper);
        watch.advance(Stage::Copper, 3, 4);
        watch.advance(Stage::Copper, 1, 4);
        watch.advance(Stage::Copper, 9, 4);
        watch.advance(Stage::Rules, 1, 0);
        watch.begin(Stage::Done);
        assert_eq!(
            *told.0.lock().expect("nobody panics"),
            [0, 2, 23, 30, 45, 100]
        );
    }
}
