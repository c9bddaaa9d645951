//! Unpacks the tar of an image in a jail, and makes a root of it that everybody may read.

use std::fs;
use std::io::{self, ErrorKind, PipeWriter, Read, Write};
use std::os::unix::fs::lchown;
use std::path::Path;
use std::process::ChildStdout;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use jail::{End, How, Jail, Limits, Slot, Spec, Stream, Streams, TREE_FOLDERS};
use rustix::process::{getegid, geteuid};

use super::ImageError;
use super::shelf::TREE;
use crate::cancel::Cancel;
use crate::disk::{Disk, Passed, TICK, Watch};
use crate::place::unpacking_slot;

/// What makes a root of a tar on standard input, in `/job`. Its first argument is the folder to make, then follow the
/// folders that a root has, `--`, and names below `etc` with their text.
///
/// Whatever links an image has, they lead nowhere but into this jail. GNU tar goes on where a device cannot be made,
/// which nobody in a jail can, and exits with 2; so does this, after the rest.
const SCRIPT: &str = r#"set -eu
umask 022
mkdir "$1"
code=0
tar --extract --file=- --directory="$1" --no-same-owner --no-same-permissions || code=$?
[ "$code" -eq 0 ] || [ "$code" -eq 2 ] || exit "$code"
cd "$1"
shift
chmod -R u+rwX,a+rX .
while [ "$1" != -- ]; do
    if [ -L "$1" ] || [ ! -d "$1" ]; then rm -f -- "$1"; mkdir -- "$1"; fi
    shift
done
shift
while [ "$#" -gt 0 ]; do
    rm -rf -- "etc/$1"
    printf %s "$2" > "etc/$1"
    shift 2
done
exit "$code"
"#;

/// An empty file, on which the host can mount what a network needs.
const RESOLV_CONF: (&str, &str) = ("resolv.conf", "");

/// How lines of tar's end that tell of a device, and the last line when it has told of something.
const HARMLESS: [&str; 2] = [
    ": Cannot mknod: Operation not permitted",
    "tar: Exiting with failure status due to previous errors",
];

/// Bytes that are passed on at once.
const PIECE_BYTES: usize = 64 << 10;

/// Bytes of what tar says that are looked at.
const SAID_BYTES_MAX: u64 = 1 << 20;

/// Characters of its last words that are told.
const SAID_CHARS_MAX: usize = 300;

/// Whose images are: no organisation's.
const NO_ORG: &str = "";

/// An image on its way from Podman to a folder.
pub(super) struct Unpacking<'u> {
    pub(super) jail: &'u Jail,
    pub(super) name: &'u str,
    /// Empty; the tree is made in it.
    pub(super) folder: &'u Path,
    /// Bytes of the image.
    pub(super) bytes_max: u64,
    pub(super) disk: &'u Disk,
}

