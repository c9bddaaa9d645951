//! Predicates against what devices say.

use super::*;

fn device(values: &[(&str, Capability)]) -> Capabilities {
    let values = values
        .iter()
        .map(|(key, value)| ((*key).to_owned(), value.clone()));
    Capabilities {
        name: "bench-1".into(),
        values: values.collect(),
    }
}

fn wanted(select: &[(&str, &str)]) -> Requirements {
    let select = select
        .iter()
        .map(|(key, text)| ((*key).to_owned(), Predicate::parse(text).unwrap()));
    Requirements {
        name: None,
        select: select.collect(),
    }
}

fn holds(predicate: &str, value: Capability) -> bool {
    matches(&wanted(&[("x", predicate)]), &device(&[("x", value)])).is_ok()
}

#[test]
fn counts_compare_by_value() {
    for yes in [
        "14", ">=14", ">13", "<=14", "<15", "12|14", "!=12", "==14", ">= 4",
    ] {
        assert!(holds(yes, Capability::Count(14)), "{yes}");
    }
    for no in ["12", ">=15", ">14", "<=13", "<14", "!=14", "!=12|14"] {
        assert!(!holds(no, Capability::Count(14)), "{no}");
    }
}

#[test]
fn versions_compare_part_by_part() {
    let version = |text: &str| Capability::Text(text.into());
    assert!(
        holds(">=3.9", version("3.10"))
            && holds("3.9.0", version("3.9"))
            && holds("<4", version("3.99"))
    );
    assert!(!holds(">=3.10", version("3.9")) && !holds(">3", version("3.0")));
    assert!(!holds(">=3", version("three")) && !holds(">=3", version("3.x")));
}

#[test]
fn text_and_flags_are_compared_without_case() {
    let chip = Capability::Text("STM32F030F4".into());
    assert!(
        holds("stm32f030f4", chip.clone())
            && holds("a | stm32f030f4", chip.clone())
            && !holds("stm32f0", chip)
    );
    assert!(holds("true", Capability::Flag(true)) && holds("!=true", Capability::Flag(false)));
    assert!(
        !holds("true", Capability::Flag(false))
            && !holds(">=1", Capability::Flag(true))
            && !holds("1", Capability::Flag(true))
    );
}

#[test]
fn what_is_unknown_matches_nothing() {
    for predicate in ["1", "!=1", ">=0", "<9", "true", "unknown", "null"] {
        assert!(!holds(predicate, Capability::Unknown), "{predicate}");
    }
}

#[test]
fn the_predicate_in_the_way_is_named() {
    let mismatch = |select: &[(&str, &str)], values: &[(&str, Capability)]| {
        matches(&wanted(select), &device(values))
            .unwrap_err()
            .to_string()
    };
    let select = [("dac", "true"), ("la_channels", ">=14")];
    let few = [
        ("dac", Capability::Flag(true)),
        ("la_channels", Capability::Count(12)),
    ];
    assert_eq!(
        mismatch(&select, &few),
        "la_channels is 12, the job wants >=14"
    );
    let silent = [("dac", Capability::Unknown)];
    assert_eq!(
        mismatch(&select, &silent),
        "dac is unknown, the job wants true"
    );
    assert_eq!(
        mismatch(&select, &few[..1]),
        "it has no la_channels, the job wants >=14"
    );
    let named = Requirements {
        name: Some("bench-2".into()),
        select: BTreeMap::new(),
    };
    assert_eq!(
        matches(&named, &device(&[])).unwrap_err().to_string(),
        "name is bench-1, the job wants bench-2"
    );
    assert!(
        matches(
            &Requirements {
                name: Some("bench-1".into()),
                ..named
            },
            &device(&[])
        )
        .is_ok()
    );
}

#[test]
fn predicates_that_say_nothing_are_refused() {
    for bad in [
        "",
        ">=",
        ">=a",
        "a|",
        "|",
        ">1|2",
        "=> 4",
        "a<b",
        ">=1.",
        ">=99999999999999999999",
    ] {
        assert!(Predicate::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn a_predicate_reads_as_it_is_shown() {
    for text in ["a|b", "!=a", ">=4", ">4", "<=4", "<4", "3.10"] {
        let predicate = Predicate::parse(text).unwrap();
        assert_eq!(predicate.to_string(), text);
        assert_eq!(Predicate::parse(&predicate.to_string()), Ok(predicate));
    }
}
