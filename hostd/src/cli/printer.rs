//! The log of a job, printed while it is written. In GitHub Actions each step is a group, and failures are marked.

use std::io::Write;

use base::id;
use jobs::{Event, Job};

use super::ci;

/// What a job came to, for people.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Ended {
    /// The verdict in a word.
    pub(super) word: String,
    /// What happened and what to do.
    pub(super) sentence: String,
    pub(super) runs: Vec<EndedRun>,
}

/// What a run came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct EndedRun {
    pub(super) id: String,
    pub(super) sentence: String,
    /// How many files it left.
    pub(super) artifacts: usize,
}

impl From<&Job> for Ended {
    fn from(job: &Job) -> Self {
        let verdict = job.verdict();
        let runs = job.runs.iter().map(|run| EndedRun {
            id: run.id.clone(),
            sentence: run.sentence(),
            artifacts: run.artifacts.len(),
        });
        Self {
            word: verdict.word().to_owned(),
            sentence: verdict.sentence(),
            runs: runs.collect(),
        }
    }
}

/// Characters of a sentence that is printed whole but once.
const LONG_CHARS: usize = 100;

/// Prints events.
pub(super) struct Printer {
    out: Box<dyn Write + Send>,
    /// For GitHub Actions: a word that ends the stretch in which it obeys nothing that a build prints.
    word: Option<String>,
    run: String,
    is_in_step: bool,
    is_at_start: bool,
    /// Long sentences that were printed.
    told: Vec<String>,
}

impl Printer {
    pub(super) fn new(out: Box<dyn Write + Send>, is_github: bool) -> Self {
        Self {
            out,
            word: is_github.then(|| id::base62(24)),
            run: String::new(),
            is_in_step: false,
            is_at_start: true,
            told: Vec::new(),
        }
    }

    /// Prints one event. Where nobody reads, the job goes on.
    pub(super) fn print(&mut self, event: Event) {
        match event {
            Event::RunStarted(run) => self.begin_run(run),
            Event::StepStarted(name) => self.begin_step(&name),
            Event::Output(_, bytes) => self.bytes(&bytes),
            Event::Missed(bytes) => self.line(&format!(
                "-- {bytes} bytes are not shown here; log.txt has what was kept of them"
            )),
            Event::Note(text) => self.note(&text),
            Event::StepEnded(name, word, sentence) => self.end_step(&name, word, &sentence),
            Event::RunEnded(run, word, sentence) => {
                let is_wrong = matches!(word, "failed" | "definition" | "infrastructure");
                self.end_run(&run, is_wrong, &sentence);
            }
        }
        self.flush();
    }

    /// What is seen is what has happened, also where the output goes to a file.
    pub(super) fn flush(&mut self) {
        // The log has it all, whoever reads here or not.
        let _ = self.out.flush();
    }

    /// From here on steps and output are of this run.
    pub(super) fn begin_run(&mut self, run: String) {
        self.line(&format!("=== {run}"));
        self.run = run;
    }

    pub(super) fn note(&mut self, text: &str) {
        self.line(&format!("-- {text}"));
    }

    pub(super) fn end_run(&mut self, run: &str, is_wrong: bool, sentence: &str) {
        if is_wrong {
            self.mark(run, sentence);
        }
        self.line(&format!("=== {run}: {sentence}"));
    }

    pub(super) fn begin_step(&mut self, name: &str) {
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

    /// What follows is of this step again, of which there was output before.
    pub(super) fn resume_step(&mut self, name: &str) {
        // Only where steps are kept apart by more than their headings must it be said.
        if self.word.is_some() {
            self.begin_step(name);
        }
    }

    fn end_step(&mut self, name: &str, word: &str, sentence: &str) {
        self.close_step();
        if word != "passed" {
            self.note(&format!("{name}: {sentence}"));
        }
    }

    /// What follows is of no step.
    pub(super) fn close_step(&mut self) {
        if let Some(token) = self.word.clone()
            && self.is_in_step
        {
            self.line(&format!("::{token}::"));
            self.line("::endgroup::");
        }
        self.is_in_step = false;
    }

    /// Marks a failure on the page that GitHub Actions shows of a run.
    pub(super) fn mark(&mut self, title: &str, sentence: &str) {
        if self.word.is_some() {
            let (title, sentence) = (ci::property(title), ci::data(sentence));
            self.line(&format!("::error title={title}::{sentence}"));
        }
    }

    /// A text whose long sentences are those that were not printed yet; of the others it has the beginning.
    pub(super) fn once(&mut self, text: &str) -> String {
        for told in &self.told {
            if text.contains(told.as_str()) {
                return text.replace(told.as_str(), &beginning(told));
            }
        }
        if text.chars().count() > LONG_CHARS {
            self.told.push(text.to_owned());
        }
        text.to_owned()
    }

    /// Tells what the job came to, and where there is more.
    pub(super) fn finish(&mut self, ended: &Ended, more: &str) {
        self.line("");
        let ids = ended.runs.iter().map(|run| run.id.len());
        let wide = ids.max().unwrap_or(0);
        for run in &ended.runs {
            let artifacts = match run.artifacts {
                0 => String::new(),
                1 => ", 1 artifact".to_owned(),
                count => format!(", {count} artifacts"),
            };
            let EndedRun { id, sentence, .. } = run;
            let sentence = self.once(sentence);
            self.line(&format!("{id:<wide$}  {sentence}{artifacts}"));
        }
        let sentence = self.once(&ended.sentence);
        self.line(&format!("\n{}: {sentence}", ended.word));
        self.line(more);
        self.flush();
    }

    pub(super) fn line(&mut self, text: &str) {
        if !self.is_at_start {
            self.bytes(b"\n");
        }
        self.bytes(text.as_bytes());
        self.bytes(b"\n");
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        // As in flush.
        let _ = self.out.write_all(bytes);
        if let Some(last) = bytes.last() {
            self.is_at_start = *last == b'\n';
        }
    }
}

/// How a long text begins that is told above.
fn beginning(text: &str) -> String {
    let first = text.split_once(". ").map_or(text, |(first, _)| first);
    match first.char_indices().nth(LONG_CHARS) {
        Some((end, _)) => format!("{}… (as above)", &first[..end]),
        None => format!("{first} (as above)."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_sentence_is_printed_once() {
        let mut printer = Printer::new(Box::new(std::io::sink()), false);
        let long = format!(
            "No device fits. {}.",
            "demo: it lacks 400 channels; ".repeat(10)
        );
        assert_eq!(printer.once(&long), long);
        assert_eq!(printer.once(&long), "No device fits (as above).");
        let of_run = format!("b: {long}");
        assert_eq!(printer.once(&of_run), "b: No device fits (as above).");
        let other = "x".repeat(500);
        assert_eq!(printer.once(&other), other);
        let again = printer.once(&other);
        assert!(
            again.len() < 200 && again.ends_with("… (as above)"),
            "{again}"
        );
        for _ in 0..2 {
            assert_eq!(printer.once("It ended with 1."), "It ended with 1.");
        }
    }
}
