//! Where tests run jails: separate folders, this program where everybody may execute it, and short ways to
//! run something.

use std::fs;
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::time::Duration;

use jail::{Bind, Child, End, Error, Jail, Options, Slot, Spec, Stream, Streams};
use tempfile::TempDir;

/// The path inside of the folder with this program.
const TOOLS: &str = "/opt/tools";

/// Longer than any jail in these tests takes on a slow machine.
pub(crate) const SOON: Duration = Duration::from_secs(60);

/// The folders of one test.
pub(crate) struct Home {
    folder: TempDir,
}

impl Home {
    pub(crate) fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("jail-").tempdir();
        let home = Self {
            folder: folder.unwrap(),
        };
        let open = fs::Permissions::from_mode(0o755);
        fs::set_permissions(home.folder.path(), open).unwrap();
        fs::create_dir(home.tools()).unwrap();
        let this = std::env::current_exe().unwrap();
        if fs::hard_link(&this, home.program()).is_err() {
            fs::copy(&this, home.program()).unwrap();
        }
        if let Some(slirp4netns) = Options::default().slirp4netns {
            std::os::unix::fs::symlink(slirp4netns, home.slirp4netns()).unwrap();
        }
        home
    }

    /// The program slirp4netns, at a path that no other test has.
    pub(crate) fn slirp4netns(&self) -> PathBuf {
        self.path().join("slirp4netns")
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn tools(&self) -> PathBuf {
        self.path().join("tools")
    }

    /// This program, at a path that no other test has.
    pub(crate) fn program(&self) -> PathBuf {
        self.tools().join("jail-tests")
    }

    /// The options of jails in this test: they are made by its own copy of the program.
    pub(crate) fn options(&self, groups: bool) -> Options {
        Options {
            program: self.program(),
            groups,
            slirp4netns: Some(self.slirp4netns()),
        }
    }

    pub(crate) fn jail(&self) -> Jail {
        Jail::open(&self.options(true)).unwrap()
    }

    /// Makes a job's folder, which only the slot's user may enter.
    pub(crate) fn job(&self, slot: u16) -> PathBuf {
        let job = self.path().join(format!("job{slot}"));
        fs::create_dir_all(&job).unwrap();
        fs::set_permissions(&job, fs::Permissions::from_mode(0o700)).unwrap();
        if Slot::are_users() {
            let uid = Slot::new(slot).unwrap().uid();
            chown(&job, Some(uid), Some(uid)).unwrap();
        }
        job
    }

    /// A program of the host in slot 0.
    pub(crate) fn spec(&self, program: &str, arguments: &[&str]) -> Spec {
        let mut spec = Spec::new(program, self.job(0), Slot::new(0).unwrap())
            .arguments(arguments.iter().copied());
        spec.limits.wall = SOON;
        spec.limits.memory_bytes = 512 << 20;
        spec
    }

    pub(crate) fn shell(&self, script: &str) -> Spec {
        self.spec("/bin/sh", &["-c", script])
    }

    /// This program inside.
    pub(crate) fn own(&self, arguments: &[&str]) -> Spec {
        let mut spec = self.spec(&format!("{TOOLS}/jail-tests"), arguments);
        spec.binds.push(Bind {
            host: self.tools(),
            inside: TOOLS.into(),
        });
        spec
    }
}

/// What a jail wrote, and how it ended.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) end: End,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

pub(crate) fn piped() -> Streams {
    Streams {
        stdin: Stream::Null,
        stdout: Stream::Pipe,
        stderr: Stream::Pipe,
    }
}

/// Runs a jail to its end.
pub(crate) fn run(jail: &Jail, spec: &Spec) -> Result<Outcome, Error> {
    finish(jail.spawn(spec, piped())?)
}

/// Reads everything that a jail writes, up to its end.
pub(crate) fn finish(mut child: Child) -> Result<Outcome, Error> {
    let mut stderr = child.stderr.take().unwrap();
    let errors = std::thread::spawn(move || {
        let mut text = String::new();
        stderr.read_to_string(&mut text).unwrap();
        text
    });
    let mut stdout = String::new();
    let mut from = child.stdout.take().unwrap();
    from.read_to_string(&mut stdout).unwrap();
    Ok(Outcome {
        end: child.wait()?,
        stdout,
        stderr: errors.join().unwrap(),
    })
}

/// Checks again and again until it is so.
pub(crate) fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = std::time::Instant::now() + SOON;
    while !is_so() {
        assert!(std::time::Instant::now() < until, "{what} did not happen");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Ids of all processes on the machine whose arguments contain a text, except those that have ended and wait
/// to be reaped.
pub(crate) fn processes_with(text: &str) -> Vec<u32> {
    let numbers = fs::read_dir("/proc").unwrap().flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let this = std::process::id();
    let has_text = |number: &u32| {
        let arguments = fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
        *number != this && String::from_utf8_lossy(&arguments).contains(text)
    };
    numbers.filter(has_text).collect()
}
