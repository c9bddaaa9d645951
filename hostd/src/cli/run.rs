//! `hostd run`: a pipeline carried out on this machine, without a server.

mod summary;

use std::collections::BTreeMap;
use std::env::{self, VarError};
use std::fs::File;
use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{self, ExitCode};
use std::sync::{Arc, OnceLock};
use std::thread;

use anyhow::{Context, bail};
use base::clock::Clock;
use base::config::{Config, DeviceConfig};
use base::id;
use clap::Args;
use jail::{Bind, Reach};
use jobs::{Cancel, Live, Options, Request, Runner, StartError, Subject, write_reports};
use pipeline::Caps;
use pipeline::plan::{Plan, Role, Run as PlannedRun};

use super::check::{self, DEFINITION};
use super::ci;
use super::out::Out;
use super::printer::{Ended, Printer};
use super::submit::sources::left_out;
use super::trouble::{CANCELLED, Trouble};
use crate::groups::Embedded;
use crate::local::{LocalBench, Offer, Safety};

/// Names that are told of files that are left out.
const IGNORED_TOLD_MAX: usize = 10;

/// What nobody takes for sources.
const NO_SOURCES: [&str; 2] = [".git", "hostd-out"];

/// Run a pipeline: each build in a jail, with a copy of the sources, and each bench on a device.
#[derive(Debug, Args)]
pub struct Run {
    /// The pipeline
    file: PathBuf,
    /// Folder for log, report and artifacts
    #[arg(long, value_name = "DIR", default_value = "hostd-out")]
    out: PathBuf,
    /// Print what it came to as JSON; the log goes to standard error
    #[arg(long)]
    json: bool,
    /// Run this build, bench or run and what it needs; may be given several times
    #[arg(long, value_name = "ID")]
    only: Vec<String>,
    /// Leave the benches out on purpose: that they were not run is no reason to fail
    #[arg(long)]
    builds_only: bool,
    /// Device for the benches, in place of simulated ones: ADDRESS, NAME=ADDRESS, or the name of a configured one; may
    /// be given several times. An address is as in the configuration: tcp:bench.example
    #[arg(long = "device", value_name = "DEVICE", conflicts_with = "builds_only")]
    devices: Vec<String>,
    /// Chip that the devices of --device are wired to
    #[arg(long, value_name = "CHIP", requires = "devices")]
    target: Option<String>,
    /// Keep the folders in which builds ran
    #[arg(long)]
    keep: bool,
    /// Sources to build; the folder of the pipeline if left out
    #[arg(long, value_name = "DIR")]
    source: Option<PathBuf>,
    /// A secret for the steps that name it: its value is that of the environment variable with its name, or what is in
    /// the file; may be given several times
    #[arg(long = "secret", value_name = "NAME[=FILE]")]
    secrets: Vec<String>,
    /// A folder of tools that builds can read, at the same path; may be given several times
    #[arg(long, value_name = "DIR")]
    tools: Vec<PathBuf>,
    /// Let steps reach the network whose pipeline asks for it (`sandbox.network`): public addresses, or all that this
    /// machine reaches
    #[arg(
        long,
        value_name = "public|all",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "public",
        value_parser = reach
    )]
    network: Option<Reach>,
    /// Folder for running builds and their caches, ~/.cache/hostd if left out
    #[arg(long, value_name = "DIR")]
    work: Option<PathBuf>,
}

impl Run {
    /// Carry the pipeline out and tell what it came to.
    ///
    /// # Errors
    /// Standard output cannot be written to, or signals cannot be listened for.
    pub fn run(
        self,
        handlers: &'static [Embedded],
        config: impl Fn() -> anyhow::Result<Config>,
    ) -> anyhow::Result<ExitCode> {
        let plan = match self.plan() {
            Ok(plan) => plan,
            Err(why) => {
                // Nobody is left to tell whom standard error does not reach.
                let _ = write!(io::stderr(), "{why}");
                return Ok(ExitCode::from(DEFINITION));
            }
        };
        let configured = || Ok(config()?.devices);
        match self.carry_out(&plan, handlers, &configured) {
            Ok(code) => Ok(code),
            Err(trouble) => Ok(trouble.tell()),
        }
    }

    /// What is to be done; or what is wrong with the pipeline, as text.
    fn plan(&self) -> Result<Plan, String> {
        let text =
            check::read(&self.file).map_err(|error| format!("hostd: failed to {error:#}\n"))?;
        let caps = Caps::default();
        let name = self.file.display().to_string();
        let parsed = check::parse(&text, &caps).map_err(|report| report.render(&name))?;
        let mut plan = pipeline::expand(&parsed, &caps);
        if !self.only.is_empty() {
            jobs::select(&mut plan, &self.only)
                .map_err(|error| format!("hostd: failed to {error}\n"))?;
        }
        Ok(plan)
    }

