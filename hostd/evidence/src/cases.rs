//! The cases of a run, one by one: however many there are, no more than one is in memory. They are kept in a file of JSON
//! lines, within bounds, and read back whenever a document is made of them.

use std::fmt;
use std::io::{self, BufRead, Write};
use std::mem;
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use crate::result::{Case, Fault, Outcome};

/// Cases that a run may have.
pub const CASES_MAX: u64 = 100_000;

/// Bytes of text that the cases of a run keep. Each case behind that keeps its outcome and the begin of its name and of
/// its reason.
pub const TEXT_BYTES_MAX: u64 = 32 << 20;

/// Bytes of a name, a kind or a message that are kept whatever came before.
pub const TEXT_BYTES_MIN: usize = 200;

/// Longest line that is read back: what a case can have within [`Bounds`](crate::junit::Bounds), every byte escaped.
const LINE_BYTES_MAX: u64 = 4 << 20;

/// How many cases there are, by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// They passed.
    pub passed: u64,
    /// The firmware or the test failed.
    pub failed: u64,
    /// The bench failed.
    pub bench_failed: u64,
    /// The pipeline lacks something, so that nothing was judged.
    #[serde(default)]
    pub not_judged: u64,
    /// They were not run.
    pub skipped: u64,
}

/// Cases in their order.
pub type Cases = Box<dyn Iterator<Item = io::Result<Case>> + Send>;

/// Where cases come from, as often as they are asked for.
pub trait Source: fmt::Debug + Send + Sync {
    /// All of them, from the first on.
    ///
    /// # Errors
    /// They cannot be read.
    fn open(&self) -> io::Result<Cases>;
}

/// Why no more cases are taken.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// There are too many.
    #[error("take its cases: the run has more than {CASES_MAX}; split it into several runs")]
    Many,
    /// They cannot be written.
    #[error("keep its cases")]
    Io(#[from] io::Error),
}

/// Cases on their way to a file.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    cases: u64,
    text_bytes: u64,
    cut_bytes: u64,
    bytes: u64,
}

/// Cases from a file.
#[derive(Debug)]
pub struct Reader<R> {
    from: R,
}

impl Counts {
    /// Of these cases.
    #[must_use]
    pub fn of(cases: &[Case]) -> Self {
        let mut counts = Self::default();
        cases.iter().for_each(|case| counts.add(&case.outcome));
        counts
    }

    /// Counts one.
    pub fn add(&mut self, outcome: &Outcome) {
        *match outcome {
            Outcome::Passed => &mut self.passed,
            Outcome::Failed(_) => &mut self.failed,
            Outcome::BenchFailed(fault) if fault.is_of_bench() => &mut self.bench_failed,
            Outcome::BenchFailed(_) => &mut self.not_judged,
            Outcome::Skipped(_) => &mut self.skipped,
        } += 1;
    }

    /// How many have an outcome of this kind.
    #[must_use]
    pub fn like(&self, outcome: &Outcome) -> u64 {
        match outcome {
            Outcome::Passed => self.passed,
            Outcome::Failed(_) => self.failed,
            Outcome::BenchFailed(_) => self.errors(),
            Outcome::Skipped(_) => self.skipped,
        }
    }

    /// Those of which nobody knows whether the firmware is right.
    #[must_use]
    pub fn errors(&self) -> u64 {
        self.bench_failed + self.not_judged
    }

    /// All.
    #[must_use]
    pub fn all(&self) -> u64 {
        self.passed + self.failed + self.errors() + self.skipped
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.bench_failed += other.bench_failed;
        self.not_judged += other.not_judged;
        self.skipped += other.skipped;
    }
}

impl Source for Vec<Case> {
    fn open(&self) -> io::Result<Cases> {
        Ok(Box::new(self.clone().into_iter().map(Ok)))
    }
}

impl<W: Write> Writer<W> {
    /// Of a run that has none yet.
    pub fn new(out: W) -> Self {
        Self {
            out,
            cases: 0,
            text_bytes: 0,
            cut_bytes: 0,
            bytes: 0,
        }
    }

    /// Keeps a case, with as much of its text as there is room for.
    ///
    /// # Errors
    /// There are too many, or it cannot be written.
    pub fn push(&mut self, mut case: Case) -> Result<(), Refused> {
        if self.cases == CASES_MAX {
            return Err(Refused::Many);
        }
        let whole = text_bytes(&mut case);
        if self.text_bytes.saturating_add(whole) > TEXT_BYTES_MAX {
            shorten(&mut case);
        }
        let kept = text_bytes(&mut case);
        let mut line = serde_json::to_vec(&case).map_err(io::Error::other)?;
        line.push(b'\n');
        self.out.write_all(&line)?;
        self.cases += 1;
        self.text_bytes += kept;
        self.cut_bytes += whole - kept;
        self.bytes += line.len() as u64;
        Ok(())
    }

