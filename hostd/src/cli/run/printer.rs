//! The log of a job, printed while it is written. In GitHub Actions each step is a group, and failures are marked.

use std::io::Write;
use std::path::Path;

use base::id;
use jobs::{Event, Job};

use super::ci;

/// Prints events.
pub(super) struct Printer {
    out: Box<dyn Write + Send>,
    /// For GitHub Actions: a word that ends the stretch in which it obeys nothing that a build prints.
    word: Option<String>,
    run: String,
    is_in_step: bool,
    is_at_start: bool,
}

impl Printer {
    pub(super) fn new(out: Box<dyn Write + Send>, is_github: bool) -> Self {
        Self {
            out,
            word: is_github.then(|| id::base62(24)),
            run: String::new(),
            is_in_step: false,
            is_at_start: true,
        }
    }

    /// Prints one event. Where nobody reads, the job goes on.
    pub(super) fn print(&mut self, event: Event) {
        match event {
            Event::RunStarted(run) => {
                self.line(&format!("=== {run}"));
                self.run = run;
            }
            Event::StepStarted(name) => self.begin_step(&name),
            Event::Output(_, bytes) => self.bytes(&bytes),
            Event::Missed(bytes) => self.line(&format!(
                "-- {bytes} bytes are not shown here; log.txt has what was kept of them"
            )),
            Event::Note(text) => self.line(&format!("-- {text}")),
            Event::StepEnded(name, word, sentence) => self.end_step(&name, word, &sentence),
            Event::RunEnded(run, word, sentence) => {
                if matches!(word, "failed" | "infrastructure") {
                    self.mark(&run, &sentence);
                }
                self.line(&format!("=== {run}: {sentence}"));
            }
        }
        // What is seen is what has happened, also where the output goes to a file.
        let _ = self.out.flush();
    }

    fn begin_step(&mut self, name: &str) {
        self.is_in_step = true;
        let Some(word) = self.word.clone() else {
            return self.line(&format!("== {name}"));
        };
        self.line(&format!(
            "::group::{}",
            ci::data(&format!("{}: {name}", self.run))
        ));
        self.line(&format!("::stop-commands::{word}"));
    }

    fn end_step(&mut self, name: &str, word: &str, sentence: &str) {
        self.is_in_step = false;
        if let Some(token) = self.word.clone() {
            self.line(&format!("::{token}::"));
            self.line("::endgroup::");
        }
        if word != "passed" {
            self.line(&format!("-- {name}: {sentence}"));
        }
    }

    fn mark(&mut self, title: &str, sentence: &str) {
        if self.word.is_some() {
            let (title, sentence) = (ci::property(title), ci::data(sentence));
            self.line(&format!("::error title={title}::{sentence}"));
        }
    }

    /// Tells what the job came to.
    pub(super) fn finish(&mut self, job: &Job, out: &Path) {
        self.line("");
        let wide = job.runs.iter().map(|run| run.id.len()).max().unwrap_or(0);
        for run in &job.runs {
            let artifacts = match run.artifacts.len() {
                0 => String::new(),
                1 => ", 1 artifact".to_owned(),
                count => format!(", {count} artifacts"),
            };
            let id = &run.id;
            self.line(&format!("{id:<wide$}  {}{artifacts}", run.outcome));
        }
        let verdict = job.verdict();
        self.line(&format!("\n{}: {}", verdict.word(), verdict.sentence()));
        self.line(&format!(
            "Log, report and artifacts are in {}.",
            out.display()
        ));
        if verdict.word() == "incomplete" {
            self.mark("benches", &verdict.sentence());
        }
        let _ = self.out.flush();
    }

    fn line(&mut self, text: &str) {
        if !self.is_at_start {
            self.bytes(b"\n");
        }
        self.bytes(text.as_bytes());
        self.bytes(b"\n");
    }

    fn bytes(&mut self, bytes: &[u8]) {
        // The log has it all, whoever reads here or not.
        let _ = self.out.write_all(bytes);
        if let Some(last) = bytes.last() {
            self.is_at_start = *last == b'\n';
        }
    }
}
