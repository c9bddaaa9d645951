//! The cases that an attempt's tests wrote: read out of their JUnit files one by one, and kept in a file of the attempt,
//! so that they cost the disk within bounds and memory nothing.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use base::private;
use evidence::cases::{Cases, Counts, Reader, Refused, Source, Writer};
use evidence::junit::{self, ReadError};
use evidence::plain;
use evidence::redact::Secrets;
use evidence::result::{Case, Fault, Outcome as CaseOutcome};

use crate::tree;

/// The file in an attempt's folder.
pub const FILE: &str = "cases";

/// Bytes of the JUnit files that one run may write. With more the step fails, since a test that failed may be in any.
const READ_BYTES_MAX: u64 = 256 << 20;

/// What a buffer keeps of its room between two files.
const BUFFER_BYTES_KEPT: usize = 64 << 10;

/// Characters that are kept of the name of the first case that failed, and of what it says.
const NAME_CHARS_MAX: usize = 200;
const MESSAGE_CHARS_MAX: usize = 300;

/// What the cases of a step come to.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) counts: Counts,
    /// The first one that failed.
    pub(crate) first: Option<FirstFailed>,
}

/// A case that failed, in a line that has no secrets and is not long.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FirstFailed {
    pub(crate) name: String,
    pub(crate) message: String,
}

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

    /// Takes the cases of a JUnit file, secrets blotted out, and counts them in `tally`. Those before an error are taken
    /// too.
    ///
    /// # Errors
    /// A sentence that follows "failed to": the file is no JUnit file, or there is more than may be.
    pub(crate) fn take(
        &self,
        file: &Path,
        desk: &Desk,
        secrets: &Secrets,
        tally: &mut Tally,
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
            let seen = tally.of(&case);
            inner.writer(&self.path)?.push(case)?;
            tally.add(seen);
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

    /// Takes a case of the job's own, secrets blotted out, and counts it in `tally`.
    ///
    /// # Errors
    /// A sentence that follows "failed to": there are more than may be.
    pub(crate) fn add(
        &self,
        case: Case,
        secrets: &Secrets,
        tally: &mut Tally,
    ) -> Result<(), String> {
        let case = without_secrets(case, secrets);
        let seen = tally.of(&case);
        let mut inner = self.lock();
        let writer = inner.writer(&self.path);
        let pushed = writer
            .map_err(Refused::from)
            .and_then(|writer| writer.push(case));
        pushed.map_err(|error| crate::outcome::chain(&error))?;
        tally.add(seen);
        Ok(())
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

impl Tally {
    /// What counts of a case.
    fn of(&self, case: &Case) -> (Counts, Option<FirstFailed>) {
        let mut counts = Counts::default();
        counts.add(&case.outcome);
        let is_wanted = self.first.is_none();
        (counts, is_wanted.then(|| FirstFailed::of(case)).flatten())
    }

    fn add(&mut self, (counts, failed): (Counts, Option<FirstFailed>)) {
        self.counts += counts;
        self.first = self.first.take().or(failed);
    }
}

impl FirstFailed {
    /// None if the case has not failed.
    fn of(case: &Case) -> Option<Self> {
        let CaseOutcome::Failed(fault) = &case.outcome else {
            return None;
        };
        let mut message = line(&fault.message, MESSAGE_CHARS_MAX);
        if message.is_empty() {
            message = line(&fault.detail, MESSAGE_CHARS_MAX);
        }
        Some(Self {
            name: line(&case.name, NAME_CHARS_MAX),
            message,
        })
    }
}

/// The first line of a text that says something, as a terminal would show it.
fn line(text: &str, chars_max: usize) -> String {
    let seen = plain::text(text);
    let mut lines = seen.lines().map(str::trim);
    let first = lines.find(|line| !line.is_empty()).unwrap_or_default();
    match first.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", &first[..end]),
        None => first.to_owned(),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(junit: &str, secrets: &Secrets) -> Tally {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.xml");
        std::fs::write(&file, junit).unwrap();
        let cases = CaseFile::create(folder.path()).unwrap();
        let mut tally = Tally::default();
        let taken = cases.take(&file, &Desk::default(), secrets, &mut tally);
        taken.unwrap();
        tally
    }

    #[test]
    fn the_first_failure_is_kept_without_secrets_and_in_bounds() {
        let secrets = Secrets::new([("KEY", b"opensesame".as_slice())]).unwrap();
        let long = "x".repeat(70_000);
        let junit = format!(
            "<testsuite><testcase classname='t' name='good'/>\
             <testcase classname='t' name='skips'><skipped message='opensesame'/></testcase>\
             <testcase classname='t' name='{long}'><failure message='&#10;  key opensesame {long}&#10;more'/></testcase>\
             <testcase classname='t' name='second'><failure message='no'/></testcase></testsuite>"
        );
        let tally = taken(&junit, &secrets);
        assert_eq!((tally.counts.failed, tally.counts.all()), (2, 4));
        let first = tally.first.unwrap();
        assert!(first.name.starts_with("t::xxx") && first.name.ends_with('…'));
        assert!(first.message.starts_with("key [secret] xxx"), "{first:?}");
        let most = [
            (first.name, NAME_CHARS_MAX),
            (first.message, MESSAGE_CHARS_MAX),
        ];
        for (text, most) in most {
            assert_eq!(text.chars().count(), most + 1);
        }
    }

    #[test]
    fn what_says_nothing_in_its_message_says_it_behind_that() {
        let secrets = Secrets::new([]).unwrap();
        let junit = "<testsuite><testcase name='a'><failure>&#10;E  rail says 4 V&#10;f.py:3</failure></testcase></testsuite>";
        let first = taken(junit, &secrets).first.unwrap();
        assert_eq!((&*first.name, &*first.message), ("a", "E  rail says 4 V"));
        let passed = taken("<testsuite><testcase name='a'/></testsuite>", &secrets);
        assert_eq!(passed.first, None);
    }
}
