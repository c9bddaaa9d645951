//! How much may be compared. Looking for what is near is quick on any real board; a stranger may put everything on one spot. What
//! is allowed grows with the board, since what is near a piece of copper does not.

use super::error::{OpenError, Steps};
use crate::limits::Limits;
use crate::observer::Observer;

/// Comparisons that are left.
pub(super) struct Budget<'a> {
    left: usize,
    most: usize,
    things: usize,
    per_thing: usize,
    watch: Steps<'a>,
    observer: &'a dyn Observer,
}

impl<'a> Budget<'a> {
    /// For a board with so many sides of copper, holes and points of a netlist.
    pub(super) fn new(things: usize, limits: &Limits, observer: &'a dyn Observer) -> Self {
        let most = limits
            .pairs_max
            .max(limits.pairs_per_thing_max.saturating_mul(things));
        Self {
            left: most,
            most,
            things,
            per_thing: limits.pairs_per_thing_max,
            watch: Steps::new(observer),
            observer,
        }
    }

    /// Whether to stop, for those who are asked from any thread.
    pub(super) fn stop(&self) -> impl Fn() -> bool + Sync + use<'a> {
        let observer = self.observer;
        move || observer.is_over()
    }

    /// Takes so many off.
    pub(super) fn spend(&mut self, count: usize) -> Result<(), OpenError> {
        self.watch.step()?;
        self.left = self
            .left
            .checked_sub(count)
            .ok_or_else(|| self.exceeded())?;
        Ok(())
    }

    fn exceeded(&self) -> OpenError {
        let (most, things, per_thing) = (self.most, self.things, self.per_thing);
        let limit = if self.per_thing.saturating_mul(things) < most {
            format!(
                "the limit for boards of up to {} sides and holes",
                most / per_thing.max(1)
            )
        } else {
            format!("{per_thing} for each of its {things} sides and holes")
        };
        OpenError::whole(format!(
            "to see what touches what, more than {most} pairs of pieces of copper and holes would have to be compared ({limit}): \
             much lies on one spot; is something in the files several times?"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_allowed_grows_with_the_board_and_the_limit_is_said() {
        let limits = Limits {
            pairs_max: 1000,
            pairs_per_thing_max: 20,
            ..Limits::default()
        };
        let refused = |things: usize| {
            let mut budget = Budget::new(things, &limits, &());
            let most = 1000.max(20 * things);
            budget.spend(most).unwrap();
            budget.spend(1).unwrap_err().to_string()
        };
        let small = refused(10);
        assert!(
            small.contains("more than 1000 pairs") && small.contains("boards of up to 50 sides"),
            "{small}"
        );
        let large = refused(500);
        assert!(
            large.contains("more than 10000 pairs")
                && large.contains("20 for each of its 500 sides and holes"),
            "{large}"
        );
    }
}
