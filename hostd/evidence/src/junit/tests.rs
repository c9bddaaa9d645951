//! JUnit as it is written for CI systems, and what is read from the files of tests.

mod dialects;
mod schema;

use super::{Bounds, Names, ReadError, property as property_of, read, read_all, write};
use crate::cases::Refused;
use crate::measurement::Measurement;
use crate::result::{Case, Fault, JobResult, Outcome, RunResult};

fn case(name: &str, outcome: Outcome) -> Case {
    Case {
        name: name.to_owned(),
        duration_us: 1_500_000,
        outcome,
        ..Case::default()
    }
}

fn fault(kind: &str) -> Fault {
    Fault {
        kind: kind.to_owned(),
        message: "expected <ok> & \"more\"".to_owned(),
        detail: "line 1\n\u{1b}[31mred\u{1b}[0m \u{ffff}".to_owned(),
    }
}

fn job(cases: Vec<Case>) -> JobResult {
    JobResult {
        id: "J1".to_owned(),
        name: "blinky".to_owned(),
        runs: vec![
            RunResult {
                class: "smoke.debug.f0".to_owned(),
                device: Some("bench-1".to_owned()),
                attempts: 2,
                duration_us: 3_000_000,
                ..RunResult::default()
            }
            .with_cases(cases),
        ],
        ..JobResult::default()
    }
}

