//! JUnit, as CI systems actually read it.
//!
//! What is written is valid by both schemas that Jenkins' plugins came with, `junit-10.xsd` of the xUnit plugin and
//! `jenkins-junit.xsd`, the older one of dtkit: no `skipped` of all suites, no `properties` of a case, no attributes of
//! `skipped`. GitLab shows `classname` as the suite, drops a case with a name that it has already seen there, and reads
//! the content of `<failure>`, not its attributes. Jenkins and GitLab both take attachments from
//! `[[ATTACHMENT|path]]` in `<system-out>`, GitLab only from the first one. So the class is
//! `bench.variant.pack`, names are made unique, and each case has one `<system-out>`, in which nothing that a test wrote
//! is an attachment; links are lines of it, and properties of the suite. A fault of the bench is an `<error>`, a fault of
//! the firmware a `<failure>`.

mod encoding;
mod read;
mod seconds;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::io;
use std::time::Duration;

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};

pub use read::{Bounds, ReadError, read, read_all};

use crate::making::{Bits, Document, Making, Part, write_all};
use crate::measurement::Measurement;
use crate::plain;
use crate::result::{Case, Fault, JobResult, Outcome, RunResult};

/// How an attachment begins in the output of a case, for those who read it.
const ATTACHMENT: &str = "[[ATTACHMENT|";

/// What stands for that in the output of a test, which may attach nothing.
const NO_ATTACHMENT: &str = "[ [ATTACHMENT|";

/// Writes the cases of a job.
///
/// # Errors
/// A case cannot be read, or `out` cannot be written to.
pub fn write(job: &JobResult, out: impl io::Write) -> io::Result<()> {
    write_all(bits(job.clone()), out)
}

/// The cases of a job, bit by bit.
#[must_use]
pub fn bits(job: JobResult) -> impl Bits {
    let junit = Junit {
        xml: Writer::new_with_indent(Vec::new(), b' ', 4),
        names: Names::default(),
    };
    Making::new(job, junit)
}

struct Junit {
    xml: Writer<Vec<u8>>,
    /// Of the suite that is being written.
    names: Names,
}

impl Document for Junit {
    fn write(&mut self, job: &JobResult, part: Part<'_>, out: &mut Vec<u8>) -> io::Result<()> {
        match part {
            Part::Begin => self.begin(job)?,
            Part::Run(run) => self.suite(job, run)?,
            Part::Case(run, case) => self.case(run, case)?,
            Part::RunEnd(_) => self.end("testsuite")?,
            Part::Failure(..) | Part::FailuresEnd => {}
            Part::End => {
                self.end("testsuites")?;
                self.xml.write_indent()?;
            }
        }
        out.append(self.xml.get_mut());
        Ok(())
    }
}

impl Junit {
    fn begin(&mut self, job: &JobResult) -> io::Result<()> {
        self.event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
        let counts = job.counts();
        let [tests, failures, errors] =
            [counts.all(), counts.failed, counts.errors()].map(|count| count.to_string());
        let time = seconds(job.duration_us);
        self.start(
            "testsuites",
            &[
                ("name", &job.name),
                ("tests", &tests),
                ("failures", &failures),
                ("errors", &errors),
                ("time", &time),
            ],
        )
    }

