//! Where the runs of a whole job have their devices from, one after the other.

use std::collections::BTreeMap;
use std::fmt;

use evidence::redact::Words;
use pipeline::plan::Run;

use super::Bench;
use crate::cancel::Cancel;
use crate::outcome::{Breakage, Outcome};

/// Gives runs of benches their devices.
pub trait Benches: fmt::Debug + Sync {
    /// Takes a device for an attempt, from 1, at a run. Blocks until the run has it, or until it was cancelled.
    ///
    /// # Errors
    /// What the attempt comes to that has none.
    fn take(&self, run: &Run, attempt: u32, cancel: &Cancel)
    -> Result<Box<dyn Loan + '_>, Outcome>;
}

/// A device that an attempt has. Dropping it gives it back, too.
pub trait Loan {
    /// The device.
    fn bench(&self) -> &dyn Bench;

    /// Which one it is, for people: a phrase that follows "on".
    fn what(&self) -> String;

    /// What must not be seen in the attempt's log, by name.
    fn secrets(&self) -> &BTreeMap<String, String>;

    /// What must not be seen either, and comes up while the attempt goes on.
    fn words(&self) -> &Words;

    /// Gives the device back, and returns once it is safe.
    ///
    /// # Errors
    /// It may not be safe.
    fn give_back(self: Box<Self>) -> Result<(), Breakage>;
}
