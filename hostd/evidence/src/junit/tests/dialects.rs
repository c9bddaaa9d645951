//! What programs write that is not what most write: words of attributes, errors of suites, files that end in the middle,
//! encodings.

use super::super::{Bounds, ReadError, read, read_all};
use crate::result::{Case, Fault, Outcome};

fn cases(xml: &[u8]) -> Vec<Case> {
    read_all(xml, &Bounds::default()).unwrap()
}

/// Name and outcome of each case; a failure by its kind and message.
fn outcomes(xml: &str) -> Vec<(String, String)> {
    let word = |outcome: Outcome| match outcome {
        Outcome::Passed => "passed".to_owned(),
        Outcome::Skipped(why) => format!("skipped: {why}"),
        Outcome::Failed(Fault { kind, message, .. }) => format!("failed: {kind}: {message}"),
        Outcome::BenchFailed(_) => panic!("tests cannot tell what the bench did"),
    };
    let cases = cases(xml.as_bytes()).into_iter();
    cases.map(|case| (case.name, word(case.outcome))).collect()
}

fn assert_outcomes(xml: &str, expected: &[(&str, &str)]) {
    let found = outcomes(xml);
    let found: Vec<_> = found
        .iter()
        .map(|(n, o)| (n.as_str(), o.as_str()))
        .collect();
    assert_eq!(found, expected, "{xml}");
}

/// The cases that are given on before the error, and the error.
fn broken(xml: &[u8]) -> (Vec<Case>, ReadError) {
    let mut cases = Vec::new();
    let read = read(xml, &Bounds::default(), &mut Vec::new(), &mut |case| {
        cases.push(case);
        Ok(())
    });
    (cases, read.expect_err("it is refused"))
}

#[test]
fn what_attributes_say_was_not_run_is_skipped() {
    let xml = r#"<testsuites tests="6" failures="1" disabled="1" errors="0" name="AllTests">
        <testsuite name="Uart" tests="6" failures="1" disabled="1" skipped="1" errors="0">
        <testcase name="Echo" status="run" result="completed" classname="Uart"/>
        <testcase name="DISABLED_Break" status="notrun" result="suppressed" classname="Uart"/>
        <testcase name="Parity" status="run" result="skipped" classname="Uart"/>
        <testcase name="Baud" status="run" result="completed" classname="Uart"><failure message="no" type=""/></testcase>
        <testcase name="Old" status="NotRun" classname="Uart"/>
        <testcase name="Why" status="run" result="skipped" classname="Uart"><skipped message="no pod"/></testcase>
        </testsuite></testsuites>"#;
    let expected = [
        ("Uart::Echo", "passed"),
        ("Uart::DISABLED_Break", "skipped: suppressed"),
        ("Uart::Parity", "skipped: skipped"),
        ("Uart::Baud", "failed: : no"),
        ("Uart::Old", "skipped: notrun"),
        ("Uart::Why", "skipped: no pod"),
    ];
    assert_outcomes(xml, &expected);
}

#[test]
fn a_failure_counts_however_it_is_said() {
    let xml = r#"<testsuite name="s">
        <testcase name="a" status="fail"/>
        <testcase name="b" status="failed"><skipped/></testcase>
        <testcase name="c" status="notrun"><failure message="m" type="t"/></testcase>
        <testcase name="d" status="run"/><testcase name="e" status="passed" result="ok"/></testsuite>"#;
    let expected = [
        (
            "a",
            "failed: fail: its attribute says `fail`, and the file does not say why",
        ),
        (
            "b",
            "failed: failed: its attribute says `failed`, and the file does not say why",
        ),
        ("c", "failed: t: m"),
        ("d", "passed"),
        ("e", "passed"),
    ];
    assert_outcomes(xml, &expected);
}

#[test]
fn an_error_of_a_suite_is_a_failure() {
    let power = [("t", "failed: : could not power the board")];
    for xml in [
        r#"<testsuites><testsuite name="t" errors="1"><error message="could not power the board"/></testsuite></testsuites>"#,
        r#"<testsuite name="t"><failure message="could not power the board">why</failure></testsuite>"#,
        r#"<testsuites name="t"><error message="could not power the board"/><testsuite name="u"/></testsuites>"#,
    ] {
        assert_outcomes(xml, &power);
    }
    let detail = cases(b"<testsuite><error>line 1\n<![CDATA[line 2]]></error></testsuite>");
    assert_eq!(detail[0].name, "testsuite");
    assert!(matches!(&detail[0].outcome, Outcome::Failed(f) if f.detail == "line 1\nline 2"));
    // With cases around it, which are what they were.
    let around = r#"<testsuite name="t"><testcase name="a"/><error message="x"/><testcase name="b"/></testsuite>"#;
    assert_outcomes(
        around,
        &[("a", "passed"), ("t", "failed: : x"), ("b", "passed")],
    );
}

#[test]
fn failures_that_are_only_counted_are_one() {
    let one = "failed: count: the file counts 1 failures and errors here, but no case has one";
    let counted = r#"<testsuites errors="1"><testsuite name="t" errors="1" failures="0">
        <testcase name="a"/><system-err>the probe is gone</system-err></testsuite></testsuites>"#;
    assert_outcomes(counted, &[("a", "passed"), ("t", one)]);
    let shown = r#"<testsuites failures="1"><testsuite name="t" failures="1"><testsuite name="u">
        <testcase name="a"><failure message="m"/></testcase></testsuite></testsuite></testsuites>"#;
    assert_outcomes(shown, &[("a", "failed: : m")]);
    let none =
        r#"<testsuites failures="0" errors=""><testsuite name="t" failures="none"/></testsuites>"#;
    assert_outcomes(none, &[]);
}

