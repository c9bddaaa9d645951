//! What is written, held to what both schemas allow that Jenkins' plugins came with, `junit-10.xsd` of the xUnit plugin and
//! `jenkins-junit.xsd`: which elements are where and in which order, which attributes they have, and which values those have.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::{case, fault, job};
use crate::junit::write;
use crate::result::{JobResult, Outcome, RunResult};

/// An element of the schema.
struct Element {
    name: &'static str,
    required: &'static [&'static str],
    optional: &'static [&'static str],
    /// What may be in it, in this order.
    children: &'static [&'static str],
    has_text: bool,
}

const fn texts(name: &'static str) -> Element {
    Element {
        name,
        required: &[],
        optional: &["type", "message"],
        children: &[],
        has_text: true,
    }
}

const fn output(name: &'static str) -> Element {
    Element {
        optional: &[],
        ..texts(name)
    }
}

const SCHEMA: [Element; 10] = [
    Element {
        name: "testsuites",
        required: &[],
        optional: &["name", "time", "tests", "failures", "errors"],
        children: &["testsuite"],
        has_text: false,
    },
    Element {
        name: "testsuite",
        required: &["name", "tests", "failures", "errors"],
        optional: &["time", "skipped", "timestamp", "hostname", "id", "package"],
        children: &["properties", "testcase", "system-out", "system-err"],
        has_text: false,
    },
    Element {
        name: "testcase",
        required: &["name"],
        optional: &["time", "classname"],
        children: &["skipped", "error", "failure", "system-out", "system-err"],
        has_text: false,
    },
    Element {
        name: "properties",
        required: &[],
        optional: &[],
        children: &["property"],
        has_text: false,
    },
    Element {
        name: "property",
        required: &["name", "value"],
        optional: &[],
        children: &[],
        has_text: false,
    },
    output("skipped"),
    texts("failure"),
    texts("error"),
    output("system-out"),
    output("system-err"),
];

fn element(name: &str) -> &'static Element {
    let found = SCHEMA.iter().find(|element| element.name == name);
    found.unwrap_or_else(|| panic!("the schema has no {name}"))
}

/// Checks the attributes of an element; returns its rule.
fn begin(start: &BytesStart<'_>) -> &'static Element {
    let name = String::from_utf8(start.name().as_ref().to_vec()).unwrap();
    let rule = element(&name);
    let mut seen = Vec::new();
    for attribute in start.attributes() {
        let attribute = attribute.unwrap();
        let key = String::from_utf8(attribute.key.as_ref().to_vec()).unwrap();
        let value = String::from_utf8(attribute.value.to_vec()).unwrap();
        let known = rule.required.iter().chain(rule.optional);
        assert!(
            known.clone().any(|known| *known == key),
            "{name} has no {key}"
        );
        match &*key {
            "tests" | "failures" | "errors" | "skipped" => {
                value.parse::<u64>().unwrap();
            }
            "time" => {
                let (whole, part) = value.split_once('.').unwrap();
                let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
                assert!(
                    is_digits(whole) && part.len() == 3 && is_digits(part),
                    "{value}"
                );
            }
            _ => {}
        }
        seen.push(key);
    }
    let missing = rule
        .required
        .iter()
        .find(|key| !seen.iter().any(|seen| seen == *key));
    assert_eq!(missing, None, "{name}");
    rule
}

/// Panics if the schema does not allow `xml`.
fn validate(xml: &[u8]) {
    let mut reader = Reader::from_reader(xml);
    // Each with how far its children are in their order.
    let mut open: Vec<(&Element, usize)> = Vec::new();
    let mut roots = 0;
    loop {
        let event = reader.read_event().unwrap();
        if let Event::Start(start) | Event::Empty(start) = &event {
            let rule = begin(start);
            match open.last_mut() {
                Some((parent, reached)) => {
                    let place = parent.children.iter().position(|name| *name == rule.name);
                    let Some(place) = place else {
                        panic!("{} is in {}", rule.name, parent.name)
                    };
                    assert!(
                        *reached <= place,
                        "{} is late in {}",
                        rule.name,
                        parent.name
                    );
                    *reached = place;
                }
                None => roots += 1,
            }
            if matches!(event, Event::Start(_)) {
                open.push((rule, 0));
            }
            continue;
        }
        match event {
            Event::End(_) => {
                open.pop();
            }
            Event::Text(text) => {
                let is_blank = text.iter().all(u8::is_ascii_whitespace);
                let may_be = open.last().is_some_and(|(parent, _)| parent.has_text);
                assert!(is_blank || may_be, "{text:?}");
            }
            Event::Eof => break,
            _ => {}
        }
    }
    assert!(open.is_empty() && roots == 1);
}

#[test]
fn everything_that_is_written_is_valid() {
    let mut linked = case("sensor answers", Outcome::Failed(fault("assert")));
    linked.output = "out & <more>".to_owned();
    linked.links = vec![("hostd.capture.boot".to_owned(), "/api/capture/1".to_owned())];
    linked.attachments = vec!["captures/boot.vcd".to_owned()];
    let mut passed = case("banner", Outcome::Passed);
    passed.links = linked.links.clone();
    let mut full = job(vec![
        linked,
        passed,
        case("silent", Outcome::Passed),
        case("lost", Outcome::BenchFailed(fault("infra.device_lost"))),
        case("later", Outcome::Skipped("not reached".to_owned())),
    ]);
    full.commit = Some("9a3f".to_owned());
    let run = &mut full.runs[0];
    run.cut_bytes = 7;
    run.network = Some("public".to_owned());
    run.whole = Some(case("test", Outcome::Passed));
    run.duration_us = 12_345_678_000_000;
    full.runs.push(RunResult::default());
    for job in [full, JobResult::default()] {
        let mut out = Vec::new();
        write(&job, &mut out).unwrap();
        validate(&out);
    }
}

#[test]
#[should_panic(expected = "properties is in testcase")]
fn properties_of_a_case_are_not() {
    validate(
        b"<testsuite name='' tests='1' failures='0' errors='0'><testcase name='a'><properties/></testcase></testsuite>",
    );
}

#[test]
#[should_panic(expected = "skipped has no message")]
fn a_message_of_what_was_skipped_is_not() {
    validate(
        b"<testsuite name='' tests='1' failures='0' errors='0'><testcase name='a'><skipped message='b'/></testcase></testsuite>",
    );
}

#[test]
#[should_panic(expected = "failure is late in testcase")]
fn a_failure_behind_the_output_is_not() {
    validate(
        b"<testsuite name='' tests='1' failures='1' errors='0'><testcase name='a'><system-out/><failure/></testcase></testsuite>",
    );
}

#[test]
#[should_panic(expected = "testsuites has no skipped")]
fn skipped_of_all_suites_is_not() {
    validate(b"<testsuites skipped='1'/>");
}
