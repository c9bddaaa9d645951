//! Every combination of the axes against every change, and every word.

use std::collections::HashSet;

use super::{Axes, EndedBecause, State, Status, Verdict};

const STATES: [State; 5] = [
    State::Queued,
    State::Assigned,
    State::Running,
    State::Stopping,
    State::Finished,
];

const REASONS: [EndedBecause; 8] = [
    EndedBecause::Completed,
    EndedBecause::Cancelled,
    EndedBecause::QueueTimeout,
    EndedBecause::Timeout,
    EndedBecause::DeviceLost,
    EndedBecause::NoMatchingDevice,
    EndedBecause::DefinitionError,
    EndedBecause::InfraError,
];

const VERDICTS: [Verdict; 3] = [Verdict::Pending, Verdict::Success, Verdict::Failure];

#[derive(Debug, Clone, Copy)]
enum Change {
    Advance(State),
    End(EndedBecause),
    Judge(Verdict),
}

impl Change {
    fn all() -> impl Iterator<Item = Self> {
        let states = STATES.into_iter().map(Self::Advance);
        let reasons = REASONS.into_iter().map(Self::End);
        states
            .chain(reasons)
            .chain(VERDICTS.into_iter().map(Self::Judge))
    }

    fn apply(self, axes: &mut Axes) -> bool {
        match self {
            Self::Advance(to) => axes.advance(to),
            Self::End(because) => axes.end(because),
            Self::Judge(verdict) => axes.judge(verdict),
        }
    }
}

/// Everything that can be reached from the start, by any changes.
fn reachable() -> HashSet<Axes> {
    let mut seen = HashSet::from([Axes::default()]);
    let mut open = vec![Axes::default()];
    while let Some(axes) = open.pop() {
        for change in Change::all() {
            let mut next = axes;
            change.apply(&mut next);
            if seen.insert(next) {
                open.push(next);
            }
        }
    }
    seen
}

#[test]
fn no_change_breaks_a_rule_wherever_it_happens() {
    let all = reachable();
    // Before the end there are 4 states, each with no reason and two verdicts, with one of eight
    // reasons and two verdicts, or completed with a third verdict. Finished: the same, minus those
    // without a reason.
    assert_eq!(all.len(), 4 * (2 + 8 * 2 + 1) + 8 * 2 + 1);
    for before in &all {
        for change in Change::all() {
            let mut after = *before;
            let changed = change.apply(&mut after);
            assert_eq!(changed, after != *before, "{before:?} {change:?}");
            assert!(after.state >= before.state);
            if before.state == State::Finished {
                assert!(!changed, "{before:?} {change:?}");
            }
            if before.ended_because.is_some() {
                assert_eq!(after.ended_because, before.ended_because);
            }
            if before.verdict != Verdict::Pending {
                assert_eq!(after.verdict, before.verdict);
            }
            if after.state == State::Finished {
                assert!(after.ended_because.is_some());
            }
            if after.verdict == Verdict::Success {
                assert_eq!(after.ended_because, Some(EndedBecause::Completed));
            }
        }
    }
}

#[test]
fn what_is_allowed_is_done() {
    for from in reachable() {
        for to in STATES {
            let mut axes = from;
            let reason = to != State::Finished || from.ended_because.is_some();
            assert_eq!(axes.advance(to), to > from.state && reason);
        }
        for because in REASONS {
            let open = from.ended_because.is_none() && from.state != State::Finished;
            assert_eq!(from.clone().end(because), open);
        }
    }
}

#[test]
fn every_end_has_the_word_that_published_clients_know() {
    for axes in reachable() {
        let expected = match (axes.state, axes.ended_because, axes.verdict) {
            (State::Queued, ..) => Status::New,
            (State::Assigned | State::Running, ..) => Status::InProgress,
            (State::Stopping, ..) => Status::Stopping,
            (State::Finished, Some(EndedBecause::Completed), Verdict::Success) => Status::Done,
            (State::Finished, Some(EndedBecause::QueueTimeout | EndedBecause::Timeout), _) => {
                Status::TimedOut
            }
            (State::Finished, ..) => Status::Failed,
        };
        assert_eq!(axes.status(), expected, "{axes:?}");
    }
}