    fn suite(&mut self, job: &JobResult, run: &RunResult) -> io::Result<()> {
        self.names = Names::default();
        let counts = run.told_counts();
        let [tests, skipped, errors, failures] =
            [counts.all(), counts.skipped, counts.errors(), counts.failed]
                .map(|count| count.to_string());
        let time = seconds(run.duration_us);
        self.start(
            "testsuite",
            &[
                ("name", &run.class),
                ("tests", &tests),
                ("skipped", &skipped),
                ("errors", &errors),
                ("failures", &failures),
                ("time", &time),
            ],
        )?;
        let attempts = (run.attempts > 1).then(|| run.attempts.to_string());
        let cut = (run.cut_bytes > 0).then(|| run.cut_bytes.to_string());
        let properties = [
            ("hostd.job", Some(&job.id)),
            ("hostd.device", run.device.as_ref()),
            ("hostd.network", run.network.as_ref()),
            ("hostd.attempts", attempts.as_ref()),
            ("hostd.commit", job.commit.as_ref()),
            ("hostd.cut_bytes", cut.as_ref()),
        ];
        let known = properties
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?.as_str())));
        let links = run.links.iter();
        let links = links.map(|(name, address)| (name.as_str(), address.as_str()));
        let measured: Vec<(String, String)> = run.measurements.iter().map(property).collect();
        let measured = measured.iter();
        let measured = measured.map(|(name, value)| (name.as_str(), value.as_str()));
        self.properties(known.chain(links).chain(measured))
    }

    fn case(&mut self, run: &RunResult, case: &Case) -> io::Result<()> {
        let name = self.names.unused(&clean(&case.name));
        let time = seconds(case.duration_us);
        let attributes: [(&str, &str); 3] =
            [("name", &name), ("classname", &run.class), ("time", &time)];
        let output = output(case);
        if output.is_empty() && case.outcome == Outcome::Passed {
            return self.event(Event::Empty(element("testcase", &attributes)));
        }
        self.start("testcase", &attributes)?;
        self.outcome(&case.outcome)?;
        if !output.is_empty() {
            self.text("system-out", &[], &output)?;
        }
        self.end("testcase")
    }

    fn outcome(&mut self, outcome: &Outcome) -> io::Result<()> {
        let (name, fault) = match outcome {
            Outcome::Passed => return Ok(()),
            Outcome::Skipped(why) => {
                // As text: one of the two schemas has no attributes here.
                return self.text("skipped", &[], &clean(why));
            }
            Outcome::Failed(fault) => ("failure", fault),
            Outcome::BenchFailed(fault) => ("error", fault),
        };
        let Fault {
            kind,
            message,
            detail,
        } = fault;
        // Some readers show only the content, so it contains the message too.
        let inside = clean(format!("{message}\n{detail}").trim_end()).into_owned();
        self.text(name, &[("message", message), ("type", kind)], &inside)
    }

    fn properties<'p>(
        &mut self,
        properties: impl Iterator<Item = (&'p str, &'p str)>,
    ) -> io::Result<()> {
        self.start("properties", &[])?;
        for (name, value) in properties {
            let property = element("property", &[("name", name), ("value", value)]);
            self.event(Event::Empty(property))?;
        }
        self.end("properties")
    }

    fn text(&mut self, name: &str, attributes: &[(&str, &str)], clean: &str) -> io::Result<()> {
        self.start(name, attributes)?;
        self.event(Event::Text(BytesText::new(clean)))?;
        self.end(name)
    }

    fn start(&mut self, name: &str, attributes: &[(&str, &str)]) -> io::Result<()> {
        self.event(Event::Start(element(name, attributes)))
    }

    fn end(&mut self, name: &str) -> io::Result<()> {
        self.event(Event::End(BytesEnd::new(name)))
    }

    fn event(&mut self, event: Event<'_>) -> io::Result<()> {
        self.xml.write_event(event)
    }
}

/// A measurement as a property, or as a line of what a case wrote.
#[must_use]
pub fn property(measured: &Measurement) -> (String, String) {
    let name = format!("hostd.measure.{}", measured.name);
    let mut value = measured.told();
    if let Some(serial) = &measured.serial {
        value = format!("{value} of {serial}");
    }
    (name, value)
}

fn element<'e>(name: &'e str, attributes: &[(&str, &str)]) -> BytesStart<'e> {
    let mut element = BytesStart::new(name);
    for (name, value) in attributes {
        element.push_attribute((*name, &*clean(value)));
    }
    element
}

/// What a case wrote, and behind it its links and attachments: those of the server alone.
fn output(case: &Case) -> String {
    let mut output = clean(&case.output).replace(ATTACHMENT, NO_ATTACHMENT);
    let links = case.links.iter();
    // What was measured is named by tests, too.
    let links = links.map(|(name, address)| {
        format!("{}: {}", clean(name), clean(address)).replace(ATTACHMENT, NO_ATTACHMENT)
    });
    let attachments = case.attachments.iter();
    let attachments = attachments.map(|path| format!("{ATTACHMENT}{}]]", clean(path)));
    for line in links.chain(attachments) {
        if !output.is_empty() && !output.ends_with('\n') {
            output.push('\n');
        }
        output.push_str(&line);
        output.push('\n');
    }
    output
}

fn seconds(us: u64) -> String {
    format!("{:.3}", Duration::from_micros(us).as_secs_f64())
}

/// Without what only a terminal understands, and without the characters that no XML may contain.
fn clean(text: &str) -> Cow<'_, str> {
    let is_fine = |c: char| !(c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}'));
    if text.chars().all(is_fine) {
        return Cow::Borrowed(text);
    }
    // In place of what is left out, since what is around it must not come to stand together.
    let kept = plain::text(text);
    let kept = kept.chars().map(|c| match c {
        '\u{80}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        c => c,
    });
    Cow::Owned(kept.collect())
}

/// Names that a suite has, each by a number that stands for it: a name costs the same however long it is.
#[derive(Default)]
struct Names {
    numbers: RandomState,
    /// With each, the number to try next behind it.
    used: HashMap<u64, u32>,
}

impl Names {
    /// `name`, or if it was used before, `name` with a number after it. However many are the same, each costs as much as
    /// the first.
    fn unused(&mut self, name: &str) -> String {
        let of = self.numbers.hash_one(name);
        let mut next = match self.used.get(&of) {
            None => {
                self.used.insert(of, 2);
                return name.to_owned();
            }
            Some(next) => *next,
        };
        loop {
            let numbered = format!("{name} ({next})");
            next += 1;
            let its = self.numbers.hash_one(&*numbered);
            if !self.used.contains_key(&its) {
                self.used.insert(its, 2);
                self.used.insert(of, next);
                return numbered;
            }
        }
    }
}
