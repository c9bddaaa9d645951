//! How much a worker has written into its folder: the kernel bounds each of its files, and nobody all of them together.
//!
//! It is looked at every now and then, and once more when the worker has ended, so a worker may be over its limit by what it
//! writes between two looks.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use super::{LimitHit, Worker, WorkerError};

/// Time between two looks.
const LOOK: Duration = Duration::from_millis(250);

/// What a file takes beside its bytes. It also bounds how many are looked at.
const ENTRY_BYTES: u64 = 4 << 10;

/// Bytes of a block, as the kernel counts them.
const BLOCK_BYTES: u64 = 512;

/// Looks at the folder of a worker that runs.
pub(super) struct Watch<'w> {
    worker: &'w Worker,
    next: Instant,
}

impl<'w> Watch<'w> {
    pub(super) fn new(worker: &'w Worker) -> Self {
        Self {
            worker,
            next: Instant::now(),
        }
    }

    /// Looks, if it is time to; how long until the next time.
    pub(super) fn look(&mut self) -> Result<Duration, WorkerError> {
        if self.worker.limits.folder_bytes == 0 {
            return Ok(Duration::MAX);
        }
        if self.next <= Instant::now() {
            check(self.worker)?;
            self.next = Instant::now() + LOOK;
        }
        Ok(self.next.saturating_duration_since(Instant::now()))
    }
}

/// Whether a worker has kept to its limit so far.
pub(super) fn check(worker: &Worker) -> Result<(), WorkerError> {
    let most = worker.limits.folder_bytes;
    if most == 0 {
        return Ok(());
    }
    let measured = measure(&worker.folder, most).map_err(WorkerError::Pipe)?;
    match measured > most {
        true => Err(WorkerError::Limit(LimitHit::Folder(most >> 20))),
        false => Ok(()),
    }
}

/// Bytes of all that is below a folder, counted until they are more than `most`. Links are not followed.
fn measure(folder: &Path, most: u64) -> io::Result<u64> {
    let mut bytes = 0_u64;
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let Some(entries) = unless_gone(fs::read_dir(&folder))? else {
            continue;
        };
        for entry in entries {
            let Some(entry) = unless_gone(entry)? else {
                continue;
            };
            let Some(metadata) = unless_gone(entry.metadata())? else {
                continue;
            };
            bytes = bytes.saturating_add(taken(&metadata));
            if bytes > most {
                return Ok(bytes);
            }
            if metadata.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    Ok(bytes)
}

fn taken(metadata: &Metadata) -> u64 {
    let on_disk = metadata.blocks().saturating_mul(BLOCK_BYTES);
    on_disk.max(metadata.len()).saturating_add(ENTRY_BYTES)
}

/// The worker may remove a file while it is looked at.
fn unless_gone<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::super::WorkerLimits;
    use super::*;

    /// Runs a script in a folder of its own, in which 4 MiB may be.
    fn run(script: &str) -> Result<(), WorkerError> {
        let folder = tempfile::tempdir().unwrap();
        let worker = Worker {
            program: "/bin/sh".into(),
            arguments: ["-c", script].map(Into::into).to_vec(),
            folder: folder.path().to_owned(),
            limits: WorkerLimits {
                cpu_s: 60,
                memory_bytes: 1 << 30,
                wall: Duration::from_secs(60),
                output_bytes: 1 << 20,
                file_bytes: 1 << 20,
                folder_bytes: 4 << 20,
                open_files: 64,
                nice: 10,
            },
        };
        let (cancelled, _cancel) = io::pipe().unwrap();
        let mut unheard = |_: &[u8]| ControlFlow::Continue(());
        worker.run(&mut io::empty(), &mut unheard, &cancelled)
    }

    #[test]
    fn all_files_together_are_bounded() {
        let is_over = |ended: &Result<(), WorkerError>| {
            matches!(ended, Err(WorkerError::Limit(LimitHit::Folder(4))))
        };
        let endless = "while :; do i=$((i + 1)); head -c 60000 /dev/zero > f$i; done";
        let ended = run(endless);
        assert!(is_over(&ended), "{ended:?}");
        // One that has ended before anybody looked.
        let some = |count| {
            format!("mkdir a; for i in $(seq {count}); do head -c 1000000 /dev/zero > a/$i; done")
        };
        let ended = run(&some(5));
        assert!(is_over(&ended), "{ended:?}");
        run(&some(3)).unwrap();
    }

    #[test]
    fn small_files_and_links_count_as_what_they_take() {
        let folder = tempfile::tempdir().unwrap();
        for n in 0..10 {
            fs::write(folder.path().join(n.to_string()), b"").unwrap();
        }
        std::os::unix::fs::symlink("/", folder.path().join("all")).unwrap();
        let bytes = measure(folder.path(), 1 << 30).unwrap();
        assert!((11 * ENTRY_BYTES..1 << 20).contains(&bytes), "{bytes}");
        assert!(measure(folder.path(), ENTRY_BYTES).unwrap() <= 4 * ENTRY_BYTES);
    }
}