#[test]
fn a_file_that_ends_in_the_middle_is_refused() {
    let whole = r#"<testsuite name="s"><testcase name="a"/><testcase name="b"><failure message="x">why &amp; how<![CDATA[y]]></failure></testcase></testsuite>"#;
    cases(whole.as_bytes());
    // The element `s` ends with the last byte.
    for end in 1..whole.len() {
        let (_, error) = broken(&whole.as_bytes()[..end]);
        assert!(
            matches!(error, ReadError::Cut { .. } | ReadError::Xml { .. }),
            "{end}: {error:?}"
        );
    }
    let (cases, error) = broken(&whole.as_bytes()[..whole.find("why").unwrap() + 3]);
    assert_eq!(
        error.to_string(),
        "read the JUnit file: it ends in the middle, within the case `b`; what writes it did not finish, so cases \
         may be missing"
    );
    let [_, b] = &cases[..] else {
        panic!("{cases:?}");
    };
    let Outcome::Failed(fault) = &b.outcome else {
        panic!("{b:?}");
    };
    assert_eq!((&*fault.message, &*fault.detail), ("x", "why"));
    // Whether the case would have failed is not known.
    let (cases, error) = broken(b"<testsuite name='s'><testcase name='a'><system-out>x");
    assert!(error.to_string().contains("within the case `a`"));
    assert!(matches!(&cases[0].outcome, Outcome::Failed(f) if f.kind == "cut"));
    let (cases, error) = broken(b"<testsuite name='s'><testcase name='a'/>");
    assert!(error.to_string().contains("within the suite `s`"));
    assert_eq!(cases.len(), 1);
}

const NAME: &str = "24 °C größer";

fn suite(declaration: &str) -> String {
    let case = format!(
        "<testcase name=\"{NAME}\"><failure message=\"{NAME}\">{NAME}</failure></testcase>"
    );
    format!("{declaration}<testsuite name=\"s\">{case}</testsuite>")
}

fn assert_read(bytes: &[u8], about: &str) {
    let cases = cases(bytes);
    let Outcome::Failed(fault) = &cases[0].outcome else {
        panic!("{about}: {cases:?}");
    };
    assert_eq!(
        [&*cases[0].name, &*fault.message, &*fault.detail],
        [NAME; 3],
        "{about}"
    );
}

fn utf16(text: &str, of: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(of).collect()
}

#[test]
fn declared_encodings_are_decoded() {
    for encoding in ["ISO-8859-1", "iso-8859-15", "windows-1252", "Latin1"] {
        let text = suite(&format!("<?xml version=\"1.0\" encoding=\"{encoding}\"?>"));
        // All characters of it are one byte of the same number.
        let bytes: Vec<u8> = text
            .chars()
            .map(|c| u8::try_from(u32::from(c)).unwrap())
            .collect();
        assert_read(&bytes, encoding);
    }
    // 0x80 stands for three bytes of UTF-8.
    let euro =
        b"<?xml version='1.0' encoding='cp1252'?><testsuite><testcase name='\x80'/></testsuite>";
    assert_eq!(cases(euro)[0].name, "€");
    for declaration in [
        "",
        "<?xml version=\"1.0\"?>",
        "<?xml version='1.0' encoding='utf-8' standalone='yes'?>",
        "\u{feff}<?xml version='1.0' encoding='UTF-8'?>",
        // What .NET writes into a file in UTF-8 when it thinks of a string.
        "<?xml version=\"1.0\" encoding=\"utf-16\"?>",
        // A file that was converted, and its declaration was not.
        "\u{feff}<?xml version='1.0' encoding='ISO-8859-1'?>",
    ] {
        assert_read(suite(declaration).as_bytes(), declaration);
    }
}

#[test]
fn utf16_is_known_by_its_first_bytes() {
    for declaration in [
        "<?xml version=\"1.0\" encoding=\"utf-16\"?>\n",
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
        "",
    ] {
        let text = suite(declaration);
        let marked = format!("\u{feff}{text}");
        for text in [&text, &marked] {
            assert_read(&utf16(text, u16::to_le_bytes), declaration);
            assert_read(&utf16(text, u16::to_be_bytes), declaration);
        }
    }
}

#[test]
fn an_unknown_encoding_is_named() {
    let refused = |bytes: &[u8]| broken(bytes).1.to_string();
    let unknown = refused(suite("<?xml version='1.0' encoding='cp437'?>").as_bytes());
    assert_eq!(
        unknown,
        "read the JUnit file: the encoding `cp437` is not known here; write the file in UTF-8"
    );
    let long = suite(&format!(
        "<?xml version='1.0' encoding='{}'?>",
        "x".repeat(200)
    ));
    assert!(refused(long.as_bytes()).contains(&format!("`{}`", "x".repeat(40))));
    let wide: Vec<u8> = suite("")
        .chars()
        .flat_map(|c| u32::from(c).to_le_bytes())
        .collect();
    assert!(refused(&wide).contains("`UTF-32`"));
}

#[test]
fn a_text_that_grows_in_utf8_is_bounded() {
    let bounds = Bounds {
        bytes_max: 2000,
        ..Bounds::default()
    };
    let padded = |count: usize| {
        let head =
            b"<?xml version='1.0' encoding='cp1252'?><testsuite><testcase name='a'><system-out>";
        [
            head,
            &b"\x80".repeat(count)[..],
            b"</system-out></testcase></testsuite>",
        ]
        .concat()
    };
    assert!(read_all(&padded(500), &bounds).is_ok());
    let large = read_all(&padded(1500), &bounds);
    assert!(matches!(large, Err(ReadError::Large(2000))), "{large:?}");
}