    fn carry_out(
        &self,
        plan: &Plan,
        handlers: &'static [Embedded],
        configured: &dyn Fn() -> anyhow::Result<Vec<DeviceConfig>>,
    ) -> Result<ExitCode, Trouble> {
        let subject = self.subject(plan);
        let secrets = self.secrets()?;
        let state = self.state()?;
        let offers = self.offers(configured).map_err(Trouble::Asked)?;
        let runner = Runner::open(self.options(&state)?).context("make ready for jobs")?;
        let source = self.whole_source()?;
        let mut request = Request::new(plan, &source, &self.out);
        request.leave_out = left_out(&source, Some(&self.out))?;
        request.secrets = secrets;
        request.builds_only = self.builds_only;
        request.network = self.network;
        request.keep = self.keep.then(|| state.join("kept").join(&subject.id));
        let cancel = Cancel::default();
        let safety = Arc::new(OnceLock::new());
        listen(cancel.clone(), safety.clone())?;
        let bench = match self.needs_devices(plan) {
            false => None,
            true => Some(LocalBench::open(&state, offers, handlers).context("make a bench")?),
        };
        if let Some(bench) = &bench {
            // Only here.
            let _ = safety.set(bench.safety().clone());
            request.benches = Some(bench);
        }
        let (live, events) = Live::new();
        let mut printer = Printer::new(self.log_to(), ci::is_github());
        if let Some(ignored) = ignored(&source, &request.leave_out) {
            printer.note(&ignored);
        }
        let printing = thread::spawn(move || {
            events.for_each(|event| printer.print(event));
            printer
        });
        let job = runner.run(&request, &live, &cancel);
        drop((live, request));
        let printer = printing.join();
        let job = job.map_err(Trouble::from)?;
        let kept = bench.map_or(Ok(Vec::new()), |bench| {
            let kept = bench.keep_captures(&job, &self.out);
            let closed = bench.close().context("remove the folder of the bench");
            kept.and_then(|kept| closed.map(|()| kept))
        });
        let captures = kept.as_deref().unwrap_or_default();
        let files = write_reports(&job, &subject, captures, &self.out);
        let files = files.context("write the reports")?;
        let mut printer = printer.unwrap_or_else(|_| Printer::new(self.log_to(), false));
        let ended = Ended::from(&job);
        let out = self.out.display();
        printer.finish(&ended, &format!("Log, report and artifacts are in {out}."));
        if ended.word == "incomplete" {
            printer.mark("benches", &ended.sentence);
            printer.flush();
        }
        ci::append_summary(&ended).context("write the summary of the step")?;
        kept?;
        if self.json {
            let json = summary::as_json(&job, &files);
            writeln!(Out::new(), "{json:#}").context("print the result")?;
        }
        Ok(ExitCode::from(job.verdict().exit_code()))
    }

    /// Devices that the benches may have.
    fn offers(
        &self,
        configured: &dyn Fn() -> anyhow::Result<Vec<DeviceConfig>>,
    ) -> anyhow::Result<Vec<Offer>> {
        match self.devices.is_empty() {
            true => Ok(Offer::simulated()),
            false => Offer::named(&self.devices, self.target.as_deref(), configured),
        }
    }

    fn needs_devices(&self, plan: &Plan) -> bool {
        let is_bench = |run: &PlannedRun| matches!(run.role, Role::Bench { .. });
        !self.builds_only && plan.runs.iter().any(is_bench)
    }

    /// The log stays apart from what programs read.
    fn log_to(&self) -> Box<dyn Write + Send> {
        match self.json {
            true => Box::new(io::stderr()),
            false => Box::new(Out::new()),
        }
    }

    fn source(&self) -> PathBuf {
        let beside = self
            .file
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let beside = || beside.unwrap_or(Path::new(".")).to_owned();
        self.source.clone().unwrap_or_else(beside)
    }

    /// The folder of the sources, without links on the way.
    fn whole_source(&self) -> Result<PathBuf, Trouble> {
        let source = self.source();
        let found = source.canonicalize();
        let found = found.with_context(|| format!("find the sources in {}", source.display()));
        found.map_err(Trouble::Asked)
    }

