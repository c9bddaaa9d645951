//! Numbers with limits: of captures, and of programs.

use std::fs;

use jobs::{Cancel, Subject, write_reports};

use super::{bench, job, pipeline_of, words};
use crate::Case;
use crate::fake::Fake;
use crate::home::Home;

pub(crate) const CASES: &[Case] = &[
    ("what_a_capture_measures_is_recorded", recorded),
    ("a_value_outside_its_limits_fails_the_step", outside),
    ("what_cannot_be_measured_fails_the_step", nothing),
    ("programs_leave_measurements_in_a_file", programs),
    ("a_wrong_line_fails_the_step_by_its_number", wrong_line),
    ("links_for_measurements_are_not_followed", links),
    ("measurements_have_no_secrets", secrets),
];

const CAPTURE: &str = "      - capture: { kind: la, channels: { clk: 1 }, rate: 1MHz, samples: 10 }
        id: boot
";

fn measuring(limits: &str) -> String {
    format!(
        "{CAPTURE}      - measure: {{ on: boot, name: the clock, quantity: frequency_hz{limits} }}
        case: clock"
    )
}

fn counting(value: f64) -> Fake {
    Fake {
        measures: Some(value),
        ..Fake::default()
    }
}

fn recorded() {
    let home = Home::new();
    let fake = counting(1e6);
    let steps = measuring(", low: 990000, high: 1010000");
    let (job, _) = job(&home, &fake, &pipeline_of("", &steps), &Cancel::default());
    let run = &job.runs[1];
    assert!(run.outcome.has_passed(), "{run:?}");
    assert_eq!(
        fake.calls(),
        ["capture 10", "measure 01CAPTURE frequency_hz 10"]
    );
    let all: Vec<_> = run.measurements().collect();
    assert_eq!((all.len(), all[0].0), (1, "clock"));
    let told = "1000000 Hz (990000 Hz to 1010000 Hz)";
    assert_eq!(
        (&*all[0].1.name, all[0].1.told()),
        ("the clock", told.to_owned())
    );
    assert_eq!(run.steps[1].captures[0].id, "01CAPTURE");
    assert!(home.log(&run.id).contains(&format!("the clock: {told}")));
    let files = write_reports(&job, &Subject::default(), &[], &home.out()).unwrap();
    let junit = fs::read_to_string(files.junit).unwrap();
    let property = format!("<property name=\"hostd.measure.the clock\" value=\"{told}\"/>");
    assert!(junit.contains(&property), "{junit}");
    assert!(junit.contains(&format!("hostd.measure.the clock: {told}\n")));
    let page = fs::read_to_string(files.report).unwrap();
    assert!(page.contains("<td>the clock</td>"), "{page}");
}

fn outside() {
    let steps = measuring(", low: 990000, high: 1010000") + "\n      - wait: 1ms";
    let run = bench(&counting(1_020_000.0), &steps);
    assert_eq!(words(&run.steps), ["passed", "failed", "skipped"]);
    assert_eq!(run.outcome.kind(), Some("limits"));
    assert_eq!(
        run.sentence(),
        "the test clock failed: the value of the clock is 1020000 Hz, not 990000 Hz to 1010000 Hz"
    );
    // It is recorded all the same.
    assert_eq!(run.measurements().count(), 1);
    assert!(bench(&counting(7.0), &measuring("")).outcome.has_passed());
}

fn nothing() {
    let run = bench(&Fake::default(), &measuring(", low: 1"));
    assert_eq!(run.outcome.kind(), Some("assert"));
    assert_eq!(
        run.outcome.to_string(),
        "wanted frequency_hz of boot, but what was recorded has none"
    );
}

