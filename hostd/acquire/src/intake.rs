//! Raw samples of one capture as they come: from the trigger on, and exactly as many as were asked for.

use crate::error::AcquireError;
use crate::trigger::Search;

/// What is still to come of a capture.
#[derive(Debug)]
pub(crate) struct Intake {
    /// Bytes of a sample.
    unit: usize,
    /// What is waited for.
    search: Option<Search>,
    /// Samples asked for.
    asked: u64,
    /// Of these, how many came.
    found: u64,
    /// The beginning of a sample whose rest has not come.
    begun: Vec<u8>,
}

impl Intake {
    pub(crate) fn new(unit: usize, asked: u64, search: Option<Search>) -> Self {
        Self {
            unit,
            search,
            asked,
            found: 0,
            begun: Vec::new(),
        }
    }

    /// Takes bytes; returns those of whole samples that belong to the capture, which may be none.
    ///
    /// # Errors
    /// The trigger did not come.
    pub(crate) fn push(&mut self, bytes: Vec<u8>) -> Result<Vec<u8>, AcquireError> {
        let mut raw = self.whole(bytes);
        if let Some(search) = &mut self.search {
            let Some(first) = search.find(&raw)? else {
                return Ok(Vec::new());
            };
            self.search = None;
            raw.drain(..first * self.unit);
        }
        let missing = usize::try_from(self.missing()).unwrap_or(usize::MAX);
        raw.truncate(missing.saturating_mul(self.unit));
        self.found += (raw.len() / self.unit) as u64;
        Ok(raw)
    }

    /// Whole samples; the rest is kept for later.
    fn whole(&mut self, mut bytes: Vec<u8>) -> Vec<u8> {
        if !self.begun.is_empty() {
            let mut joined = std::mem::take(&mut self.begun);
            joined.append(&mut bytes);
            bytes = joined;
        }
        let whole = bytes.len() / self.unit * self.unit;
        self.begun = bytes.split_off(whole);
        bytes
    }

    /// What is still waited for.
    pub(crate) fn search(&self) -> Option<&Search> {
        self.search.as_ref()
    }

    /// Samples that came.
    pub(crate) fn found(&self) -> u64 {
        self.found
    }

    /// Samples asked for.
    pub(crate) fn asked(&self) -> u64 {
        self.asked
    }

    /// Samples that are to come.
    pub(crate) fn missing(&self) -> u64 {
        self.asked - self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_whole_and_exactly_as_many_as_asked_for() {
        let mut intake = Intake::new(2, 3, None);
        assert_eq!(intake.push(vec![1]).unwrap(), [0_u8; 0]);
        assert_eq!(intake.push(vec![2, 3]).unwrap(), [1, 2]);
        assert_eq!(intake.missing(), 2);
        assert_eq!(intake.push(vec![4, 5, 6, 7, 8, 9]).unwrap(), [3, 4, 5, 6]);
        assert_eq!(intake.missing(), 0);
        assert_eq!(intake.push(vec![1, 2]).unwrap(), [0_u8; 0]);
        assert_eq!(intake.found(), 3);
    }
}
