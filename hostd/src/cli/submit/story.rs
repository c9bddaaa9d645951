//! What a server tells of a job, put in order for a log: one run and one step at a time, and nothing twice, though a
//! new connection begins at the beginning again. Where the log is fetched as text, it is printed as it is.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::printer::Printer;
use super::ended::{is_wrong, text};

/// What stands for the steps of a log that comes as text.
const LOG: &str = "log";

/// The messages of a job's live stream, printed.
pub(super) struct Story {
    printer: Printer,
    /// The record as it was told last.
    pub(super) job: Value,
    attempts: BTreeMap<u64, Attempt>,
    /// Whose output was printed last.
    current: Option<u64>,
    /// What was said of the job last.
    said: String,
    /// Something was told that was not known.
    is_new: bool,
}

/// What was told of one attempt.
#[derive(Default)]
struct Attempt {
    run: String,
    /// The run, and which attempt at it this is, if it is not the first.
    title: String,
    /// Messages about its log, in all and over this connection.
    told: u64,
    seen: u64,
    /// The step that writes.
    step: Option<String>,
    /// The end of what was printed, in its log.
    offset: u64,
    end: End,
}

/// How an attempt ended. It is told behind its output, which follows it.
#[derive(Default)]
enum End {
    #[default]
    Unknown,
    Known {
        is_wrong: bool,
        sentence: String,
        log_bytes: u64,
    },
    Told,
}

impl Story {
    pub(super) fn new(printer: Printer) -> Self {
        Self {
            printer,
            job: Value::Null,
            attempts: BTreeMap::new(),
            current: None,
            said: String::new(),
            is_new: false,
        }
    }

    pub(super) fn into_printer(self) -> Printer {
        self.printer
    }

    /// A connection was made, which tells everything from the beginning.
    pub(super) fn begin_again(&mut self) {
        for attempt in self.attempts.values_mut() {
            attempt.seen = 0;
        }
    }

    /// Whether there was news since this was asked last.
    pub(super) fn take_news(&mut self) -> bool {
        std::mem::take(&mut self.is_new)
    }

    /// Takes a message about logs. True if it is the last.
    pub(super) fn hear(&mut self, told: &Value) -> bool {
        match text(told, "type") {
            "output" => self.hear_output(told),
            "dropped" => self.hear_dropped(told),
            "end" => {
                self.finish();
                return true;
            }
            // A later server may tell more.
            _ => {}
        }
        self.printer.flush();
        false
    }

    /// All logs were told to their ends.
    pub(super) fn finish(&mut self) {
        self.tell_ends(|_, _| true);
        self.printer.flush();
    }

    /// Where in the log of an attempt the text begins that was not printed.
    pub(super) fn offset(&self, number: u64) -> u64 {
        self.attempts
            .get(&number)
            .map_or(0, |attempt| attempt.offset)
    }

    /// Takes the text of an attempt's log from [`Story::offset`] to `end`.
    pub(super) fn hear_text(&mut self, number: u64, text: &[u8], end: u64) {
        let attempt = self.attempts.entry(number).or_default();
        attempt.offset = end;
        if !text.is_empty() {
            self.is_new = true;
            // Which step writes is told in the text alone.
            if attempt.step.is_none() {
                attempt.step = Some(LOG.to_owned());
                if self.current == Some(number) {
                    self.printer.resume_step(LOG);
                }
            }
            self.turn_to(number);
            self.printer.bytes(text);
        }
        self.tell_ends(|offset, log_bytes| offset >= log_bytes);
        self.printer.flush();
    }

    /// Takes the record as it is now, which may be ahead of the logs.
    pub(super) fn hear_job(&mut self, job: Value) {
        self.is_new |= job != self.job;
        let mut counts = BTreeMap::new();
        for attempt in job["attempts"].as_array().into_iter().flatten() {
            let run = text(attempt, "run");
            let count = counts
                .entry(run)
                .and_modify(|count| *count += 1)
                .or_insert(1);
            let known = self.attempts.entry(number(attempt, "number")).or_default();
            run.clone_into(&mut known.run);
            known.title = match count {
                1 => run.to_owned(),
                count => format!("{run}, attempt {count}"),
            };
            if matches!(known.end, End::Unknown) && !attempt["ended_at"].is_null() {
                known.end = End::Known {
                    is_wrong: is_wrong(text(attempt, "outcome")),
                    sentence: text(attempt, "message").to_owned(),
                    log_bytes: number(attempt, "log_bytes"),
                };
            }
        }
        self.tell_ends(|offset, log_bytes| offset >= log_bytes);
        let said = format!("{}: {}", text(&job, "state"), text(&job, "message"));
        // How it ended is told at the end.
        if text(&job, "state") != "finished" && said != self.said {
            self.leave();
            let message = self.printer.once(text(&job, "message"));
            let note = format!("{}: {message}", text(&job, "state"));
            self.printer.note(&note);
            self.said = said;
        }
        self.printer.flush();
        self.job = job;
    }

