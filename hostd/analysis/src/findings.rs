//! Findings of runs in pages, and those of one board beside those of another.

use std::fs::File;
use std::io::Read;
use std::ops::ControlFlow;

use emi::{Diff, Stored};
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
        let rules = self.rules_json(org, run, |bytes| {
            Ok(serde_json::from_slice::<Rules>(bytes)?)
        });
        let findings = rules.await?.findings;
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
        let now = self.stored(org, board).await?;
        let before = self.stored(org, against).await?;
        Ok(emi::diff(&before, &now))
    }

    /// What was found in a board.
    async fn stored(&self, org: &str, board: &str) -> Result<Stored, Error> {
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
        self.rules_json(org, &run, |bytes| {
            Stored::read(bytes).map_err(std::io::Error::other)
        })
        .await
    }

    /// A run's `rules.json`, as `read` reads it.
    async fn rules_json<T: Send + 'static>(
        &self,
        org: &str,
        run: &str,
        read: impl FnOnce(&[u8]) -> std::io::Result<T> + Send + 'static,
    ) -> Result<T, Error> {
        let artifact = self.kept_artifact(org, run, RULES).await?;
        let path = self.blobs.path(&artifact.file.sha256);
        let opened = path.clone();
        let read = tokio::task::spawn_blocking(move || {
            let mut bytes = Vec::new();
            let most = ARTIFACT_BYTES_MAX as u64;
            File::open(opened)?.take(most).read_to_end(&mut bytes)?;
            read(&bytes)
        });
        let read = read.await.unwrap_or_else(|e| Err(std::io::Error::other(e)));
        read.map_err(|source| Error::Blob { path, source })
    }
}
