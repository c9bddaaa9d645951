//! What is asked of Podman: which image a name means, and its files as a tar. It runs nothing, and pulls nothing.

use std::env;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use serde::Deserialize;

use super::ImageError;
use crate::cancel::Cancel;

/// Time of a call that only looks or notes something.
const CALL_MAX: Duration = Duration::from_secs(60);

/// Bytes of an answer.
const ANSWER_BYTES_MAX: u64 = 4 << 20;

/// Bytes of what it says on standard error.
const SAID_BYTES_MAX: u64 = 64 << 10;

/// Characters of that which are told.
const SAID_CHARS_MAX: usize = 300;

/// Hexadecimal digits of an id.
const ID_DIGITS: usize = 64;

/// Bytes of all variables that an image sets: as much as leaves room for those of a step.
const ENV_BYTES_MAX: usize = 32 << 10;

/// The program of every container that is made, none of which is started.
const NO_PROGRAM: &str = "/never-started";

/// Podman, asked on behalf of somebody.
#[derive(Clone, Copy)]
pub(super) struct Podman<'p> {
    pub(super) program: &'p Path,
    /// Ends whatever it does.
    pub(super) cancel: &'p Cancel,
    /// When it must be done.
    pub(super) until: Instant,
}

/// An image that Podman has.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) id: String,
    pub(super) env: Vec<(String, String)>,
}

/// Part of what `podman image inspect` answers.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Inspected {
    id: String,
    architecture: String,
    os: String,
    config: Option<Config>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Config {
    env: Option<Vec<String>>,
}

