//! `hostd submit`: a pipeline and its sources given to a server, and the job followed to its end.

mod ended;
mod follow;
mod form;
mod piece;
mod results;
mod socket;
pub(super) mod sources;
mod story;

use std::cell::Cell;
use std::env;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use anyhow::Context;
use base::id;
use clap::Args;
use pipeline::Caps;
use pipeline::parse_time;
use serde_json::{Value, json};
use ureq::SendBody;

use super::check::{self, DEFINITION};
use super::ci;
use super::out::Out;
use super::printer::Printer;
use super::trouble::{CANCELLED, INFRASTRUCTURE, Trouble};
use super::{patience, server};
use ended::text;
use follow::Following;
use form::Form;
use patience::{Patience, tell};
use server::{Failed, KEY, Server, URL_DEFAULT, retried};
use sources::Sources;
use story::Story;

/// What stands for standard input, and for no sources.
const NONE: &str = "-";

/// Random characters of a key that makes a retry known.
const IDEMPOTENCY_KEY_CHARS: usize = 32;

/// Submit a pipeline and its sources to a server.
#[derive(Debug, Args)]
pub struct Submit {
    /// The pipeline, a file below the folder of the sources; - reads one that needs no sources from standard input
    file: PathBuf,
    /// Address of the server, such as `https://bench.example`
    #[arg(long, env = "HOSTD_URL", value_name = "URL", default_value = URL_DEFAULT)]
    url: String,
    /// PEM file of the certificate authorities to trust, in place of the public ones
    #[arg(long, env = "HOSTD_CA", value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Folder of the sources; that of the pipeline if left out; - sends the pipeline alone
    #[arg(long, value_name = "DIR")]
    source: Option<PathBuf>,
    /// What the job is called, if not as the pipeline says
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// Branch or tag; in GitHub Actions and GitLab CI that of the run if left out
    #[arg(long = "ref", value_name = "TEXT")]
    reference: Option<String>,
    /// Id of the commit; likewise
    #[arg(long, value_name = "ID")]
    commit: Option<String>,
    /// Print the log while it is written, and end when the job has ended; Ctrl-C cancels it
    #[arg(long)]
    wait: bool,
    /// Folder for log, report, JUnit, artifacts and captures when the job has ended
    #[arg(long, value_name = "DIR", requires = "wait")]
    out: Option<PathBuf>,
    /// Print the job as JSON; the log goes to standard error
    #[arg(long)]
    json: bool,
    /// A second submission with this key makes no second job; a random key if left out
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
    /// How long to go on trying when the server cannot be reached or has no room
    #[arg(long, value_name = "TIME", value_parser = parse_time, default_value = "90s")]
    patience: Duration,
}

/// A pipeline that was read.
struct Definition {
    text: String,
    /// What it calls the job.
    name: Option<String>,
}

