//! The table of rules, and the page that is generated from it.

use emi::RULES;

#[test]
fn every_rule_says_everything() {
    let mut ids: Vec<&str> = RULES.iter().map(|rule| rule.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), RULES.len());
    for rule in RULES {
        for text in [
            rule.title,
            rule.about,
            rule.formula,
            rule.source,
            rule.severity,
            rule.validity,
        ] {
            assert!(
                text.len() > 5 && !text.contains("  "),
                "{}: `{text}`",
                rule.id
            );
        }
        for param in rule.params {
            assert!(
                param.default.is_finite() && !param.about.is_empty(),
                "{} {}",
                rule.id,
                param.key
            );
        }
    }
}

#[test]
fn the_page_of_rules_is_what_the_table_says() {
    let page = include_str!("../../../../docs/emi-rules.md");
    assert_eq!(emi::rules_page(), page, "run `cargo xtask docs`");
}