    fn options(&self, state: &Path) -> Result<Options, Trouble> {
        let mut options = Options::new(state);
        for folder in &self.tools {
            let folder = folder.canonicalize();
            let folder = folder
                .context("find a folder of tools")
                .map_err(Trouble::Asked)?;
            options.tools.push(Bind::same(folder));
        }
        Ok(options)
    }

    fn state(&self) -> anyhow::Result<PathBuf> {
        let folder = match &self.work {
            Some(folder) => folder.clone(),
            None => {
                let own = |name| {
                    env::var_os(name)
                        .map(PathBuf::from)
                        .filter(|path| path.is_absolute())
                };
                let cache = own("XDG_CACHE_HOME").or_else(|| Some(own("HOME")?.join(".cache")));
                cache
                    .unwrap_or_else(|| PathBuf::from("/var/cache"))
                    .join("hostd")
            }
        };
        std::path::absolute(folder).context("find the folder for running builds")
    }

    fn secrets(&self) -> Result<BTreeMap<String, String>, Trouble> {
        let secret = |given: &String| {
            let (name, value) = match given.split_once('=') {
                Some((name, path)) => (name, secret_of_file(name, Path::new(path))),
                None => (given.as_str(), secret_of_variable(given)),
            };
            Ok((name.to_owned(), value.map_err(Trouble::Asked)?))
        };
        self.secrets.iter().map(secret).collect()
    }

    fn subject(&self, plan: &Plan) -> Subject {
        let clock = Clock::system();
        let stem = self
            .file
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned());
        Subject {
            id: id::ulid(&clock),
            name: plan.name.clone().or(stem).unwrap_or_default(),
            at: clock.now_text(),
            ..ci::subject()
        }
    }
}

/// What is said of files that git ignores and that steps therefore do not see; none if there are none.
fn ignored(source: &Path, left_out: &[PathBuf]) -> Option<String> {
    let names = left_out
        .iter()
        .filter_map(|path| path.strip_prefix(source).ok());
    let is_ignored = |name: &&Path| !NO_SOURCES.iter().any(|other| name.ends_with(other));
    let names: Vec<String> = names
        .filter(is_ignored)
        .map(|name| name.display().to_string())
        .collect();
    if names.is_empty() {
        return None;
    }
    let told = &names[..names.len().min(IGNORED_TOLD_MAX)];
    let more = match names.len() - told.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!(
        "left out, as by `hostd submit`, since git ignores it or it leads out of the sources: {}{more}",
        told.join(", ")
    ))
}

fn reach(text: &str) -> Result<Reach, &'static str> {
    let reaches = [Reach::Public, Reach::All];
    let found = reaches.into_iter().find(|reach| reach.word() == text);
    found.ok_or("write public or all")
}

/// The first SIGINT or SIGTERM cancels. The second ends this process as soon as its devices are safe.
fn listen(cancel: Cancel, safety: Arc<OnceLock<Safety>>) -> anyhow::Result<()> {
    super::signals::listen(move || {
        if !cancel.is_set() {
            return cancel.cancel();
        }
        let safety = safety.clone();
        thread::spawn(move || {
            let are_safe = safety.get().is_none_or(Safety::make_all_safe);
            if !are_safe {
                // Nobody is left to tell whom standard error does not reach.
                let _ = writeln!(
                    io::stderr(),
                    "hostd: a device could not be made safe: look whether its target is powered"
                );
            }
            #[expect(
                clippy::exit,
                reason = "whoever ends it twice does not wait for what it does"
            )]
            process::exit(CANCELLED.into());
        });
    })
}

fn secret_of_variable(name: &str) -> anyhow::Result<String> {
    match env::var(name) {
        Ok(value) => Ok(value),
        Err(VarError::NotPresent) => bail!(
            "read the secret {name} from the environment: there is no such variable; set it, or write --secret {name}=FILE"
        ),
        // The error has the value in it.
        Err(VarError::NotUnicode(_)) => {
            bail!("read the secret {name} from the environment: it is not UTF-8")
        }
    }
}

/// All that is in the file. A single line's end is no part of the secret.
fn secret_of_file(name: &str, path: &Path) -> anyhow::Result<String> {
    let open = || format!("read the secret {name} from {}", path.display());
    let file = File::open(path).with_context(open)?;
    super::secret::value(&mut BufReader::new(file)).with_context(open)
}

impl From<StartError> for Trouble {
    fn from(error: StartError) -> Self {
        match error {
            StartError::NoSecret(..) | StartError::Secret(_) | StartError::ForeignOut(_) => {
                Self::Asked(error.into())
            }
            StartError::NoPlace | StartError::Files(..) => Self::Machine(error.into()),
        }
    }
}