/// Whether there is a program of this path or name.
pub(super) fn is_installed(program: &Path) -> bool {
    if program.components().count() > 1 {
        return program.is_file();
    }
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

impl<'p> Podman<'p> {
    /// Does something that is not to be cancelled.
    pub(super) fn calm<T>(program: &Path, work: impl FnOnce(&Podman<'_>) -> T) -> T {
        work(&Podman {
            program,
            cancel: &Cancel::default(),
            until: Instant::now() + CALL_MAX,
        })
    }

    /// The image of a name.
    pub(super) fn find(&self, name: &str) -> Result<Found, ImageError> {
        let called = self.look(&["image", "inspect", name])?;
        if !called.is_success && called.said.contains("image not known") {
            return Err(ImageError::Missing(name.to_owned()));
        }
        let answer = called.value("find an image")?;
        found(name, &answer)
    }

    /// Makes a container of an image, which is never started. One that was left is removed before.
    pub(super) fn create(&self, container: &str, id: &str) -> Result<(), ImageError> {
        self.remove(container)?;
        let arguments = [
            "create",
            "--pull=never",
            "--network=none",
            "--name",
            container,
            id,
            NO_PROGRAM,
        ];
        self.look(&arguments)?
            .value("make a container to read the image from")
            .map(drop)
    }

    /// Removes a container, if it is there.
    pub(super) fn remove(&self, container: &str) -> Result<(), ImageError> {
        let called = self.look(&["rm", "--force", "--ignore", container])?;
        called.value("remove a container").map(drop)
    }

    /// Gives `work` the files of a container as a tar. True from it: it needs no more than it has read.
    pub(super) fn export(
        &self,
        container: &str,
        work: impl FnOnce(ChildStdout) -> Result<bool, ImageError>,
    ) -> Result<(), ImageError> {
        let called = self.call(&["export", container], self.until, work)?;
        match &called.value {
            Ok(true) => called.value.map(drop),
            // A tar that ends too early is why unpacking fails, not the other way round.
            Err(ImageError::Damaged { .. }) | Ok(false) if !called.is_success => {
                Err(called.failed("read the files of the image"))
            }
            _ => called.value.map(drop),
        }
    }

    /// A call with a short answer.
    fn look(&self, arguments: &[&str]) -> Result<Called<Vec<u8>>, ImageError> {
        let until = self.until.min(Instant::now() + CALL_MAX);
        self.call(arguments, until, |stdout| {
            let mut answer = Vec::new();
            let read = stdout.take(ANSWER_BYTES_MAX).read_to_end(&mut answer);
            read.map_err(ImageError::files(self.program))?;
            Ok(answer)
        })
    }

    fn call<T>(
        &self,
        arguments: &[&str],
        until: Instant,
        work: impl FnOnce(ChildStdout) -> Result<T, ImageError>,
    ) -> Result<Called<T>, ImageError> {
        let failed = |error| ImageError::NoPodman(self.program.to_owned(), error);
        // A group of its own, which is ended whole: it may start others.
        let mut child = Command::new(self.program)
            .args(arguments)
            .env("LC_ALL", "C")
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let group = Group::of(&child);
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let (stdout, stderr) = stdout
            .zip(stderr)
            .ok_or_else(|| failed(io::ErrorKind::BrokenPipe.into()))?;
        let watching = self.cancel.when_set({
            let group = group.clone();
            move || group.kill()
        });
        let is_late = AtomicBool::new(false);
        let (value, said) = thread::scope(|scope| {
            let (done, is_done) = mpsc::channel::<()>();
            let (late, group) = (&is_late, &group);
            scope.spawn(move || {
                let left = until.saturating_duration_since(Instant::now());
                if is_done.recv_timeout(left) == Err(RecvTimeoutError::Timeout) {
                    late.store(true, Ordering::Release);
                    group.kill();
                }
            });
            let saying = scope.spawn(move || all_said(stderr));
            let value = work(stdout);
            if value.is_err() {
                group.kill();
            }
            let said = saying.join().unwrap_or_default();
            group.wait();
            drop(done);
            (value, said)
        });
        drop(watching);
        let status = child.wait().map_err(failed)?;
        if self.cancel.is_set() {
            return Err(ImageError::Cancelled);
        }
        if is_late.load(Ordering::Acquire) {
            return Err(ImageError::TimedOut);
        }
        Ok(Called {
            value,
            is_success: status.success(),
            said,
        })
    }
}

/// A call that came to its end.
struct Called<T> {
    value: Result<T, ImageError>,
    is_success: bool,
    /// The end of what it said on standard error.
    said: String,
}

impl<T> Called<T> {
    fn value(self, what: &'static str) -> Result<T, ImageError> {
        match self.is_success {
            true => self.value,
            false => Err(self.failed(what)),
        }
    }

    fn failed(&self, what: &'static str) -> ImageError {
        let last = self.said.lines().rfind(|line| !line.trim().is_empty());
        let why = last.unwrap_or("it does not say why");
        let why = why.trim_start_matches("Error: ").chars();
        let why = why.filter(|c| !c.is_control()).take(SAID_CHARS_MAX);
        ImageError::Podman {
            what,
            why: why.collect(),
        }
    }
}

/// The processes of a call, until the first of them was waited for.
#[derive(Clone)]
struct Group(Arc<Mutex<Option<Pid>>>);

impl Group {
    fn of(child: &Child) -> Self {
        Self(Arc::new(Mutex::new(Some(Pid::from_child(child)))))
    }

    fn kill(&self) {
        let group = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(group) = *group {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    /// Waits for the first process to end, and leaves it to be reaped. Nobody is killed afterwards: another group
    /// may have the number then.
    fn wait(&self) {
        let first = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(first) = first else { return };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let wait = || waitid(WaitId::Pid(first), options);
        while wait().is_err_and(|error| error == Errno::INTR) {}
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Reads to the end, and keeps the beginning.
fn all_said(mut stderr: impl Read) -> String {
    let mut said = Vec::new();
    let _ = stderr.by_ref().take(SAID_BYTES_MAX).read_to_end(&mut said);
    let _ = io::copy(&mut stderr, &mut io::sink());
    String::from_utf8_lossy(&said).into_owned()
}

/// Reads what Podman says about an image.
pub(super) fn found(name: &str, answer: &[u8]) -> Result<Found, ImageError> {
    let damaged = |why: &str| ImageError::Podman {
        what: "tell about the image",
        why: why.to_owned(),
    };
    let images: Result<Vec<Inspected>, _> = serde_json::from_slice(answer);
    let images = images.map_err(|error| damaged(&error.to_string()))?;
    let [image] = <[Inspected; 1]>::try_from(images).map_err(|_| damaged("it is not one"))?;
    let id = image.id.strip_prefix("sha256:").unwrap_or(&image.id);
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if id.len() != ID_DIGITS || !id.bytes().all(is_digit) {
        return Err(damaged("its id is none"));
    }
    let theirs = format!("{}/{}", image.os, image.architecture);
    let ours = format!("linux/{}", architecture());
    if theirs != ours {
        return Err(ImageError::Foreign {
            name: name.to_owned(),
            theirs: theirs.escape_debug().take(SAID_CHARS_MAX).collect(),
            ours,
        });
    }
    let env = image.config.and_then(|config| config.env);
    let env = environment(&env.unwrap_or_default());
    Ok(Found {
        id: id.to_owned(),
        env: env.ok_or_else(|| ImageError::Environment(name.to_owned()))?,
    })
}

fn environment(set: &[String]) -> Option<Vec<(String, String)>> {
    let bytes: usize = set.iter().map(String::len).sum();
    if ENV_BYTES_MAX < bytes {
        return None;
    }
    let variable = |text: &String| {
        let (name, value) = text.split_once('=')?;
        let is_fit = !name.is_empty() && !text.contains('\0');
        is_fit.then(|| (name.to_owned(), value.to_owned()))
    };
    set.iter().map(variable).collect()
}

/// This machine's, as images name it.
fn architecture() -> &'static str {
    match env::consts::ARCH {
        "x86_64" => "amd64",
        "x86" => "386",
        "aarch64" => "arm64",
        "powerpc64" if cfg!(target_endian = "little") => "ppc64le",
        "loongarch64" => "loong64",
        same => same,
    }
}