impl Unpacking<'_> {
    /// Makes a root of a tar. True if its end was found before that of the stream.
    pub(super) fn unpack(
        &self,
        tar: ChildStdout,
        cancel: &Cancel,
        until: Instant,
    ) -> Result<bool, ImageError> {
        let room = self.disk.floor.look(self.folder);
        let room = room.map_err(ImageError::files(self.folder))?;
        if !room.missing.is_none() {
            return Err(ImageError::DiskFull);
        }
        let slot = unpacking_slot();
        if Slot::are_users() {
            let uid = Some(slot.uid());
            lchown(self.folder, uid, uid).map_err(ImageError::files(self.folder))?;
        }
        let streams = Streams {
            stdin: Stream::Pipe,
            stdout: Stream::Null,
            stderr: Stream::Pipe,
        };
        let mut child = self.jail.spawn(&self.spec(slot, until), streams)?;
        let (stdin, stderr) = (child.stdin.take(), child.stderr.take());
        let killer = child.killer();
        let _watching = cancel.when_set({
            let killer = killer.clone();
            move || killer.kill()
        });
        let (gauge, tenant) = (child.gauge.take(), self.disk.tenants.enter(NO_ORG));
        let (most, floor) = (self.bytes_max, self.disk.floor);
        let mut watch = Watch::new(self.folder, most, floor, &tenant, gauge);
        let passed = Mutex::new(None);
        let (pumped, said, end) = thread::scope(|scope| {
            let (done, is_done) = mpsc::channel::<()>();
            let (passed, watch, killer) = (&passed, &mut watch, &killer);
            scope.spawn(move || {
                while is_done.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                    // What cannot be looked at now is looked at again.
                    if let Ok(Some(found)) = watch.look() {
                        *passed.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
                        return killer.kill();
                    }
                }
            });
            let saying = scope.spawn(move || stderr.map_or_else(String::new, bad_lines));
            let pumped = stdin.map_or(Ok(Pumped::Broken), |stdin| pump(tar, stdin, self.bytes_max));
            if matches!(pumped, Ok(Pumped::TooLarge) | Err(_)) {
                killer.kill();
            }
            let said = saying.join().unwrap_or_default();
            let end = child.wait();
            drop(done);
            (pumped, said, end)
        });
        if cancel.is_set() {
            return Err(ImageError::Cancelled);
        }
        let pumped = pumped.map_err(ImageError::files(self.folder))?;
        match passed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(Passed::Floor) => return Err(ImageError::DiskFull),
            Some(Passed::Most) => return Err(self.large()),
            None if pumped == Pumped::TooLarge => return Err(self.large()),
            None => {}
        }
        self.judge(&end?, &said)?;
        self.take_back()?;
        Ok(pumped == Pumped::Broken)
    }

    /// From now on nobody but the server writes beside the tree, where nothing may have been left.
    fn take_back(&self) -> Result<(), ImageError> {
        let owner = (geteuid().as_raw(), getegid().as_raw());
        lchown(self.folder, Some(owner.0), Some(owner.1))
            .map_err(ImageError::files(self.folder))?;
        match has_tree_alone(self.folder).map_err(ImageError::files(self.folder))? {
            true => Ok(()),
            false => Err(self.damaged("it leads out of its folder")),
        }
    }

    /// Bytes that the tree takes on the disk.
    pub(super) fn size(&self) -> Result<u64, ImageError> {
        let usage = jail::disk_use(self.folder).map_err(ImageError::files(self.folder))?;
        match !usage.is_too_much && usage.bytes <= self.bytes_max {
            true => Ok(usage.bytes),
            false => Err(self.large()),
        }
    }

    fn large(&self) -> ImageError {
        ImageError::Large {
            name: self.name.to_owned(),
            bytes: self.bytes_max,
        }
    }

    fn damaged(&self, why: impl Into<String>) -> ImageError {
        ImageError::Damaged {
            name: self.name.to_owned(),
            why: why.into(),
        }
    }

    fn spec(&self, slot: Slot, until: Instant) -> Spec {
        let mut arguments = vec!["-c".to_owned(), SCRIPT.to_owned(), "sh".to_owned()];
        arguments.push(TREE.to_owned());
        arguments.extend(TREE_FOLDERS.map(str::to_owned));
        arguments.extend(["etc".to_owned(), "--".to_owned()]);
        let own = jail::own_files();
        let own = own.iter().map(|(name, text)| (*name, text.as_str()));
        for (name, text) in own.chain([RESOLV_CONF]) {
            arguments.extend([name.to_owned(), text.to_owned()]);
        }
        let mut spec = Spec::new("/bin/sh", self.folder, slot).arguments(arguments);
        spec.environment.push(("LC_ALL".to_owned(), "C".to_owned()));
        spec.limits = Limits {
            file_bytes: self.bytes_max,
            wall: until.saturating_duration_since(Instant::now()),
            ..Limits::default()
        };
        spec
    }

    fn judge(&self, end: &End, said: &str) -> Result<(), ImageError> {
        let told = || match said.lines().next() {
            Some(line) => line.chars().take(SAID_CHARS_MAX).collect(),
            None => "tar does not say why".to_owned(),
        };
        match end.how {
            How::Exited(0) => Ok(()),
            // Of devices alone.
            How::Exited(2) if said.is_empty() => Ok(()),
            How::TimedOut => Err(ImageError::TimedOut),
            How::OutOfMemory => Err(self.damaged("it takes too much memory")),
            How::Exited(_) | How::Signaled(_) | How::Killed => Err(self.damaged(told())),
        }
    }
}

/// Whether there is a tree, and nothing else.
pub(super) fn has_tree_alone(folder: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(folder)? {
        if entry?.file_name() != TREE {
            return Ok(false);
        }
    }
    Ok(folder.join(TREE).symlink_metadata()?.is_dir())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pumped {
    All,
    /// Whoever reads it has ended.
    Broken,
    TooLarge,
}

fn pump(mut from: impl Read, mut to: PipeWriter, most: u64) -> io::Result<Pumped> {
    let mut piece = vec![0; PIECE_BYTES];
    let mut bytes = 0;
    loop {
        let len = match from.read(&mut piece) {
            Ok(0) => return Ok(Pumped::All),
            Ok(len) => len,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        bytes += len as u64;
        if most < bytes {
            return Ok(Pumped::TooLarge);
        }
        match to.write_all(&piece[..len]) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(Pumped::Broken),
            Err(error) => return Err(error),
        }
    }
}

/// What tar says that is not harmless, from its beginning. Reads to the end.
fn bad_lines(mut stderr: impl Read) -> String {
    let mut said = Vec::new();
    let _ = stderr.by_ref().take(SAID_BYTES_MAX).read_to_end(&mut said);
    let rest = io::copy(&mut stderr, &mut io::sink());
    let said = String::from_utf8_lossy(&said).into_owned();
    let is_bad = |line: &&str| !HARMLESS.iter().any(|end| line.ends_with(end));
    let mut bad: Vec<&str> = said.lines().filter(is_bad).collect();
    if rest.is_ok_and(|bytes| bytes > 0) {
        bad.push("it says too much");
    }
    bad.join("\n")
}
