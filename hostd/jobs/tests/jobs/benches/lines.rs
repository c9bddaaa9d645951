//! What a target says on its serial line.

use std::time::{Duration, Instant};

use jobs::{BenchError, Failure, Outcome};

use super::{bench, words};
use crate::Case;
use crate::fake::{Fake, Way};

pub(crate) const CASES: &[Case] = &[
    ("a_text_that_does_not_come_fails_with_what_came", unmet),
    ("what_the_old_firmware_said_proves_nothing", old),
    ("two_steps_find_what_came_at_once", together),
    ("an_answer_comes_after_its_question", answer),
    ("reading_until_a_time_is_no_failure", until),
    ("a_line_in_the_background_is_asserted_on", beside),
    (
        "an_expectation_in_the_background_is_waited_for",
        beside_expects,
    ),
    ("a_line_that_cannot_be_opened_is_told", refused),
    ("another_parity_is_another_line", parity),
];

const FLASH: &str = "      - flash: { artifact: fw.elf }\n";

fn with_boot(boot: &'static str) -> Fake {
    Fake {
        boot: vec![boot],
        ..Fake::default()
    }
}

fn unmet() {
    let steps = format!("{FLASH}      - {{ uart: {{ expect: ready }}, timeout: 300ms, case: up }}");
    let run = bench(&with_boot("boot ok\r\nread"), &steps);
    let [text, seen, line] = ["ready", "boot ok\r\nread", "LA5, 115200 baud"].map(str::to_owned);
    let failure = Failure::Expect(text, seen, line);
    assert_eq!(run.outcome, Outcome::Failed(failure));
    let run = bench(&Fake::default(), &steps);
    assert_eq!(
        run.outcome.to_string(),
        "wanted \"ready\" on the serial line (LA5, 115200 baud), but nothing came"
    );
    assert_eq!(run.outcome.kind(), Some("expect"));
}

fn old() {
    // It has said so before, and while it was being replaced.
    let fake = Fake {
        old: "boot ok\r\n",
        boot: vec!["boot"],
        ..Fake::default()
    };
    let steps = format!(
        "      - power: {{ rail: internal, state: on }}
{FLASH}      - {{ uart: {{ expect: boot ok }}, timeout: 300ms }}"
    );
    assert_eq!(bench(&fake, &steps).outcome.kind(), Some("expect"));
}

fn together() {
    let steps = format!(
        "{FLASH}      - {{ uart: {{ expect: first }}, timeout: 2s }}
      - {{ uart: {{ expect: second }}, timeout: 2s }}
      - {{ uart: {{ expect: first }}, timeout: 200ms }}"
    );
    let run = bench(&with_boot("first second\r\n"), &steps);
    assert_eq!(words(&run.steps), ["passed", "passed", "passed", "failed"]);
}

fn answer() {
    let fake = Fake {
        boot: vec!["> "],
        answer: "v2.1\r\n> ",
        ..Fake::default()
    };
    let steps = format!(
        "{FLASH}      - wait: 100ms
      - {{ uart: {{ send: \"version\\n\", until: '> ' }}, id: version, timeout: 2s }}
      - assert: {{ on: version, text: v2. }}
      - assert: {{ on: version, text: v3. }}"
    );
    let run = bench(&fake, &steps);
    let passed = ["passed"; 4];
    assert_eq!(words(&run.steps)[..4], passed, "{:?}", run.steps);
    assert_eq!(run.outcome.kind(), Some("assert"));
    // One line for all of it.
    let opened = fake
        .calls()
        .iter()
        .filter(|call| call.starts_with("uart"))
        .count();
    assert_eq!(opened, 1);
}

fn until() {
    let steps = format!(
        "{FLASH}      - {{ uart: {{ until: nothing }}, id: said, timeout: 200ms }}
      - assert: {{ on: said, text: hello }}"
    );
    let run = bench(&with_boot("hello"), &steps);
    assert_eq!(run.outcome, Outcome::Passed, "{:?}", run.steps);
}

fn beside() {
    let steps = format!(
        "      - {{ uart: {{}}, id: console, background: true }}
{FLASH}      - {{ assert: {{ on: console, text: up }} }}
      - {{ assert: {{ on: console, text: down }}, timeout: 200ms }}"
    );
    let begun = Instant::now();
    let run = bench(&with_boot("up"), &steps);
    assert_eq!(words(&run.steps), ["passed", "passed", "passed", "failed"]);
    assert_eq!(run.outcome.kind(), Some("assert"));
    assert!(begun.elapsed() < Duration::from_secs(30));
}

fn beside_expects() {
    let steps = |text: &str, timeout: &str| {
        format!(
            "      - {{ uart: {{ expect: {text} }}, background: true, timeout: {timeout}, case: says }}
{FLASH}"
        )
    };
    let run = bench(&with_boot("up"), &steps("up", "30s"));
    assert_eq!(run.outcome, Outcome::Passed, "{:?}", run.steps);
    let run = bench(&with_boot("up"), &steps("down", "400ms"));
    assert_eq!(run.outcome.kind(), Some("expect"));
    assert_eq!(words(&run.steps), ["failed", "passed"]);
}

fn parity() {
    let fake = Fake::default();
    let steps = "      - uart: { send: a }
      - uart: { parity: even, send: b }
      - uart: { parity: even, send: c }";
    let run = bench(&fake, steps);
    assert_eq!(run.outcome, Outcome::Passed, "{:?}", run.steps);
    assert_eq!(fake.calls(), ["uart 115200", "uart 115200 Even"]);
}

fn refused() {
    let why = BenchError::Refused("the device has no UART".to_owned());
    let fake = Fake {
        ways: vec![("uart", Way::Fails(why))],
        ..Fake::default()
    };
    let run = bench(&fake, "      - uart: { expect: ready }");
    assert_eq!(run.outcome.kind(), Some("refused"));
    assert_eq!(
        run.outcome.to_string(),
        "this device cannot do that: the device has no UART"
    );
}
