//! The cases that an attempt's tests wrote: read out of their JUnit files one by one, and kept in a file of the attempt,
//! so that they cost the disk within bounds and memory nothing.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use base::private;
use evidence::cases::{Cases, Counts, Reader, Source, Writer};
use evidence::junit::{self, ReadError};
use evidence::redact::Secrets;
use evidence::result::{Case, Fault, Outcome as CaseOutcome};

use crate::tree;

/// The file in an attempt's folder.
pub const FILE: &str = "cases";

/// Bytes of the JUnit files that one run may write. With more the step fails, since a test that failed may be in any.
const READ_BYTES_MAX: u64 = 256 << 20;

/// What a buffer keeps of its room between two files.
const BUFFER_BYTES_KEPT: usize = 64 << 10;

/// The file of one attempt.
pub(crate) struct CaseFile {
    path: PathBuf,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    /// None until there is a case.
    writer: Option<Writer<BufWriter<File>>>,
    read_bytes: u64,
}

/// What an attempt has of cases.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Kept {
    /// Bytes of the file.
    pub(crate) bytes: u64,
    /// Bytes of text that were not kept.
    pub(crate) cut_bytes: u64,
}

/// Reads JUnit files, one at a time: the longest text of each is in memory.
#[derive(Debug, Default)]
pub(crate) struct Desk(Mutex<Vec<u8>>);

impl CaseFile {
    /// In a folder that is there. What an earlier attempt left is removed.
    pub(crate) fn create(folder: &Path) -> io::Result<Self> {
        let path = folder.join(FILE);
        tree::remove(&path)?;
        Ok(Self {
            path,
            inner: Mutex::default(),
        })
    }

    /// Takes the cases of a JUnit file, secrets blotted out, and counts them in `counts`. Those before an error are taken
    /// too.
    ///
    /// # Errors
    /// A sentence that follows "failed to": the file is no JUnit file, or there is more than may be.
    pub(crate) fn take(
        &self,
        file: &Path,
        desk: &Desk,
        secrets: &Secrets,
        counts: &mut Counts,
    ) -> Result<(), String> {
        let mut inner = self.lock();
        let all = junit::Bounds::default();
        let left = READ_BYTES_MAX - inner.read_bytes;
        let bounds = junit::Bounds {
            bytes_max: all.bytes_max.min(left),
            ..all
        };
        let from = File::open(file).map_err(|error| format!("read it: {error}"))?;
        let mut buffer = desk.0.lock().unwrap_or_else(PoisonError::into_inner);
        let read = junit::read(from, &bounds, &mut buffer, &mut |case: Case| {
            let case = without_secrets(case, secrets);
            let outcome = case.outcome.clone();
            inner.writer(&self.path)?.push(case)?;
            counts.add(&outcome);
            Ok(())
        });
        buffer.clear();
        buffer.shrink_to(BUFFER_BYTES_KEPT);
        match read {
            Ok(bytes) => {
                inner.read_bytes += bytes;
                Ok(())
            }
            Err(ReadError::Large(most)) if most == left && left < all.bytes_max => Err(format!(
                "read it: the JUnit files of the run have more than {} MiB; let tests write less output",
                READ_BYTES_MAX >> 20
            )),
            Err(error) => Err(crate::outcome::chain(&error)),
        }
    }

    /// Everything is on disk when this returns.
    pub(crate) fn finish(self) -> io::Result<Kept> {
        let inner = self.inner.into_inner();
        let Inner { writer, .. } = inner.unwrap_or_else(PoisonError::into_inner);
        let Some(mut writer) = writer else {
            return Ok(Kept::default());
        };
        writer.out().flush()?;
        writer.out().get_ref().sync_all()?;
        Ok(Kept {
            bytes: writer.bytes(),
            cut_bytes: writer.cut_bytes(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn writer(&mut self, path: &Path) -> io::Result<&mut Writer<BufWriter<File>>> {
        let made = match self.writer.take() {
            Some(writer) => writer,
            None => Writer::new(BufWriter::new(private::make_file(path)?)),
        };
        Ok(self.writer.insert(made))
    }
}

fn without_secrets(mut case: Case, secrets: &Secrets) -> Case {
    let whole_max = junit::Bounds::default().text_max - char::MAX.len_utf8();
    let clean = |text: &mut String| match text.len() > whole_max {
        // What it goes on with was not read: its end may be the beginning of a secret.
        true => secrets.redact_cut(text),
        false => secrets.redact(text),
    };
    clean(&mut case.name);
    clean(&mut case.output);
    case.attachments.iter_mut().for_each(clean);
    for (name, address) in &mut case.links {
        clean(name);
        clean(address);
    }
    match &mut case.outcome {
        CaseOutcome::Failed(Fault {
            kind,
            message,
            detail,
        })
        | CaseOutcome::BenchFailed(Fault {
            kind,
            message,
            detail,
        }) => {
            clean(kind);
            clean(message);
            clean(detail);
        }
        CaseOutcome::Skipped(why) => clean(why),
        CaseOutcome::Passed => {}
    }
    case
}

/// The cases of one run: those that its steps are, and between them those of the file.
#[derive(Debug, Clone)]
pub(crate) struct Mixed {
    /// For each step: the case that it is, those that an earlier version kept with it, and how many of the file are its.
    pub(crate) steps: Vec<(Vec<Case>, u64)>,
    pub(crate) file: PathBuf,
}

impl Source for Mixed {
    fn open(&self) -> io::Result<Cases> {
        if self.steps.iter().all(|(_, count)| *count == 0) {
            let own = self.steps.clone().into_iter().flat_map(|(own, _)| own);
            return Ok(Box::new(own.map(Ok)));
        }
        let mut file = Reader::new(BufReader::new(File::open(&self.file)?));
        let mut steps = self.steps.clone().into_iter();
        let mut own = Vec::new().into_iter();
        let mut count = 0;
        Ok(Box::new(std::iter::from_fn(move || {
            loop {
                if let Some(case) = own.next() {
                    return Some(Ok(case));
                }
                if count > 0 {
                    count -= 1;
                    // A file that is shorter than it should be is damaged.
                    let cut_off = || Err(io::ErrorKind::UnexpectedEof.into());
                    return Some(file.next().unwrap_or_else(cut_off));
                }
                let (cases, kept) = steps.next()?;
                (own, count) = (cases.into_iter(), kept);
            }
        })))
    }
}
