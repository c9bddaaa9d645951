//! What an attack is: something that runs until it is dropped, is bounded in everything it does,
//! and counts what it meets.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use tests::judge::RESIDENT_MIB_MAX;

use crate::honest::Deed;
use crate::site::Site;
use crate::wire::Answer;

/// Enough files for an attack with a hundred connections.
const FILES: u64 = 512;

/// One way to harm a server.
pub(crate) trait Attack: Send + Sync {
    fn name(&self) -> &'static str;

    /// A line for people.
    fn does(&self) -> &'static str;

    /// Attack until dropped. Connections, their number and their pace are bounded.
    fn run<'a>(&'a self, site: &'a Site, tally: &'a Tally) -> LocalBoxFuture<'a, ()>;

    /// Extra lines for the server's configuration.
    fn settings(&self) -> &'static str {
        ""
    }

    /// Files that this process or the server may have open at once.
    fn files(&self) -> u64 {
        FILES
    }

    /// What honest callers do during the attack and may expect to succeed.
    fn deeds(&self) -> &'static [Deed] {
        Deed::ALL
    }

    /// Most memory that the server may hold, in MiB.
    fn resident_mib_max(&self) -> u64 {
        RESIDENT_MIB_MAX
    }

    /// A wait for a deed that is quick enough beside the attack, whatever it is without.
    fn quick(&self, _deed: Deed) -> Duration {
        Duration::ZERO
    }

    /// Whether it takes jobs, which need a machine that isolates.
    fn takes_jobs(&self) -> bool {
        false
    }

    /// Whether the server needs time to give memory back.
    fn swells(&self) -> bool {
        false
    }

    /// End what goes on at the server after the attack was dropped, so that it is quiet without it.
    fn calm<'a>(&'a self, _site: &'a Site) -> LocalBoxFuture<'a, ()> {
        Box::pin(async {})
    }

    /// What went wrong from the attack's own point of view. `met` sums up all slices.
    fn complaints(&self, _met: &Met) -> Vec<String> {
        Vec::new()
    }
}

/// What attackers meet, shared by all attackers of one attack.
#[derive(Debug, Default, Clone)]
pub(crate) struct Tally(Rc<Cells>);

#[derive(Debug, Default)]
struct Cells {
    opened: Cell<u64>,
    refused: Cell<u64>,
    cut: Cell<u64>,
    guesses: Cell<u64>,
    answers: RefCell<BTreeMap<u16, u64>>,
}

impl Tally {
    /// A connection was made.
    pub(crate) fn opened(&self) {
        self.0.opened.update(|n| n + 1);
    }

    /// A connection was refused.
    pub(crate) fn refused(&self) {
        self.0.refused.update(|n| n + 1);
    }

    /// The server ended a connection before it answered.
    pub(crate) fn cut(&self) {
        self.0.cut.update(|n| n + 1);
    }

    pub(crate) fn answered(&self, status: u16) {
        *self.0.answers.borrow_mut().entry(status).or_default() += 1;
    }

    pub(crate) fn heard(&self, answer: io::Result<Answer>) {
        match answer {
            Ok(answer) => self.answered(answer.status),
            Err(_) => self.cut(),
        }
    }

    /// The answer to a wrong password for an existing user: 401 when the password was checked.
    pub(crate) fn guessed(&self, answer: io::Result<Answer>) {
        if answer.as_ref().is_ok_and(|answer| answer.status == 401) {
            self.0.guesses.update(|n| n + 1);
        }
        self.heard(answer);
    }

    pub(crate) fn met(&self) -> Met {
        Met {
            opened: self.0.opened.get(),
            refused: self.0.refused.get(),
            cut: self.0.cut.get(),
            guesses: self.0.guesses.get(),
            answers: self.0.answers.borrow().clone(),
        }
    }
}

/// The sum of what attackers met.
#[derive(Debug, Default, Clone)]
pub(crate) struct Met {
    pub(crate) opened: u64,
    pub(crate) refused: u64,
    pub(crate) cut: u64,
    pub(crate) guesses: u64,
    pub(crate) answers: BTreeMap<u16, u64>,
}

impl Met {
    pub(crate) fn join(&mut self, other: Self) {
        self.opened += other.opened;
        self.refused += other.refused;
        self.cut += other.cut;
        self.guesses += other.guesses;
        for (status, count) in other.answers {
            *self.answers.entry(status).or_default() += count;
        }
    }

    /// Whether the server turned anybody away, in any way.
    pub(crate) fn was_turned_away(&self) -> bool {
        let refusals = [408, 413, 429, 503, 507];
        self.refused + self.cut > 0 || refusals.iter().any(|s| self.answers.contains_key(s))
    }
}

impl fmt::Display for Met {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [
            (self.opened, "connected"),
            (self.refused, "refused"),
            (self.cut, "cut"),
            (self.guesses, "guesses looked at"),
        ];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let mut words: Vec<String> = counts.map(|(n, what)| format!("{n} {what}")).collect();
        let answers = self.answers.iter();
        words.extend(answers.map(|(status, n)| format!("{n} × {status}")));
        write!(f, "attackers: {}", words.join(", "))
    }
}