impl Submit {
    /// Submit, and wait for the end if that is wanted.
    ///
    /// # Errors
    /// Standard output cannot be written to.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let definition = match self.definition() {
            Ok(definition) => definition,
            Err(problems) => {
                // Nobody is left to tell whom standard error does not reach.
                let _ = write!(io::stderr(), "{problems}");
                return Ok(ExitCode::from(DEFINITION));
            }
        };
        match self.carry_out(&definition) {
            Ok(code) => Ok(ExitCode::from(code)),
            Err(failed) => Ok(self.failed(failed)),
        }
    }

    /// The pipeline; or what is wrong with it, as text.
    fn definition(&self) -> Result<Definition, String> {
        let text = if self.file == Path::new(NONE) {
            check::text_of(io::stdin()).context("read standard input")
        } else {
            check::read(&self.file)
        };
        let text = text.map_err(|error| format!("hostd: failed to {error:#}\n"))?;
        // What a server allows, only that server knows.
        let parsed = check::parse(&text, &Caps::UNLIMITED);
        let parsed = parsed.map_err(|report| report.render(&self.file_name()))?;
        let name = pipeline::expand(&parsed, &Caps::UNLIMITED).name;
        Ok(Definition { text, name })
    }

    fn file_name(&self) -> String {
        if self.file == Path::new(NONE) {
            return "standard input".to_owned();
        }
        self.file.display().to_string()
    }

    fn carry_out(&self, definition: &Definition) -> Result<u8, Failed> {
        let key = env::var(KEY).with_context(|| format!("read the API key from {KEY}"));
        let server = key.and_then(|key| Server::new(&self.url, &key, self.ca.as_deref()));
        let server = server.map_err(Failed::Here)?;
        let sources = self.sources().map_err(Failed::Here)?;
        let patience = Patience::new(self.patience);
        if self.wait {
            patience.listen().map_err(Failed::Lost)?;
        }
        let random = || id::base62(IDEMPOTENCY_KEY_CHARS);
        let key = self.idempotency_key.clone().unwrap_or_else(random);
        let is_lost = Cell::new(false);
        let submit = |patience: &Patience| {
            let what = (definition, sources.as_ref());
            self.submit(&server, patience, what, &key, |answer| {
                is_lost.set(matches!(answer, Err(Failed::Lost(_))));
            })
        };
        let submitted = match submit(&patience) {
            Err(Failed::Stopped) if is_lost.get() => {
                follow::withdraw(&server, &patience.obeying(), submit)?;
                return Err(Failed::Stopped);
            }
            submitted => submitted?,
        };
        let id = text(&submitted, "id");
        if id.is_empty() {
            let error = anyhow::anyhow!("understand the answer; is {} a hostd?", self.url);
            return Err(Failed::Here(error));
        }
        let url = format!("{}/jobs/{id}", server.api);
        if self.wait {
            return self.follow(&server, &patience, id, &url);
        }
        if self.json {
            let status = text(&submitted, "status");
            print(&json!({"id": id, "url": url, "status": status}))?;
        } else {
            let _ = writeln!(Out::new(), "Job {id}\n{url}");
        }
        Ok(0)
    }

    /// The sources that go along, if any do.
    fn sources(&self) -> anyhow::Result<Option<Sources>> {
        let is_none = |path: &Path| path == Path::new(NONE);
        let beside = match self.file.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let root = match self.source.as_deref() {
            Some(source) if is_none(source) => return Ok(None),
            Some(_) if is_none(&self.file) => {
                anyhow::bail!("find the pipeline in --source: it comes from standard input")
            }
            None if is_none(&self.file) => return Ok(None),
            Some(source) => source,
            None => beside,
        };
        let sources = Sources::list(root, self.out.as_deref())?;
        sources.path_of(&self.file)?;
        for left_out in &sources.left_out {
            tell(&format!("left out: {left_out}"));
        }
        Ok(Some(sources))
    }

    /// Queues the job, once, however often it must be asked for. `heard` is told what comes of each time.
    fn submit(
        &self,
        server: &Server,
        patience: &Patience,
        (definition, sources): (&Definition, Option<&Sources>),
        key: &str,
        heard: impl Fn(&Result<Value, Failed>),
    ) -> Result<Value, Failed> {
        let key = ("idempotency-key", key);
        let labels = self.labels(definition.name.as_deref());
        let labels: Vec<(&str, &str)> = labels
            .iter()
            .filter_map(|(name, value)| Some((*name, value.as_deref()?)))
            .collect();
        let Some(sources) = sources else {
            let mut body = json!({"definition": definition.text});
            for (name, value) in labels {
                body[name] = value.into();
            }
            return retried(patience, || {
                let answer = server.post_json("/jobs/submit", &[key], &body);
                heard(&answer);
                answer
            });
        };
        let path = sources.path_of(&self.file).map_err(Failed::Here)?;
        let texts = [&[("ci_yaml", path)], labels.as_slice()].concat();
        retried(patience, || {
            let answer = send_form(server, patience, key, &texts, sources);
            heard(&answer);
            answer
        })
    }

    /// What the job is called, and what it is made from.
    fn labels(&self, own_name: Option<&str>) -> [(&'static str, Option<String>); 3] {
        let ci = ci::subject();
        let stem = || Some(self.file.file_stem()?.to_string_lossy().into_owned());
        let otherwise = || {
            // The server knows what the pipeline calls itself.
            let name = own_name.is_none().then(|| ci::repository().or_else(stem));
            name.flatten().filter(|name| name != NONE)
        };
        [
            ("name", self.name.clone().or_else(otherwise)),
            ("ref", self.reference.clone().or(ci.reference)),
            ("commit", self.commit.clone().or(ci.commit)),
        ]
    }

    /// Prints what happens, to the end of the job, and fetches what it left.
    fn follow(
        &self,
        server: &Server,
        patience: &Patience,
        id: &str,
        url: &str,
    ) -> Result<u8, Failed> {
        let mut printer = Printer::new(self.log_to(), ci::is_github());
        printer.line(&format!("Job {id}\n{url}"));
        let mut story = Story::new(printer);
        if let Err(failed) = Following::new(server, patience, id, &mut story).finish() {
            tell(&format!("the job is not followed any more; it is at {url}"));
            return Err(failed);
        }
        let job = std::mem::take(&mut story.job);
        let mut printer = story.into_printer();
        let (verdict, code) = ended::verdict(&job);
        let ended = ended::ended(&job);
        let fetched = match &self.out {
            Some(out) => results::fetch(server, patience, id, out),
            None => Ok(Vec::new()),
        };
        let more = match (&self.out, &fetched) {
            (Some(out), Ok(_)) => {
                format!("Log, report and artifacts are in {}.", out.display())
            }
            _ => format!("The job is at {url}, its report at {url}/report."),
        };
        printer.finish(&ended, &more);
        if code == INFRASTRUCTURE {
            printer.mark("job", &ended.sentence);
            printer.flush();
        }
        let summary = ci::append_summary(&ended).context("write the summary of the step");
        summary.map_err(Failed::Lost)?;
        if self.json {
            print(&json!({
                "id": id, "url": url, "verdict": verdict, "exit_code": code, "sentence": ended.sentence,
                "job": job, "files": fetched.as_deref().unwrap_or_default(),
            }))?;
        }
        match fetched {
            Ok(_) => Ok(code),
            // What the job came to counts for more than what cannot be fetched of it.
            Err(failed) if code != 0 => {
                tell(&format!("failed to {failed}"));
                Ok(code)
            }
            Err(failed) => Err(Failed::Lost(anyhow::anyhow!("{failed}"))),
        }
    }

    /// The log stays apart from what programs read.
    fn log_to(&self) -> Box<dyn Write + Send> {
        match self.json {
            true => Box::new(io::stderr()),
            false => Box::new(Out::new()),
        }
    }

    /// Tells why it did not come to an end, with the exit code for that.
    fn failed(&self, failed: Failed) -> ExitCode {
        match failed {
            Failed::Stopped => ExitCode::from(CANCELLED),
            Failed::Here(error) => Trouble::Asked(error).tell(),
            Failed::Lost(error) => Trouble::Machine(error).tell(),
            Failed::Refused(refusal) => {
                let file = self.file_name();
                let problems = refusal.body["problems"].as_array();
                for problem in problems.into_iter().flatten() {
                    tell_problem(&file, problem);
                }
                let error = anyhow::anyhow!("{refusal}");
                match refusal.is_asked() {
                    true => Trouble::Asked(error).tell(),
                    false => Trouble::Machine(error).tell(),
                }
            }
        }
    }
}

