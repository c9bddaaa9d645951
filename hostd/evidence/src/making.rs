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
    Run(usize),
    Cases(usize, Cases),
    End,
    Nothing,
}

impl std::fmt::Debug for Next {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Begin => "Begin",
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
                *next = Next::Run(0);
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
