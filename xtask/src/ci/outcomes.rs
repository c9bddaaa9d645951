//! What nextest wrote about each test: how long it took, and whether it left itself out.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use quick_xml::Reader;
use quick_xml::XmlVersion;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};

/// Where nextest writes JUnit below the root, wherever cargo has its target folder. `.config/nextest.toml` says its name.
const FILE: &str = "target/nextest/ci/junit.xml";

/// How a program of tests ends that has run none, since the one that it was asked for is left out.
const NONE_RAN: &str = "test result: ok. 0 passed; 0 failed";

/// Stands for a reason that a test does not say.
const NO_REASON: &str = "without a reason";

/// The tests that have run.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Outcomes {
    /// Wall time by program and name.
    pub(super) took: BTreeMap<String, Duration>,
    /// Reasons for which tests left themselves out, and the number of tests.
    pub(super) left_out: BTreeMap<String, usize>,
}

/// The file of the workspace.
pub(super) fn file(root: &Path) -> PathBuf {
    root.join(FILE)
}

impl Outcomes {
    /// Reads a file. Only nextest writes it.
    pub(super) fn read(file: &Path) -> Result<Self> {
        let at = || format!("failed to read {}", file.display());
        let file = File::open(file).with_context(at)?;
        Self::parse(BufReader::new(file)).with_context(at)
    }

    fn parse(junit: impl BufRead) -> Result<Self> {
        let mut reader = Reader::from_reader(junit);
        let mut outcomes = Self::default();
        let mut open = Open::default();
        let mut buffer = Vec::new();
        loop {
            match reader.read_event_into(&mut buffer)? {
                Event::Start(element) => open.begin(&element),
                Event::Empty(element) => {
                    open.begin(&element);
                    open.end(&mut outcomes);
                }
                Event::End(_) => open.end(&mut outcomes),
                Event::Text(text) => open.text(&text),
                Event::CData(text) => open.text(&text),
                Event::GeneralRef(reference) => open.text(resolved(&reference).as_bytes()),
                Event::Eof => return Ok(outcomes),
                _ => {}
            }
            buffer.clear();
        }
    }
}

/// The elements that are open.
#[derive(Default)]
struct Open {
    names: Vec<Vec<u8>>,
    test: Test,
    /// The text of the innermost element, if it is an output of the test.
    output: Vec<u8>,
}

/// The test that is open.
#[derive(Default)]
struct Test {
    name: String,
    took: Duration,
    has_failed: bool,
    ran_none: bool,
    left_out: Option<String>,
}

impl Open {
    fn begin(&mut self, element: &BytesStart<'_>) {
        let name = element.local_name().as_ref().to_vec();
        match &*name {
            b"testcase" => {
                let attribute = |name| attribute(element, name);
                let seconds = attribute("time").and_then(|text| text.parse().ok());
                self.test = Test {
                    name: format!(
                        "{} {}",
                        attribute("classname").unwrap_or_default(),
                        attribute("name").unwrap_or_default()
                    ),
                    took: seconds
                        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
                        .unwrap_or_default(),
                    ..Test::default()
                };
            }
            b"failure" | b"error" => self.test.has_failed = true,
            _ => {}
        }
        self.names.push(name);
        self.output.clear();
    }

    /// Whether the innermost element is this output of the test itself, not that of an earlier attempt.
    fn is_in(&self, output: &[u8]) -> bool {
        matches!(&self.names[..], [.., test, name] if test == b"testcase" && name == output)
    }

    fn text(&mut self, text: &[u8]) {
        if self.is_in(b"system-err") || self.is_in(b"system-out") {
            self.output.extend_from_slice(text);
        }
    }

    fn end(&mut self, outcomes: &mut Outcomes) {
        let text = String::from_utf8_lossy(&self.output);
        if self.is_in(b"system-err") {
            self.test.left_out = text.lines().find_map(reason).map(str::to_owned);
        } else if self.is_in(b"system-out") {
            self.test.ran_none = text.lines().any(|line| line.starts_with(NONE_RAN));
        }
        self.output.clear();
        if self.names.pop().is_some_and(|name| name == b"testcase") {
            std::mem::take(&mut self.test).add_to(outcomes);
        }
    }
}

impl Test {
    fn add_to(self, outcomes: &mut Outcomes) {
        outcomes.took.insert(self.name, self.took);
        let none_ran = self.ran_none.then(|| NO_REASON.to_owned());
        if let Some(reason) = self.left_out.or(none_ran).filter(|_| !self.has_failed) {
            *outcomes.left_out.entry(reason).or_default() += 1;
        }
    }
}

