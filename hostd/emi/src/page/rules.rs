//! What was looked for: each rule with its counts, formula and source.

use std::fmt::Write as _;

use crate::check::Report;
use crate::plain::Escaped;
use crate::rules::{RULES, Rule};

/// All rules. Those that found something come with their counts.
pub(super) fn section(page: &mut String, report: &Report) {
    page.push_str(
        "<h2 id=\"rules\">Rules</h2>\n<p class=\"soft\">What was looked for, by which formula. Counts are of everything that was \
         found; at most the worst of each rule are listed.</p>\n",
    );
    for rule in RULES {
        entry(page, rule, report);
    }
}

fn entry(page: &mut String, rule: &Rule, report: &Report) {
    let _ = write!(
        page,
        "<details class=\"rule\" id=\"rule-{0}\"><summary><b>{0}</b> {1}",
        rule.id,
        Escaped(rule.title),
    );
    if let Some(counts) = report.rules.get(rule.id) {
        let _ = write!(page, " <span class=\"soft\">· {} found", counts.found);
        if counts.shown < counts.found {
            let _ = write!(page, ", {} of them listed", counts.shown);
        }
        if 0 < counts.suppressed {
            let _ = write!(
                page,
                ", {} more decided about in the rules file",
                counts.suppressed
            );
        }
        page.push_str("</span>");
    }
    page.push_str("</summary><dl>");
    for (name, text) in [
        ("Why", rule.about),
        ("Looks for", rule.formula),
        ("Source", rule.source),
        ("Severity", rule.severity),
        ("Can say something about", rule.validity),
    ] {
        let _ = write!(page, "<dt>{name}</dt><dd>{}</dd>", Escaped(text));
    }
    page.push_str("</dl></details>\n");
}
