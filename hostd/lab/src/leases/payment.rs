//! How a debt is paid: the commands of the safe state, one by one, until a pod has acknowledged all
//! of them in one go on one link.
//!
//! An unanswered command may still be carried out, when a slow or stuck pod gets to what it received
//! on an abandoned link. So if anything was left unanswered since the lease began, all commands are
//! sent again after a rest: whatever runs late then runs before them, and not after the device was
//! handed over.
//!
//! Pure: it says what to do next, and takes the result.

/// After this time, a pod that answers on a new link has worked through what it received on the
/// previous one.
pub(crate) const REST_MS: u64 = 1_000;

/// Pause before the next attempt, doubled each time up to the second.
const RETRY_MS_MIN: u64 = 250;
const RETRY_MS_MAX: u64 = 10_000;

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Wait for the pod to answer; then [`Payment::online`].
    Await,
    /// Send the command with this index; then [`Payment::answered`].
    Send(usize),
    /// Let this much time pass; then [`Payment::rested`].
    Rest(u64),
    /// The device is in its safe state.
    Done,
}

/// What came of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The pod has done it, or lacks what would have to be switched off.
    Done,
    /// It says that it cannot do so now.
    NotNow,
    /// There was no answer, or none that counts.
    None,
}

/// One debt that is being paid.
#[derive(Debug)]
pub(crate) struct Payment {
    commands: usize,
    step: Step,
    /// The link that carried everything since the lease began; none if that is not known.
    link: Option<u64>,
    /// Something may still be carried out late.
    loose: bool,
    retry_ms: u64,
}

impl Payment {
    /// A payment of this many commands. `link` is the number of the link when the lease began; none
    /// if the process has restarted since, or something was left unanswered.
    #[must_use]
    pub(crate) fn new(commands: usize, link: Option<u64>) -> Self {
        Self {
            commands,
            step: Step::Await,
            link,
            loose: link.is_none(),
            retry_ms: RETRY_MS_MIN,
        }
    }

    #[must_use]
    pub(crate) fn step(&self) -> Step {
        self.step
    }

    /// The pod answers, on the link with this number.
    pub(crate) fn online(&mut self, link: u64) {
        if self.step == Step::Await {
            self.loose |= self.link != Some(link);
            self.link = Some(link);
            self.step = Step::Send(0);
        }
    }

    /// The result of the command; `link` is the current one.
    pub(crate) fn answered(&mut self, link: u64, answer: Answer) {
        let Step::Send(index) = self.step else { return };
        self.step = match answer {
            Answer::Done if self.link == Some(link) => self.after(index),
            Answer::NotNow => self.retry(),
            Answer::Done | Answer::None => {
                self.loose = true;
                self.retry()
            }
        };
    }

    /// The time has passed.
    pub(crate) fn rested(&mut self) {
        if matches!(self.step, Step::Rest(_)) {
            self.step = Step::Await;
        }
    }

    fn after(&mut self, index: usize) -> Step {
        if index + 1 < self.commands {
            return Step::Send(index + 1);
        }
        if std::mem::take(&mut self.loose) {
            return Step::Rest(REST_MS);
        }
        Step::Done
    }

    fn retry(&mut self) -> Step {
        let rest_ms = self.retry_ms;
        self.retry_ms = (rest_ms * 2).min(RETRY_MS_MAX);
        Step::Rest(rest_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answer everything with `Done` on `link`; returns what was sent until it rests or is done.
    fn run(payment: &mut Payment, link: u64) -> usize {
        let mut sent = 0;
        payment.online(link);
        while let Step::Send(index) = payment.step() {
            assert_eq!(index, sent);
            payment.answered(link, Answer::Done);
            sent += 1;
        }
        sent
    }

    #[test]
    fn a_quiet_link_needs_one_go() {
        let mut payment = Payment::new(3, Some(7));
        assert_eq!(payment.step(), Step::Await);
        assert_eq!(run(&mut payment, 7), 3);
        assert_eq!(payment.step(), Step::Done);
    }

    #[test]
    fn what_may_come_late_is_followed_by_all_of_it_once_more() {
        for link in [None, Some(6)] {
            let mut payment = Payment::new(3, link);
            assert_eq!(run(&mut payment, 7), 3);
            assert_eq!(payment.step(), Step::Rest(REST_MS));
            payment.rested();
            assert_eq!(run(&mut payment, 7), 3);
            assert_eq!(payment.step(), Step::Done);
        }
    }

    #[test]
    fn an_unanswered_command_begins_all_over_and_twice() {
        let mut payment = Payment::new(2, Some(1));
        payment.online(1);
        payment.answered(1, Answer::Done);
        payment.answered(1, Answer::None);
        assert_eq!(payment.step(), Step::Rest(RETRY_MS_MIN));
        payment.rested();
        assert_eq!(run(&mut payment, 2), 2);
        assert_eq!(payment.step(), Step::Rest(REST_MS));
        payment.rested();
        // A different link in between does not confirm anything.
        payment.online(3);
        payment.answered(3, Answer::Done);
        payment.answered(4, Answer::Done);
        assert!(matches!(payment.step(), Step::Rest(_)));
        payment.rested();
        run(&mut payment, 4);
        assert_eq!(payment.step(), Step::Rest(REST_MS));
    }

    #[test]
    fn a_pod_that_cannot_now_is_asked_again_ever_more_seldom() {
        let mut payment = Payment::new(1, Some(1));
        let mut rests = Vec::new();
        for _ in 0..8 {
            payment.online(1);
            payment.answered(1, Answer::NotNow);
            let Step::Rest(rest_ms) = payment.step() else {
                panic!("it is through");
            };
            rests.push(rest_ms);
            payment.rested();
        }
        assert!(rests.is_sorted() && rests[7] == RETRY_MS_MAX, "{rests:?}");
        payment.online(1);
        payment.answered(1, Answer::Done);
        assert_eq!(payment.step(), Step::Done);
    }
}