/// Why a test is left out, if a line of its standard error says that it is.
fn reason(line: &str) -> Option<&str> {
    for begin in ["left out: ", "left out, since ", "skipped: "] {
        if let Some(reason) = line.strip_prefix(begin) {
            return Some(reason);
        }
    }
    for end in [
        ", so this test is left out",
        ", so these tests are left out",
    ] {
        if let Some((reason, _)) = line.split_once(end) {
            return Some(reason);
        }
    }
    None
}

fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    let attribute = element.try_get_attribute(name).ok()??;
    let value = attribute.normalized_value(XmlVersion::Implicit1_0).ok()?;
    Some(value.into_owned())
}

/// What a reference stands for; nothing if it is unknown.
fn resolved(reference: &BytesRef<'_>) -> String {
    if let Ok(Some(sign)) = reference.resolve_char_ref() {
        return sign.to_string();
    }
    let name = reference.decode().unwrap_or_default();
    resolve_predefined_entity(&name)
        .unwrap_or_default()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As nextest writes it.
    const JUNIT: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="nextest-run" tests="5" time="2.914">
    <testsuite name="tiny" tests="5">
        <testcase name="a" classname="tiny" time="0.180">
            <failure message="m" type="t">left out: no</failure>
            <system-out>running 1 test</system-out>
            <system-err>left out: it failed afterwards
</system-err>
        </testcase>
        <testcase name="b" classname="tiny" time="0.709">
            <flakyFailure type="t"><system-err>left out: earlier</system-err></flakyFailure>
            <system-out>
test result: ok. 1 passed; 0 failed
</system-out>
            <system-err></system-err>
        </testcase>
        <testcase name="c" classname="tiny::jobs" time="2.005"><failure type="test timeout"/></testcase>
        <testcase name="d" classname="tiny" time="0.010">
            <system-err>a line
left out: &lt;x&gt; &amp; &#34;y&quot; is not installed
</system-err>
        </testcase>
        <testcase name="e" classname="tiny" time="0.012">
            <system-out>running 0 tests

test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 1 filtered out; finished in 0.01s
</system-out>
        </testcase>
    </testsuite>
</testsuites>
"#;

    #[test]
    fn times_and_reasons_are_found() {
        let outcomes = Outcomes::parse(JUNIT.as_bytes()).unwrap();
        let took: Vec<_> = outcomes
            .took
            .iter()
            .map(|(name, took)| (&**name, took.as_millis()))
            .collect();
        assert_eq!(
            took,
            [
                ("tiny a", 180),
                ("tiny b", 709),
                ("tiny d", 10),
                ("tiny e", 12),
                ("tiny::jobs c", 2005)
            ]
        );
        let left_out: Vec<_> = outcomes.left_out.into_iter().collect();
        let installed = r#"<x> & "y" is not installed"#.to_owned();
        assert_eq!(left_out, [(installed, 1), (NO_REASON.to_owned(), 1)]);
    }

    #[test]
    fn what_is_no_xml_is_an_error() {
        assert!(Outcomes::parse(&b"<a></b>"[..]).is_err());
        assert_eq!(Outcomes::parse(&b""[..]).unwrap(), Outcomes::default());
    }

    #[test]
    fn tests_say_that_they_are_left_out_in_these_ways() {
        for (line, why) in [
            (
                "sigrok-cli is not installed, so this test is left out",
                "sigrok-cli is not installed",
            ),
            (
                "this machine makes no jails, so these tests are left out: Err(X)",
                "this machine makes no jails",
            ),
            (
                "skipped: there is no a.kicad_pcb",
                "there is no a.kicad_pcb",
            ),
            (
                "left out, since no jail can be made here:",
                "no jail can be made here:",
            ),
        ] {
            assert_eq!(reason(line), Some(why));
        }
        assert_eq!(
            reason("not root, so the tests with names `root::` are left out"),
            None
        );
    }

    #[test]
    fn nextest_is_asked_to_write_the_file_with_all_output() {
        let nextest = include_str!("../../../.config/nextest.toml");
        let nextest: toml::Value = toml::from_str(nextest).unwrap();
        let junit = &nextest["profile"]["ci"]["junit"];
        let name = Path::new(FILE).file_name().and_then(|name| name.to_str());
        assert_eq!(junit["path"].as_str(), name);
        assert_eq!(junit["store-success-output"].as_bool(), Some(true));
    }
}