/// Sends a form with the sources, once.
fn send_form(
    server: &Server,
    patience: &Patience,
    key: (&str, &str),
    texts: &[(&str, &str)],
    sources: &Sources,
) -> Result<Value, Failed> {
    thread::scope(|scope| {
        let form = Form::new(scope, patience, texts, "archive", sources);
        let mut form = form.map_err(Failed::Here)?;
        let media_type = form.media_type();
        let headers = [
            key,
            ("content-type", media_type.as_str()),
            // Whoever is refused need not send it all.
            ("expect", "100-continue"),
        ];
        let body = SendBody::from_reader(&mut form);
        let answer = server.send("POST", "/jobs/submit", &headers, body);
        match (answer, form.trouble()) {
            (Err(Failed::Lost(_)), Some(error)) => Err(Failed::Here(error)),
            (answer, _) => server::json(answer?),
        }
    })
}

/// Tells what a server finds wrong with a pipeline, as `hostd check` does.
fn tell_problem(file: &str, problem: &Value) {
    let place = |member: &str| problem[member].as_u64().unwrap_or(0);
    let (line, column) = (place("line"), place("column"));
    let (code, message) = (text(problem, "code"), text(problem, "message"));
    // Nobody is left to tell whom standard error does not reach.
    let _ = writeln!(
        io::stderr(),
        "{file}:{line}:{column}: error[{code}]: {message}"
    );
}

fn print(result: &Value) -> Result<(), Failed> {
    let printed = writeln!(Out::new(), "{result:#}").context("print the result");
    printed.map_err(Failed::Lost)
}

#[cfg(test)]
mod tests;