    fn hear_output(&mut self, told: &Value) {
        let Some(number) = self.is_unknown(told) else {
            return;
        };
        let output = text(told, "text");
        if text(told, "stream") == "server" {
            output
                .lines()
                // It begins by ending the line of a step.
                .filter(|line| !line.is_empty())
                .for_each(|line| self.server_says(number, line));
        } else {
            self.turn_to(number);
            self.printer.bytes(output.as_bytes());
        }
        if let Some(attempt) = self.attempts.get_mut(&number) {
            // Text whose bytes were replaced is longer than they were.
            let bytes = told["bytes"].as_u64().unwrap_or(output.len() as u64);
            attempt.offset = self::number(told, "offset") + bytes;
        }
        self.tell_ends(|offset, log_bytes| offset >= log_bytes);
    }

    fn hear_dropped(&mut self, told: &Value) {
        if let Some(attempt) = self.is_unknown(told) {
            self.turn_to(attempt);
            let bytes = number(told, "bytes");
            let text = format!("{bytes} bytes were left out here: the log's limit was reached");
            self.printer.note(&text);
        }
    }

    /// The attempt whose log a message is about, unless it was told over an earlier connection. Logs only grow.
    fn is_unknown(&mut self, told: &Value) -> Option<u64> {
        let number = number(told, "attempt");
        let attempt = self.attempts.entry(number).or_default();
        attempt.seen += 1;
        if attempt.seen <= attempt.told {
            return None;
        }
        attempt.told = attempt.seen;
        self.is_new = true;
        Some(number)
    }

    /// What follows is of this attempt.
    fn turn_to(&mut self, number: u64) {
        if self.current == Some(number) {
            return;
        }
        self.leave();
        self.current = Some(number);
        if let Some(attempt) = self.attempts.get(&number) {
            self.printer.begin_run(attempt.title.clone());
            if let Some(step) = &attempt.step {
                self.printer.resume_step(step);
            }
        }
    }

    /// What follows is of no attempt.
    fn leave(&mut self) {
        if self.current.take().is_some() {
            self.printer.close_step();
        }
    }

    /// A line of the server's own in a log: `== step`, or `-- text`, where the text may be how the step or the run
    /// ended.
    fn server_says(&mut self, number: u64, line: &str) {
        let attempt = self.attempts.entry(number).or_default();
        let end_of = |what: &str| {
            line.strip_prefix("-- ")?
                .strip_prefix(what)?
                .strip_prefix(": ")
        };
        if end_of(&attempt.run).is_some() {
            // The record says it better.
            return;
        }
        let step = line.strip_prefix("== ");
        let end = attempt.step.as_deref().and_then(end_of);
        if step.is_some() || end.is_some() {
            attempt.step = None;
            if self.current == Some(number) {
                self.printer.close_step();
            }
        }
        if let Some(step) = step {
            self.turn_to(number);
            self.printer.begin_step(step);
            self.attempts.entry(number).or_default().step = Some(step.to_owned());
        } else if end != Some("passed") {
            // That a step went well need not be said.
            self.turn_to(number);
            self.printer.line(line);
        }
    }

    /// Tells how attempts ended whose output was printed, as `is_whole` finds from where that ends and how long the log
    /// is.
    fn tell_ends(&mut self, is_whole: impl Fn(u64, u64) -> bool) {
        let mut ends = Vec::new();
        for (number, attempt) in &mut self.attempts {
            let is_due = matches!(attempt.end, End::Known { log_bytes, .. } if is_whole(attempt.offset, log_bytes));
            if is_due
                && let End::Known {
                    is_wrong, sentence, ..
                } = std::mem::replace(&mut attempt.end, End::Told)
            {
                ends.push((*number, attempt.title.clone(), is_wrong, sentence));
            }
        }
        for (number, title, is_wrong, sentence) in ends {
            if self.current == Some(number) {
                self.leave();
            }
            self.printer.end_run(&title, is_wrong, &sentence);
        }
    }
}

/// A member that is a number; 0 if it is not.
fn number(record: &Value, member: &str) -> u64 {
    record[member].as_u64().unwrap_or(0)
}

#[cfg(test)]
mod tests;
