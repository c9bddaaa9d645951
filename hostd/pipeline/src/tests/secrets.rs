//! Secrets: their names, and where a pipeline has them.

use crate::{Caps, Code, Pattern, check_secret_name, limits, parse};

const TEXT: &str = "version: 1
builds:
  - id: fw
    steps:
      - { run: a, env: { A: { secret: CAL }, B: x } }
      - run: b
        env:
          TOKEN: { secret: GONE }
benches:
  - id: b
    device: { name: d }
    steps: [{ run: c, env: { A: { secret: GONE } } }]
    always: [{ run: d, env: { A: { secret: LATE } } }]
";

#[test]
fn all_names_are_told_once() {
    let pipeline = parse(TEXT, &Caps::default()).unwrap();
    let names: Vec<&str> = pipeline.secrets().into_iter().collect();
    assert_eq!(names, ["CAL", "GONE", "LATE"]);
}

#[test]
fn each_place_of_a_refused_secret_is_told() {
    let pipeline = parse(TEXT, &Caps::default()).unwrap();
    assert!(pipeline.check_secrets(TEXT, |_| None).is_ok());
    let why = |name: &str| match name {
        "CAL" => None,
        "LATE" => Some((Code::SecretRefused, "not for main".to_owned())),
        name => Some((Code::UnknownSecret, format!("there is no {name}"))),
    };
    let report = pipeline.check_secrets(TEXT, why).unwrap_err();
    let told: Vec<_> = report
        .problems
        .iter()
        .map(|p| (p.line, p.column, p.code.as_str(), &*p.path, &*p.message))
        .collect();
    let (unknown, refused) = ("unknown_secret", "secret_refused");
    let expected = [
        (
            8,
            28,
            unknown,
            "builds[0].steps[1].env.TOKEN.secret",
            "there is no GONE",
        ),
        (
            12,
            43,
            unknown,
            "benches[0].steps[0].env.A.secret",
            "there is no GONE",
        ),
        (
            13,
            44,
            refused,
            "benches[0].always[0].env.A.secret",
            "not for main",
        ),
    ];
    assert_eq!(told, expected);
}

#[test]
fn names_are_those_of_variables_in_capitals() {
    let longest = "A".repeat(limits::SECRET_NAME_CHARS_MAX);
    for name in ["A", "CAL", "A_1", "A_", &longest] {
        assert_eq!(check_secret_name(name), Ok(()), "{name}");
    }
    let long = format!("{longest}A");
    for name in [
        "",
        "_A",
        "1A",
        "a",
        "Cal",
        "A-B",
        "É",
        "A B",
        "HOSTD_A",
        "BENCHPOD_API_KEY",
        &long,
    ] {
        assert!(check_secret_name(name).is_err(), "{name}");
    }
}

#[test]
fn a_whole_match_has_nothing_behind_it() {
    let matches = |pattern: &str, text: &str| {
        let pattern = Pattern::parse(pattern).unwrap();
        (pattern.matches(text), pattern.matches_whole(text))
    };
    assert_eq!(matches("main", "main"), (true, true));
    assert_eq!(matches("main", "main/other"), (true, false));
    assert_eq!(matches("main", "mainly"), (false, false));
    assert_eq!(matches("release/*", "release/1.2"), (true, true));
    assert_eq!(matches("release/*", "release/1.2/x"), (true, false));
    assert_eq!(matches("release/**", "release/1.2/x"), (true, true));
    assert_eq!(matches("release/**", "release"), (true, true));
    assert_eq!(matches("**", "a/b"), (true, true));
    assert_eq!(matches("refs/heads/v?", "refs/heads/v1"), (true, true));
}
