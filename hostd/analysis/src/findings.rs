//! Findings of runs in pages, and those of one board beside those of another.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufReader, Read};
use std::ops::ControlFlow;

use serde::Deserialize;
use serde_json::{Map, Value};
use store::StoreError;
use store::emi::runs::{self, Kind, Status};

use crate::artifact::RULES;
use crate::error::Error;
use crate::page::{Filling, Listed, Page};
use crate::service::Analysis;
use crate::wire::ARTIFACT_BYTES_MAX;

/// Which findings; all that is given must hold.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// `critical`, `warning` or `info`.
    pub severity: Option<String>,
    /// Id of a rule.
    pub rule: Option<String>,
    /// Name of a net.
    pub net: Option<String>,
}

/// Findings of a board beside those of another, as `rules.json` has them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Diff {
    /// Only the board has them.
    pub new: Vec<Value>,
    /// Only the other has them.
    pub gone: Vec<Value>,
    /// Both have them, as the board has them.
    pub kept: Vec<Value>,
}

/// What is read of `rules.json`.
#[derive(Deserialize)]
struct Rules {
    findings: Vec<Map<String, Value>>,
}

impl Filter {
    fn fits(&self, finding: &Map<String, Value>) -> bool {
        let is = |key: &str, wanted: &Option<String>| {
            let found = finding.get(key).and_then(Value::as_str);
            wanted.as_deref().is_none_or(|wanted| found == Some(wanted))
        };
        is("severity", &self.severity) && is("rule", &self.rule) && is("net", &self.net)
    }
}

impl Analysis {
    /// Findings of a run, the worst first.
    ///
    /// # Errors
    /// The run is not done or has no findings, the cursor is none, there is no such run, or disk or store fail.
    pub async fn findings(
        &self,
        org: &str,
        run: &str,
        filter: Filter,
        page: Page,
    ) -> Result<Listed<Value>, Error> {
        let start = match page.cursor.as_deref().map(str::parse::<usize>) {
            None => 0,
            Some(Ok(start)) => start,
            Some(Err(_)) => return Err(Error::invalid("cursor", "must be one that was given")),
        };
        if self.run(org, run).await?.status != Status::Done {
            return Err(Error::NotReady);
        }
        let findings = self.rules(org, run).await?;
        let mut filling = Filling::new(&page);
        for (place, finding) in findings.into_iter().enumerate().skip(start) {
            let fits = filter.fits(&finding);
            if fits && filling.take((place, finding)).is_break() {
                break;
            }
        }
        let listed = filling.end(|(place, _)| (place + 1).to_string());
        Ok(Listed {
            items: listed
                .items
                .into_iter()
                .map(|(_, finding)| Value::Object(finding))
                .collect(),
            next: listed.next,
        })
    }

    /// Findings of a board beside those of another one, each of its newest run `ingest` that is done.
    ///
    /// # Errors
    /// One of them was not read yet, there is no such board, or disk or store fail.
    pub async fn diff(&self, org: &str, board: &str, against: &str) -> Result<Diff, Error> {
        let new = self.rules_of_board(org, board).await?;
        let old = self.rules_of_board(org, against).await?;
        Ok(diff(new, old))
    }

    async fn rules_of_board(
        &self,
        org: &str,
        board: &str,
    ) -> Result<Vec<Map<String, Value>>, Error> {
        self.board(org, board).await?;
        let (owner, id) = (org.to_owned(), board.to_owned());
        let read = self.store.read(move |s| {
            let mut found = None;
            runs::newest_first(s, &owner, None, |run| {
                let is_it = run.board == id && run.kind == Kind::Ingest;
                if !is_it || run.status != Status::Done {
                    return ControlFlow::Continue(());
                }
                found = Some(run.id);
                ControlFlow::Break(())
            })?;
            Ok::<_, StoreError>(found)
        });
        let run = read.await?.ok_or(Error::NotReady)?;
        self.rules(org, &run).await
    }

    /// The findings in a run's `rules.json`.
    async fn rules(&self, org: &str, run: &str) -> Result<Vec<Map<String, Value>>, Error> {
        let artifact = self.kept_artifact(org, run, RULES).await?;
        let path = self.blobs.path(&artifact.file.sha256);
        let opened = path.clone();
        let read = tokio::task::spawn_blocking(move || {
            let file = File::open(opened)?.take(ARTIFACT_BYTES_MAX as u64);
            let rules: Rules = serde_json::from_reader(BufReader::new(file))?;
            Ok(rules.findings)
        });
        let read = read.await.unwrap_or_else(|e| Err(std::io::Error::other(e)));
        read.map_err(|source| Error::Blob { path, source })
    }
}

fn diff(new: Vec<Map<String, Value>>, old: Vec<Map<String, Value>>) -> Diff {
    let print = |finding: &Map<String, Value>| {
        let print = finding.get("fingerprint").and_then(Value::as_str);
        print.unwrap_or_default().to_owned()
    };
    let before: HashSet<String> = old.iter().map(print).collect();
    let now: HashSet<String> = new.iter().map(print).collect();
    let mut diff = Diff::default();
    for finding in new {
        let is_kept = before.contains(&print(&finding));
        let list = if is_kept {
            &mut diff.kept
        } else {
            &mut diff.new
        };
        list.push(Value::Object(finding));
    }
    let gone = old
        .into_iter()
        .filter(|finding| !now.contains(&print(finding)));
    diff.gone = gone.map(Value::Object).collect();
    diff
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn finding(print: &str, place: u32) -> Map<String, Value> {
        let finding = json!({"fingerprint": print, "id": format!("f{place}")});
        finding.as_object().unwrap().clone()
    }

    #[test]
    fn findings_are_told_apart_by_fingerprint_not_by_place() {
        let diff = diff(
            vec![finding("a", 1), finding("c", 2)],
            vec![finding("b", 1), finding("a", 2)],
        );
        assert_eq!(diff.new, [json!({"fingerprint": "c", "id": "f2"})]);
        assert_eq!(diff.gone, [json!({"fingerprint": "b", "id": "f1"})]);
        assert_eq!(diff.kept, [json!({"fingerprint": "a", "id": "f1"})]);
    }
}
