//! One command in the jail: started, listened to, watched, and judged by how it ended.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use evidence::log::Stream;
use evidence::redact::Secrets;
use jail::{Child, End, Error, Gauge, How, Jail, Killer, Limits, Reach, Spec, Streams};

use crate::cancel::Cancel;
use crate::disk::{Floor, Passed, TICK, Tenant, Watch};
use crate::image::Image;
use crate::log::{RunLog, Search, drain};
use crate::outcome::{Breakage, Clock, Failure, Outcome, chain};
use crate::place::Place;
use crate::script::{Command, OUT};

/// How long after its jail was ended from outside a cancel may still come: a terminal tells everybody of Ctrl-C at
/// once, and the jail may be faster.
const LOST_GRACE: Duration = Duration::from_millis(300);

/// The most that a jail's `/tmp` has.
const TMP_BYTES_MAX: u64 = 256 << 20;

/// Variables that lead to folders of the jail, whatever an image says.
const OWN_VARIABLES: [&str; 2] = ["HOME", "TMPDIR"];

/// Where a run's steps run.
pub(crate) struct Scene<'s> {
    pub(crate) jail: &'s Jail,
    pub(crate) tools: &'s [jail::Bind],
    /// What commands see in place of this machine's programs and the tools.
    pub(crate) image: Option<&'s Image>,
    pub(crate) place: &'s Place,
    pub(crate) limits: &'s pipeline::plan::Limits,
    /// What stays free on the disk.
    pub(crate) floor: Floor,
    /// What the attempt holds of it.
    pub(crate) tenant: &'s Tenant<'s>,
    pub(crate) cpu_millis: u32,
    pub(crate) log: &'s RunLog<'s>,
    pub(crate) secrets: &'s Secrets,
    pub(crate) cancel: &'s Cancel,
    /// How commands reach the bench.
    pub(crate) relay: Option<&'s Relay>,
    pub(crate) network: Option<Reach>,
}

/// How commands of a run reach their bench.
#[derive(Clone, PartialEq, Eq)]
pub struct Relay {
    /// The UNIX socket that serves the API, writable for the jail's user.
    pub socket: PathBuf,
    /// What tells the SDK of it: `BENCHPOD_API_BASE`, `BENCHPOD_API_KEY`, `BENCHPOD_CONNECTION`.
    pub environment: BTreeMap<String, String>,
}

/// Without the key in its environment.
impl fmt::Debug for Relay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Relay")
            .field("socket", &self.socket)
            .finish_non_exhaustive()
    }
}

/// When a command must be done, and by whose clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Deadline {
    pub(crate) at: Instant,
    pub(crate) clock: Clock,
    /// What that clock gives from its beginning on.
    pub(crate) time: Duration,
}

impl Deadline {
    /// So long from now.
    pub(crate) fn of(clock: Clock, time: Duration) -> Self {
        Self {
            at: Instant::now() + time,
            clock,
            time,
        }
    }

    /// Whether the step's own time is the shortest.
    pub(crate) fn is_step(&self) -> bool {
        self.clock == Clock::Step
    }

    /// What something came to that was not done by then.
    pub(crate) fn passed(&self) -> Outcome {
        Outcome::Failed(Failure::Timeout(self.clock, self.time))
    }
}

/// How a command ended.
pub(crate) struct Ended {
    pub(crate) outcome: Outcome,
    pub(crate) exit_code: Option<i32>,
}

impl Ended {
    fn new(outcome: Outcome) -> Self {
        Self {
            outcome,
            exit_code: None,
        }
    }
}