    /// Bytes of text that were not kept.
    #[must_use]
    pub fn cut_bytes(&self) -> u64 {
        self.cut_bytes
    }

    /// Bytes that were written.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// What is written to.
    pub fn out(&mut self) -> &mut W {
        &mut self.out
    }
}

impl<R: BufRead> Reader<R> {
    /// From the first on.
    pub fn new(from: R) -> Self {
        Self { from }
    }

    fn line(&mut self) -> io::Result<Option<Case>> {
        let mut line = Vec::new();
        let mut limited = io::Read::take(&mut self.from, LINE_BYTES_MAX);
        limited.read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(None);
        }
        Ok(Some(serde_json::from_slice(&line)?))
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = io::Result<Case>;

    fn next(&mut self) -> Option<io::Result<Case>> {
        self.line().transpose()
    }
}

/// The texts of a case that say what it is and why it failed, and those that say more.
fn texts(case: &mut Case) -> (Vec<&mut String>, Vec<&mut String>) {
    let (mut first, mut more) = (vec![&mut case.name], vec![&mut case.output]);
    match &mut case.outcome {
        Outcome::Failed(fault) | Outcome::BenchFailed(fault) => {
            let Fault {
                kind,
                message,
                detail,
            } = fault;
            first.extend([kind, message]);
            more.push(detail);
        }
        Outcome::Skipped(why) => first.push(why),
        Outcome::Passed => {}
    }
    (first, more)
}

fn text_bytes(case: &mut Case) -> u64 {
    let (first, more) = texts(case);
    let all = first.iter().chain(&more);
    all.map(|text| text.len() as u64).sum()
}

/// Leaves what says which case it is and how it ended.
fn shorten(case: &mut Case) {
    let (first, more) = texts(case);
    for text in first {
        let mut end = text.len().min(TEXT_BYTES_MIN);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
    }
    for text in more {
        mem::take(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(name: &str, outcome: Outcome, output: usize) -> Case {
        Case {
            name: name.to_owned(),
            outcome,
            output: "o".repeat(output),
            ..Case::default()
        }
    }

    fn failed(message: &str) -> Outcome {
        Outcome::Failed(Fault {
            kind: "assert".to_owned(),
            message: message.to_owned(),
            detail: "why".to_owned(),
        })
    }

    #[test]
    fn what_was_kept_is_read_again() {
        let cases = [
            case("a\n\u{1b}", failed("expected <ok>"), 3),
            case("b", Outcome::Skipped("slow".to_owned()), 0),
        ];
        let mut writer = Writer::new(Vec::new());
        for case in cases.clone() {
            writer.push(case).unwrap();
        }
        assert_eq!(writer.bytes(), writer.out.len() as u64);
        assert_eq!(writer.cut_bytes(), 0);
        let again: Vec<Case> = Reader::new(&*writer.out).map(Result::unwrap).collect();
        assert_eq!(again, cases);
        let cut_off = &writer.out[..writer.out.len() - 3];
        assert!(Reader::new(cut_off).nth(1).unwrap().is_err());
    }

    #[test]
    fn text_beyond_the_bound_is_cut_and_every_outcome_is_kept() {
        let mut writer = Writer::new(io::sink());
        let large = usize::try_from(TEXT_BYTES_MAX).unwrap() - 10;
        writer.push(case("a", Outcome::Passed, large)).unwrap();
        assert_eq!(writer.cut_bytes(), 0);
        let long = "ä".repeat(TEXT_BYTES_MIN);
        let mut kept = case(&long, failed(&long), 50);
        shorten(&mut kept);
        let short = "ä".repeat(TEXT_BYTES_MIN / 2);
        assert_eq!(kept.name, short);
        let Outcome::Failed(fault) = &kept.outcome else {
            panic!("{kept:?}");
        };
        assert_eq!((&*fault.message, &*fault.detail), (&*short, ""));
        writer.push(case(&long, failed(&long), 50)).unwrap();
        assert_eq!(writer.cut_bytes(), 50 + 3 + 2 * TEXT_BYTES_MIN as u64);
        // A short one has its place behind that.
        writer.push(case("b", failed("m"), 0)).unwrap();
        let least = CASES_MAX - 3;
        for _ in 0..least {
            writer.push(Case::default()).unwrap();
        }
        let more = writer.push(Case::default());
        assert!(matches!(more, Err(Refused::Many)), "{more:?}");
    }
}