fn programs() {
    let steps = format!(
        r#"      - run: |
          echo '{{"serial": "B7"}}' >> "$HOSTD_OUT/measurements.jsonl"
          echo '{{"name": "rail", "value": 3.31, "unit": "V", "low": 3.2, "high": 3.4}}' >> "$HOSTD_OUT/measurements.jsonl"
      - run: test ! -e "$HOSTD_OUT/measurements.jsonl"
{CAPTURE}      - measure: {{ on: boot, name: clock, quantity: frequency_hz }}
      - run: |
          echo '{{"name": "rail", "value": 3.5, "high": 3.4}}' > "$HOSTD_OUT/measurements.jsonl"
          echo '{{"name": "drop", "value": 9, "high": 3.4}}' >> "$HOSTD_OUT/measurements.jsonl"
        case: measures"#
    );
    let run = bench(&counting(5.0), &steps);
    assert_eq!(
        run.sentence(),
        "the test measures failed: the value of rail is 3.5, not at most 3.4; and another value is outside its limits"
    );
    let told: Vec<(&str, Option<&str>)> = run
        .measurements()
        .map(|(_, measured)| (&*measured.name, measured.serial.as_deref()))
        .collect();
    let board = Some("B7");
    assert_eq!(
        told,
        [
            ("rail", board),
            ("clock", board),
            ("rail", board),
            ("drop", board)
        ]
    );
}

fn wrong_line() {
    let steps = |script: &str| format!("      - run: |\n          {script}");
    let write = |text: &str| {
        steps(&format!(
            "printf '%s' '{text}' > \"$HOSTD_OUT/measurements.jsonl\""
        ))
    };
    let run = bench(&Fake::default(), &write(r#"{"name":"a","value":NaN}"#));
    assert_eq!(run.outcome.kind(), Some("bad_measurements"));
    assert!(
        run.outcome
            .to_string()
            .contains("taken: measurements.jsonl:1: expected value"),
        "{}",
        run.outcome
    );
    // What failed otherwise says so.
    let failing = write(r#"{"name":"a""#) + "; exit 3";
    assert_eq!(
        bench(&Fake::default(), &failing).outcome.kind(),
        Some("exit_code")
    );
    let many = steps(
        r#"for i in $(seq 1001); do echo '{"name":"a","value":1}'; done > "$HOSTD_OUT/measurements.jsonl""#,
    );
    let run = bench(&Fake::default(), &many);
    assert!(
        run.outcome
            .to_string()
            .contains("jsonl:1001: a run records at most 1000"),
        "{}",
        run.outcome
    );
    assert_eq!(run.measurements().count(), 1000);
    let large = steps(r#"head -c 1100000 /dev/zero > "$HOSTD_OUT/measurements.jsonl""#);
    let run = bench(&Fake::default(), &large);
    assert!(run.outcome.to_string().contains("more than 1048576 bytes"));
    // It is taken away all the same.
    let next = format!(
        "{large}\n    always:\n      - run: test ! -e \"$HOSTD_OUT/measurements.jsonl\" && echo gone"
    );
    let run = bench(&Fake::default(), &next);
    assert_eq!(words(&run.steps), ["failed", "passed"]);
}

fn links() {
    for script in [
        r#"ln -s /etc/hostname "$HOSTD_OUT/measurements.jsonl""#,
        r#"rm -r "$HOSTD_OUT"; ln -s /etc "$HOSTD_OUT""#,
        r#"mkdir "$HOSTD_OUT/measurements.jsonl""#,
        r#"mkfifo "$HOSTD_OUT/measurements.jsonl""#,
    ] {
        let run = bench(&Fake::default(), &format!("      - run: {script}"));
        let kind = run.outcome.kind();
        assert!(
            kind == Some("bad_measurements") || script.contains("/etc \""),
            "{script}: {run:?}"
        );
        assert_eq!(run.measurements().count(), 0);
    }
}

fn secrets() {
    let mut home = Home::new();
    home.secrets
        .insert("KEY".to_owned(), "opensesame".to_owned());
    let run = home.build(
        r#"      - run: |
          printf '{"name": "a %s b", "value": 2, "unit": "%s", "serial": "%s", "high": 1}' "$KEY" "$KEY" "$KEY" > "$HOSTD_OUT/measurements.jsonl"
        env: { KEY: { secret: KEY } }"#,
    );
    let told = format!("{run:?}");
    assert!(!told.contains("opensesame"), "{told}");
    assert_eq!(run.outcome.kind(), Some("limits"));
    assert_eq!(run.measurements().next().unwrap().1.name, "a [secret] b");
}
