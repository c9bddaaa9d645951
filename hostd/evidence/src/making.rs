//! A document about a job, made bit by bit: whoever stops asking for the next bit pays for no more, and neither does the
//! memory hold more than that.

use std::io;

use crate::cases::Cases;
use crate::result::{Case, JobResult, RunResult};

/// What a document has, in its order.
#[derive(Debug)]
pub enum Part<'p> {
    /// What comes before all runs.
    Begin,
    /// A case that went wrong, by the places of its run and of it in that, ahead of all runs. Only as long as the document
    /// [wants them](Document::wants_failures).
    Failure((usize, usize), &'p RunResult, &'p Case),
    /// No more of these.
    FailuresEnd,
    /// A run begins.
    Run(&'p RunResult),
    /// A case of the run.
    Case(&'p RunResult, &'p Case),
    /// A run ends.
    RunEnd(&'p RunResult),
    /// What comes after all runs.
    End,
}

/// How a document writes its parts.
pub trait Document {
    /// Appends a part to `out`.
    ///
    /// # Errors
    /// It cannot be written.
    fn write(&mut self, job: &JobResult, part: Part<'_>, out: &mut Vec<u8>) -> io::Result<()>;

    /// Whether it has a place, ahead of all runs, for one more case that went wrong. Cases are read once more for that.
    fn wants_failures(&self) -> bool {
        false
    }
}

/// Something that is made bit by bit.
pub trait Bits: Send {
    /// Appends the next bit to `out`. False when there is none.
    ///
    /// # Errors
    /// What it is made of cannot be read.
    fn next(&mut self, out: &mut Vec<u8>) -> io::Result<bool>;
}

/// A document of a job on its way.
#[derive(Debug)]
pub(crate) struct Making<D> {
    job: JobResult,
    document: D,
    next: Next,
}

enum Next {
    Begin,
    /// Looks for what went wrong in the run at this place.
    Look(usize),
    /// The run, where in it, how many of its cases that went wrong are to come, and its cases from there on.
    Looking(usize, usize, u64, Cases),
    Run(usize),
    Cases(usize, Cases),
    End,
    Nothing,
}

impl std::fmt::Debug for Next {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Begin => "Begin",
            Self::Look(_) => "Look",
            Self::Looking(..) => "Looking",
            Self::Run(_) => "Run",
            Self::Cases(..) => "Cases",
            Self::End => "End",
            Self::Nothing => "Nothing",
        })
    }
}

impl<D: Document> Making<D> {
    pub(crate) fn new(job: JobResult, document: D) -> Self {
        Self {
            job,
            document,
            next: Next::Begin,
        }
    }
}

impl<D: Document + Send> Bits for Making<D> {
    fn next(&mut self, out: &mut Vec<u8>) -> io::Result<bool> {
        let Self {
            job,
            document,
            next,
        } = self;
        match next {
            Next::Begin => {
                document.write(job, Part::Begin, out)?;
                *next = Next::Look(0);
            }
            Next::Look(at) => match job.runs.get(*at).filter(|_| document.wants_failures()) {
                Some(run) => {
                    *next = match run.bad_count() {
                        0 => Next::Look(*at + 1),
                        bad => Next::Looking(*at, 0, bad, run.told()?),
                    };
                }
                None => {
                    document.write(job, Part::FailuresEnd, out)?;
                    *next = Next::Run(0);
                }
            },
            Next::Looking(at, place, bad, cases) => {
                let run = &job.runs[*at];
                let case = match *bad > 0 && document.wants_failures() {
                    true => cases.next().transpose()?,
                    false => None,
                };
                match case {
                    Some(case) => {
                        if case.outcome.fault().is_some() {
                            *bad -= 1;
                            document.write(job, Part::Failure((*at, *place), run, &case), out)?;
                        }
                        *place += 1;
                    }
                    None => *next = Next::Look(*at + 1),
                }
            }
            Next::Run(at) => match job.runs.get(*at) {
                Some(run) => {
                    document.write(job, Part::Run(run), out)?;
                    *next = Next::Cases(*at, run.told()?);
                }
                None => *next = Next::End,
            },
            Next::Cases(at, cases) => {
                let run = &job.runs[*at];
                match cases.next().transpose()? {
                    Some(case) => document.write(job, Part::Case(run, &case), out)?,
                    None => {
                        document.write(job, Part::RunEnd(run), out)?;
                        *next = Next::Run(*at + 1);
                    }
                }
            }
            Next::End => {
                document.write(job, Part::End, out)?;
                *next = Next::Nothing;
            }
            Next::Nothing => return Ok(false),
        }
        Ok(true)
    }
}

/// Makes all of it.
///
/// # Errors
/// What it is made of cannot be read, or `out` cannot be written to.
pub fn write_all(mut bits: impl Bits, mut out: impl io::Write) -> io::Result<()> {
    let mut bit = Vec::new();
    while bits.next(&mut bit)? {
        out.write_all(&bit)?;
        bit.clear();
    }
    Ok(())
}
