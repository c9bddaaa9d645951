//! A difference as a part of a page.

use std::fmt::Write as _;

use super::Diff;
use crate::plain::{Escaped, Name, Sentence};
use crate::stored::StoredFinding;

/// Most findings of each kind that are shown.
const SHOWN_MAX: usize = 500;

impl Diff {
    /// Lists of what is new, worse and gone, without a heading.
    pub(crate) fn section(&self, page: &mut String) {
        let of = &self.summary;
        let _ = writeln!(
            page,
            "<ul class=\"counts\"><li class=\"critical\"><b>{}</b>new</li><li class=\"warning\"><b>{}</b>worse than before</li>\
             <li class=\"info\"><b>{}</b>gone</li><li><b>{}</b>still there</li></ul>",
            of.new.count(),
            of.worse.count(),
            of.gone.count(),
            of.kept.count(),
        );
        for cut in &self.cut {
            let _ = writeln!(
                page,
                "<p class=\"soft\">{}: {} of {} were listed before, {} of {} now. What is listed once may have been there both times; \
                 it is marked “perhaps”.</p>",
                Escaped(&cut.rule),
                cut.listed_before,
                cut.found_before,
                cut.listed_now,
                cut.found_now,
            );
        }
        for note in &self.notes {
            let _ = writeln!(page, "<p class=\"soft\">{}</p>", Sentence(note));
        }
        let perhaps = |certain: bool| if certain { "" } else { "perhaps " };
        let new = self.new.iter().map(|change| {
            let text = format!("{}new", perhaps(change.certain));
            (&change.finding, text)
        });
        let worse = self.kept.iter().filter(|kept| kept.is_worse()).map(|kept| {
            let was = kept.was.map_or("", |was| was.name());
            (&kept.finding, format!("was {was}"))
        });
        let gone = self.gone.iter().map(|change| {
            let text = format!("{}gone", perhaps(change.certain));
            (&change.finding, text)
        });
        list(page, "New", new);
        list(page, "Worse than before", worse);
        list(page, "Gone", gone);
    }
}

fn list<'a>(
    page: &mut String,
    name: &str,
    findings: impl Iterator<Item = (&'a StoredFinding, String)>,
) {
    let findings: Vec<(&StoredFinding, String)> = findings.collect();
    if findings.is_empty() {
        return;
    }
    let _ = write!(
        page,
        "<details class=\"group\" open><summary>{name}: {}</summary>\n<ol>\n",
        findings.len()
    );
    for (finding, what) in findings.iter().take(SHOWN_MAX) {
        let _ = write!(
            page,
            "<li class=\"finding {0}\"><h4><span class=\"badge\">{0}</span> {1}</h4><p class=\"where\">{what} · {2}",
            finding.severity.name(),
            Sentence(&finding.title),
            Name(&finding.rule),
        );
        if !finding.net.is_empty() {
            let _ = write!(page, " · net <bdi>{}</bdi>", Name(&finding.net));
        }
        if !finding.layer.is_empty() {
            let _ = write!(page, " · {}", Name(&finding.layer));
        }
        let _ = writeln!(
            page,
            " · at {}, {} mm</p><p>{}</p></li>",
            finding.at.x,
            finding.at.y,
            Sentence(&finding.detail)
        );
    }
    page.push_str("</ol></details>\n");
    if SHOWN_MAX < findings.len() {
        let _ = writeln!(
            page,
            "<p class=\"soft\">The first {SHOWN_MAX} are shown.</p>"
        );
    }
}
