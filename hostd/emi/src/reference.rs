//! The page of rules in `docs/`, written from the table of rules.

use std::fmt::Write as _;

use crate::found::SHOWN_MAX;
use crate::rules::{RULES, Rule};

/// The text of `docs/emi-rules.md`.
pub fn rules_page() -> String {
    let mut page = format!(
        "# EMI rules\n\n<!-- This page is written by `cargo xtask docs`. -->\n\n\
         What a check of a board looks for. It finds known mistakes; that a board has none of them does not say that it passes a \
         test. Lengths are millimetres; \"fast\" are declared clocks, nets of pairs, and nets of classes that say so. Slow nets, \
         which the rules file declares, are at most info. Of each rule, the {SHOWN_MAX} worst findings are listed, and all are \
         counted.\n\n\
         Parameters are set in `emi.rules.yaml` beside the board:\n\n\
         ```yaml\n\
         version: 1\n\
         board: {{max_frequency_hz: 1.0e9}}\n\
         rules:\n  radiator: false\n  plane-gap: {{severity: info, params: {{min_crossing_mm: 1}}}}\n\
         groups:\n  - {{match: \"/usb/*\", speed: fast}}\n  - {{netclass: Supply, kind: power}}\n\
         clocks:\n  - {{net: SCK, hz: 25.0e6, rise_s: 1.0e-9, volts: 3.3, load_ohm: 50, spread: 0.005}}\n\
         cables:\n  - {{connector: J1, length_m: 1.5, shielded: true}}\n\
         standard: cispr-32\nclass: B\ndistance_m: 3\n\
         suppress:\n  - {{rule: edge-proximity, net: GUARD, reason: a guard ring}}\n\
         ```\n\n\
         `rise_s` is from 10 % to 90 %. A clock without `volts` or `load_ohm` is fast, but what it radiates is not known, and \
         without clocks nothing is said about margins. `spread` is the whole width as a part of the frequency. Standards: \
         `cispr-32` and `fcc-15.109`, classes A and B. What radiates usually are cables, not loops over planes.\n"
    );
    for rule in RULES {
        section(&mut page, rule);
    }
    page
}

fn section(page: &mut String, rule: &Rule) {
    let _ = writeln!(
        page,
        "\n## {}\n\n**{}.** {}\n",
        rule.id, rule.title, rule.about
    );
    for (name, text) in [
        ("Looks for", rule.formula),
        ("Source", rule.source),
        ("Severity", rule.severity),
        ("Can say something about", rule.validity),
    ] {
        let _ = writeln!(page, "- {name}: {text}");
    }
    let assumed: Vec<&str> = rule
        .assumes
        .iter()
        .map(|assumption| assumption.about())
        .collect();
    if !assumed.is_empty() {
        let _ = writeln!(page, "- Assumes: {}", assumed.join("; "));
    }
    if !rule.params.is_empty() {
        page.push_str("\n| parameter | default | |\n|---|---|---|\n");
    }
    for param in rule.params {
        let _ = writeln!(
            page,
            "| `{}` | {} | {} |",
            param.key, param.default, param.about
        );
    }
}