impl Scene<'_> {
    /// Runs a command to its end. What was found of `texts` is told in their order.
    pub(crate) fn execute(
        &self,
        command: &Command,
        environment: &BTreeMap<String, String>,
        deadline: Deadline,
        texts: &[&str],
    ) -> (Ended, Vec<bool>) {
        let left = deadline.at.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return (Ended::new(deadline.passed()), vec![false; texts.len()]);
        }
        let spec = self.spec(command, environment, left);
        let streams = Streams {
            stdout: jail::Stream::Pipe,
            stderr: jail::Stream::Pipe,
            ..Streams::default()
        };
        match self.jail.spawn(&spec, streams) {
            Ok(child) => {
                let killer = child.killer();
                let _watching = self.cancel.when_set(move || killer.kill());
                let (end, passed, found) = self.attend(child, texts);
                (self.judge(command, end, passed, deadline), found)
            }
            Err(error) => (Ended::new(self.broken(&error)), vec![false; texts.len()]),
        }
    }

    fn spec(
        &self,
        command: &Command,
        environment: &BTreeMap<String, String>,
        wall: Duration,
    ) -> Spec {
        let mut spec = Spec::new(command.program, self.place.job(), self.place.slot)
            .arguments(command.arguments.iter().cloned());
        let own = [
            ("CI".to_owned(), "true".to_owned()),
            ("HOSTD_OUT".to_owned(), format!("/job/{OUT}")),
        ];
        let mut whole: BTreeMap<String, String> = spec.environment.drain(..).collect();
        whole.insert("LANG".to_owned(), "C.UTF-8".to_owned());
        if let Some(image) = self.image {
            let is_own = |name: &String| OWN_VARIABLES.contains(&name.as_str());
            whole.extend(image.env.iter().filter(|(name, _)| !is_own(name)).cloned());
        }
        whole.extend(environment.clone());
        if let Some(relay) = self.relay {
            whole.extend(relay.environment.clone());
            spec.relay = Some(relay.socket.clone());
        }
        whole.extend(own);
        spec.environment = whole.into_iter().collect();
        match self.image {
            Some(image) => spec.root = Some(image.tree.clone()),
            None => spec.binds = self.tools.to_vec(),
        }
        spec.network = self.network;
        spec.limits = Limits {
            memory_bytes: self.limits.memory_bytes,
            processes: u32::try_from(self.limits.processes).unwrap_or(u32::MAX),
            cpu_millis: self.cpu_millis,
            tmp_bytes: TMP_BYTES_MAX.min(self.limits.memory_bytes / 2),
            // A little more, so that the folder is seen to be over its limit.
            file_bytes: self.limits.disk_bytes.saturating_add(1 << 20),
            wall,
            ..Limits::default()
        };
        spec
    }

    /// Listens and watches until nothing of a jail is left.
    fn attend(
        &self,
        mut child: Child,
        texts: &[&str],
    ) -> (Result<End, Error>, Option<Passed>, Vec<bool>) {
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let passed = Mutex::new(None);
        let searches = || {
            texts
                .iter()
                .map(|text| Search::new(text))
                .collect::<Vec<_>>()
        };
        let (mut in_output, mut in_error) = (searches(), searches());
        let end = thread::scope(|scope| {
            let (_done, is_done) = mpsc::channel::<()>();
            let (killer, gauge) = (child.killer(), child.gauge.take());
            let passed = &passed;
            scope.spawn(move || {
                let found = self.watch(&is_done, &killer, gauge);
                *passed.lock().unwrap_or_else(PoisonError::into_inner) = found;
            });
            let streams = [
                (stdout, Stream::Output, &mut in_output),
                (stderr, Stream::Error, &mut in_error),
            ];
            for (from, stream, searches) in streams {
                if let Some(from) = from {
                    scope.spawn(move || drain(from, stream, self.log, self.secrets, searches));
                }
            }
            child.wait()
        });
        self.log.flush();
        let passed = passed.into_inner().unwrap_or_else(PoisonError::into_inner);
        let found = in_output.iter().zip(&in_error);
        let found = found.map(|(out, error)| out.is_found || error.is_found);
        (end, passed, found.collect())
    }

    /// Looks after the disk and those who follow the log until the command has ended.
    fn watch(
        &self,
        is_done: &mpsc::Receiver<()>,
        killer: &Killer,
        gauge: Option<Gauge>,
    ) -> Option<Passed> {
        let (job, most) = (self.place.job(), self.limits.disk_bytes);
        let mut watch = Watch::new(&job, most, self.floor, self.tenant, gauge);
        while is_done.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
            self.log.flush();
            // What cannot be looked at now is looked at again.
            if let Ok(Some(passed)) = watch.look() {
                killer.kill();
                return Some(passed);
            }
        }
        // What was cancelled is not judged by its files.
        if self.cancel.is_set() {
            return None;
        }
        watch.finish().ok().flatten()
    }

    fn judge(
        &self,
        command: &Command,
        end: Result<End, Error>,
        passed: Option<Passed>,
        deadline: Deadline,
    ) -> Ended {
        let end = match end {
            Ok(end) => end,
            Err(error) => return Ended::new(self.broken(&error)),
        };
        let exit_code = match end.how {
            How::Exited(code) => Some(code),
            _ => None,
        };
        let outcome = match (end.how, passed) {
            (How::Exited(0), None) => Outcome::Passed,
            (How::Killed, None) => Outcome::Cancelled,
            (_, Some(Passed::Most)) => Outcome::Failed(Failure::Disk(self.limits.disk_bytes)),
            // A command that did all it wanted to was not stopped by the little room that is left.
            (How::Exited(0), Some(Passed::Floor)) => Outcome::Passed,
            _ if self.cancel.is_set() && exit_code.is_none() => Outcome::Cancelled,
            (_, Some(Passed::Floor)) => Outcome::Broken(Breakage::DiskFull),
            (How::TimedOut, _) => deadline.passed(),
            _ => self.fault(command, &end),
        };
        if outcome.has_passed() && end.refused_processes > 0 {
            let refused = end.refused_processes;
            self.log.note(&format!(
                "{refused} processes were refused: `limits.processes` was reached"
            ));
        }
        Ended { outcome, exit_code }
    }

    /// Why a command failed that ended before its time.
    fn fault(&self, command: &Command, end: &End) -> Outcome {
        let limits = self.limits;
        if end.ran_out_of_memory || end.how == How::OutOfMemory {
            return Outcome::Failed(Failure::Memory(limits.memory_bytes));
        }
        if end.refused_processes > 0 {
            let refused = end.refused_processes;
            return Outcome::Failed(Failure::Processes(refused, limits.processes));
        }
        match end.how {
            How::Exited(_) if command.any_exit_code => Outcome::Passed,
            How::Exited(code) => Outcome::Failed(Failure::Exit(code)),
            How::Signaled(signal) => Outcome::Failed(Failure::Signal(signal)),
            How::OutOfMemory | How::TimedOut | How::Killed => Outcome::Cancelled,
        }
    }

    /// What an error of the jail means.
    fn broken(&self, error: &Error) -> Outcome {
        if matches!(error, Error::Lost) {
            let until = Instant::now() + LOST_GRACE;
            while !self.cancel.is_set() && Instant::now() < until {
                thread::sleep(Duration::from_millis(10));
            }
        }
        if self.cancel.is_set() {
            return Outcome::Cancelled;
        }
        Outcome::Broken(match error {
            Error::NoIsolation { lack, .. } => Breakage::NoIsolation(*lack),
            Error::Command { program, .. } => match self.image {
                Some(image) => Breakage::Image(format!(
                    "{program} cannot be executed in {}: add it to the image, or name another",
                    image.name
                )),
                None => Breakage::NoProgram(program.clone()),
            },
            error => Breakage::Jail(chain(error)),
        })
    }
}