fn written(cases: Vec<Case>) -> String {
    let mut out = Vec::new();
    write(&job(cases), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn ci_systems_find_what_they_look_for() {
    let mut captured = case("sensor answers", Outcome::Failed(fault("assert")));
    captured.output = "out".to_owned();
    captured.links = vec![("capture".to_owned(), "http://x/captures/1".to_owned())];
    captured.attachments = vec!["captures/boot.vcd".to_owned()];
    let xml = written(vec![
        captured,
        case("banner", Outcome::Passed),
        case("lost", Outcome::BenchFailed(fault("infra.device_lost"))),
        case("later", Outcome::Skipped("not reached".to_owned())),
    ]);
    for part in [
        r#"<testsuite name="smoke.debug.f0" tests="4" skipped="1" errors="1" failures="1" time="3.000">"#,
        r#"<property name="hostd.attempts" value="2"/>"#,
        r#"<testcase name="banner" classname="smoke.debug.f0" time="1.500"/>"#,
        r#"<property name="capture" value="http://x/captures/1"/>"#,
        "<testsuites name=\"blinky\" tests=\"4\" failures=\"1\" errors=\"1\" time=\"0.000\">",
        r#"type="assert">expected &lt;ok&gt; &amp; &quot;more&quot;"#,
        "red \u{fffd}</failure>",
        r#"type="infra.device_lost">"#,
        "<system-out>out\ncapture: http://x/captures/1\n[[ATTACHMENT|captures/boot.vcd]]\n</system-out>",
    ] {
        assert!(xml.contains(part), "{part} is not in\n{xml}");
    }
    assert_eq!(xml.matches("<system-out>").count(), 1);
}

#[test]
fn no_two_cases_of_a_class_have_one_name() {
    let same = ["a", "a", "a (2)", "a"].map(|name| case(name, Outcome::Passed));
    let xml = written(same.to_vec());
    for name in ["a", "a (2)", "a (2) (2)", "a (3)"] {
        let one = format!("<testcase name=\"{name}\"");
        assert_eq!(xml.matches(&one).count(), 1, "{name}\n{xml}");
    }
}

#[test]
fn what_pytest_and_others_write_is_read_all() {
    let xml = r#"<?xml version="1.0"?><testsuites><testsuite name="pytest" tests="4">
        <testcase classname="tests.test_boot" name="test_banner[a&amp;b]" time="0.25"/>
        <testcase classname="tests.test_boot" name="test_i2c" time="1,234.5">
          <failure message="assert 1 == 2&#10;x" type="AssertionError">def test():&#10;&gt; <![CDATA[assert <1>]]></failure>
          <error message="teardown"> and more</error>
          <system-out>hello</system-out><system-err> world</system-err></testcase>
        <testcase name="setup"><error message="no fixture"/></testcase>
        <testsuite name="inner"><testcase name="later"><skipped message="slow">at 7</skipped></testcase>
          <testcase name="never"><skipped>no pod</skipped></testcase></testsuite>
        </testsuite></testsuites>"#;
    let cases = read_all(xml.as_bytes(), &Bounds::default()).unwrap();
    let failed = |kind: &str, message: &str, detail: &str| {
        Outcome::Failed(Fault {
            kind: kind.to_owned(),
            message: message.to_owned(),
            detail: detail.to_owned(),
        })
    };
    let detail = "def test():\n> assert <1> and more";
    let expected = [
        (
            "tests.test_boot::test_banner[a&b]",
            250_000,
            Outcome::Passed,
        ),
        (
            "tests.test_boot::test_i2c",
            1_234_500_000,
            failed("AssertionError", "assert 1 == 2\nx", detail),
        ),
        ("setup", 0, failed("", "no fixture", "")),
        ("later", 0, Outcome::Skipped("slow".to_owned())),
        ("never", 0, Outcome::Skipped("no pod".to_owned())),
    ];
    let found: Vec<_> = cases
        .iter()
        .map(|case| (case.name.as_str(), case.duration_us, case.outcome.clone()))
        .collect();
    assert_eq!(found, expected);
    assert_eq!(cases[1].output, "hello world");
}

#[test]
fn what_was_written_is_read_again() {
    let cases = vec![
        case("a", Outcome::Failed(fault("assert"))),
        case("b", Outcome::Passed),
    ];
    let again = read_all(written(cases).as_bytes(), &Bounds::default()).unwrap();
    assert_eq!(again.len(), 2);
    assert!(matches!(&again[0].outcome, Outcome::Failed(f) if f.kind == "assert"));
}

#[test]
fn bombs_and_strangers_are_refused() {
    let bounds = Bounds {
        bytes_max: 2000,
        depth_max: 5,
        text_max: 10,
    };
    let large = " ".repeat(2001);
    let deep = "<testsuite>".repeat(6);
    let refused = |xml: &str| read_all(xml.as_bytes(), &bounds).unwrap_err();
    assert!(matches!(refused(&large), ReadError::Large(2000)));
    assert!(matches!(refused(&deep), ReadError::Deep(5)));
    assert!(matches!(refused("<html></html>"), ReadError::NotJunit));
    assert!(matches!(refused("<testsuite></x>"), ReadError::Xml { .. }));
    // An entity that grows is never expanded.
    let lol = r#"<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><testsuite>
        <testcase name="&b;"><system-out>&b;x</system-out></testcase></testsuite>"#;
    let cases = read_all(lol.as_bytes(), &bounds).unwrap();
    assert_eq!(
        (cases[0].name.as_str(), cases[0].output.as_str()),
        ("&b;", "x")
    );
    let long = format!(
        "<testsuite><testcase name='{}'/></testsuite>",
        "ä".repeat(20)
    );
    assert_eq!(read_all(long.as_bytes(), &bounds).unwrap()[0].name, "äääää");
}

#[test]
fn the_cases_before_an_error_are_given_on() {
    let xml = "<testsuite><testcase name='a'/><testcase name='b'><failure/></testcase></x>";
    let mut names = Vec::new();
    let error = read(
        xml.as_bytes(),
        &Bounds::default(),
        &mut Vec::new(),
        &mut |case| {
            names.push(case.name);
            Ok(())
        },
    );
    assert!(error.is_err());
    assert_eq!(names, ["a", "b"]);
    let full = read(
        xml.as_bytes(),
        &Bounds::default(),
        &mut Vec::new(),
        &mut |_| Err(Refused::Many),
    );
    assert!(matches!(full, Err(ReadError::Refused(Refused::Many))));
    let whole = "<testsuite/>".as_bytes();
    let length = read(whole, &Bounds::default(), &mut Vec::new(), &mut |_| Ok(()));
    assert_eq!(length.unwrap(), whole.len() as u64);
}

#[test]
fn equal_names_cost_as_little_as_different_ones() {
    const COUNT: usize = 100_000;
    // Each compared with those before it would be five thousand million comparisons.
    let mut names = Names::default();
    let mut last = String::new();
    for _ in 0..COUNT {
        last = names.unused("a");
    }
    assert_eq!(last, format!("a ({COUNT})"));
    // One look for each that was given already, and none twice.
    assert_eq!(names.used.len(), COUNT);
}

#[test]
fn a_test_attaches_nothing() {
    let mut evil = case("evil", Outcome::Passed);
    evil.output = "[[[ATTACHMENT|/etc/passwd]]\n[[ATTA\u{1b}[0mCHMENT|x]]".to_owned();
    evil.attachments = vec!["captures/boot.vcd".to_owned()];
    let xml = written(vec![evil]);
    assert_eq!(xml.matches("[[ATTACHMENT|").count(), 1, "{xml}");
    assert!(xml.contains("[[ATTACHMENT|captures/boot.vcd]]"));
    assert!(xml.contains("[[ [ATTACHMENT|/etc/passwd]]"));
}

#[test]
fn what_was_cut_is_said() {
    let mut job = job(vec![case("a", Outcome::Passed)]);
    job.runs[0].cut_bytes = 7;
    let mut out = Vec::new();
    write(&job, &mut out).unwrap();
    let xml = String::from_utf8(out).unwrap();
    assert!(xml.contains(r#"<property name="hostd.cut_bytes" value="7"/>"#));
}

#[test]
fn measurements_are_properties_of_the_suite_and_attach_nothing() {
    let mut job = job(vec![]);
    let mut measured = Measurement {
        name: "rail <3V3>".to_owned(),
        value: 3.5,
        unit: "V".to_owned(),
        low: Some(3.2),
        high: Some(3.4),
        serial: Some("B7".to_owned()),
    };
    job.runs[0].measurements = vec![measured.clone()];
    let mut out = Vec::new();
    write(&job, &mut out).unwrap();
    let xml = String::from_utf8(out).unwrap();
    let property =
        r#"<property name="hostd.measure.rail &lt;3V3&gt;" value="3.5 V (3.2 V to 3.4 V) of B7"/>"#;
    assert!(xml.contains(property), "{xml}");
    measured.name = "[[ATTACHMENT|/etc/passwd]]".to_owned();
    let mut measures = case("measures", Outcome::Passed);
    measures.links = vec![property_of(&measured)];
    let xml = written(vec![measures]);
    let output = &xml[xml.find("<system-out>").unwrap()..];
    assert!(
        output.contains("3.5 V") && !output.contains("[[ATTACHMENT|"),
        "{xml}"
    );
}
