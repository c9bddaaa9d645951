//! The service, with a runner that does what the names of boards say.

use std::collections::HashMap;
use std::io::{PipeReader, Read};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use base::clock::{Clock, Hand};
use base::config::EmiConfig;
use base::space::Space;
use blobs::Blobs;
use serde_json::{Map, Value, json};
use store::Store;
use store::emi::boards::{Board, Facts};
use store::emi::projects::{Project, SourceKind};
use store::emi::runs::{Kind, Progress, Run, Status};
use tempfile::TempDir;

use super::*;
use crate::artifact::RULES;
use crate::runner::failure;

mod restart;
mod results;
mod sharing;
mod steps;
mod upload;

/// Ids of organisations have that form.
const ORG: &str = "01ARYZ6S410000000000000000";
const OTHER: &str = "01ARYZ6S410000000000000001";

/// How long bytes may take.
const ARRIVAL_MAX: Duration = Duration::from_secs(120);

/// Does what the name of the board says.
#[derive(Debug, Default)]
struct Script {
    /// Contents of boards whose runs have begun, in order.
    begun: Mutex<Vec<String>>,
    changed: Condvar,
    /// How many runs of the board `gate` may end.
    open: Mutex<usize>,
    opened: Condvar,
}

impl Script {
    fn begun(&self) -> Vec<String> {
        self.begun.lock().unwrap().clone()
    }

    /// Blocks until so many have begun.
    fn wait_for(&self, count: usize) -> Vec<String> {
        let begun = self.begun.lock().unwrap();
        let begun = self.changed.wait_while(begun, |begun| begun.len() < count);
        begun.unwrap().clone()
    }

    fn let_through(&self, count: usize) {
        *self.open.lock().unwrap() += count;
        self.opened.notify_all();
    }
}

impl Runner for Script {
    fn kinds(&self) -> Vec<Kind> {
        vec![Kind::Ingest, Kind::Compliance, Kind::Cable]
    }

    fn run(
        &self,
        work: &Work,
        tell: &mut dyn FnMut(Event) -> Result<(), Unwanted>,
        mut stopped: &PipeReader,
    ) -> Result<Product, Unfinished> {
        let board = std::fs::read_to_string(&work.file).unwrap();
        let stage = Progress {
            stage: "read".to_owned(),
            pct: 10,
            message: String::new(),
        };
        let _ = tell(Event::Progress(stage));
        self.begun.lock().unwrap().push(board.clone());
        self.changed.notify_all();
        match work.filename.as_str() {
            "hold" => {
                stopped.read_to_end(&mut Vec::new()).unwrap();
                return Err(Unfinished::Stopped);
            }
            "gate" => {
                let open = self.open.lock().unwrap();
                let mut open = self.opened.wait_while(open, |open| *open == 0).unwrap();
                *open -= 1;
            }
            "slow" => return Err(Unfinished::TimedOut(7)),
            "bad" => {
                return Err(Unfinished::Failed(failure(
                    "refused",
                    "line 1, column 2: no",
                )));
            }
            "panic" => panic!("on purpose"),
            _ => {}
        }
        let made = Made {
            name: RULES.to_owned(),
            content_type: "application/json".to_owned(),
            bytes: rules(&board).into_bytes(),
        };
        tell(Event::Made(made)).map_err(|Unwanted| Unfinished::Stopped)?;
        Ok(Product {
            summary: Map::from_iter([("critical".to_owned(), 1.into())]),
            facts: (work.kind == Kind::Ingest).then(|| Facts {
                layer_count: 4,
                net_count: 2,
                outline_mm: Some([10.0, 20.0]),
                stackup: Vec::new(),
            }),
        })
    }
}

/// A finding for each word of the board, which is its net and its fingerprint.
fn rules(board: &str) -> String {
    let findings: Vec<Value> = board
        .split_whitespace()
        .enumerate()
        .map(|(place, net)| {
            let severity = ["critical", "warning"][place % 2];
            let at = json!({"x": 1.0, "y": 2.0, "layer": "F.Cu"});
            json!({
                "id": format!("f{place}"), "fingerprint": net, "net": net, "severity": severity,
                "rule": "plane-gap", "title": "", "detail": "", "layer": "F.Cu", "x": 1.0, "y": 2.0, "at": at,
            })
        })
        .collect();
    let summary = json!({"critical": 1, "warning": 0, "info": 0, "assumed_max_frequency_hz": 1e9});
    json!({"format_version": 1, "summary": summary, "findings": findings}).to_string()
}

struct Stage {
    dir: TempDir,
    store: Store,
    blobs: Arc<Blobs>,
    clock: Clock,
    hand: Hand,
    script: Arc<Script>,
    analysis: Arc<Analysis>,
    projects: Mutex<HashMap<&'static str, String>>,
}

impl Stage {
    async fn new() -> Self {
        Self::with(EmiConfig::default()).await
    }

    async fn with(config: EmiConfig) -> Self {
        let stage = Self::idle(config).await;
        stage.analysis.settle_in().await.unwrap();
        stage
    }

    /// One in which nothing runs yet.
    async fn idle(config: EmiConfig) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::in_memory().unwrap();
        let blobs = Blobs::open(dir.path().join("blobs"), Space::boundless()).unwrap();
        let (clock, hand) = Clock::manual(1_700_000_000_000);
        let (blobs, script) = (Arc::new(blobs), Arc::<Script>::default());
        let parts = Parts {
            store: store.clone(),
            clock: clock.clone(),
            blobs: blobs.clone(),
            runner: script.clone(),
            arrival_max: ARRIVAL_MAX,
        };
        let analysis = Analysis::open(&config, parts).await.unwrap();
        Self {
            dir,
            store,
            blobs,
            clock,
            hand,
            script,
            analysis,
            projects: Mutex::default(),
        }
    }

    /// The project of an organisation, made when it is first asked for.
    async fn project(&self, org: &'static str) -> String {
        if let Some(id) = self.projects.lock().unwrap().get(org) {
            return id.clone();
        }
        let made = self.make_project(org).await.unwrap();
        self.projects.lock().unwrap().insert(org, made.id.clone());
        made.id
    }

    async fn make_project(&self, org: &str) -> Result<Project, Error> {
        let kind = SourceKind::Kicad;
        self.analysis.create_project(org, "user", "p", kind).await
    }

    /// The key of an upload whose bytes have come.
    async fn upload(&self, org: &'static str, name: &str, bytes: &str) -> Result<String, Error> {
        let new = NewUpload {
            filename: name.to_owned(),
            ..NewUpload::default()
        };
        let project = self.project(org).await;
        let begun = self
            .analysis
            .begin_upload(org, "user", &project, new)
            .await?;
        let signed = begun.signed.unwrap();
        let staged = self.blobs.write(bytes.as_bytes()).unwrap();
        self.analysis.keep(&begun.key, &signed, &staged).await?;
        Ok(begun.key)
    }

    async fn board(
        &self,
        org: &'static str,
        name: &str,
        bytes: &str,
    ) -> Result<(Board, Run), Error> {
        let key = self.upload(org, name, bytes).await?;
        let project = self.project(org).await;
        let made = self
            .analysis
            .create_board(org, "user", &project, &key, None);
        made.await
    }

    async fn ask(&self, org: &'static str, board: &str, kind: &str) -> Result<Run, Error> {
        let project = self.project(org).await;
        let of = (project.as_str(), board);
        self.analysis
            .create_run(org, "user", of, kind, Map::new())
            .await
    }

    /// The run once it has ended.
    async fn ended(&self, org: &str, run: &str) -> Run {
        loop {
            let run = self.analysis.run(org, run).await.unwrap();
            if run.status.is_final() {
                return run;
            }
            tokio::task::yield_now().await;
        }
    }

    /// Files that are kept. What a run has made that was there already is removed a moment after its end is stored.
    fn files(&self) -> usize {
        let folders = std::fs::read_dir(self.dir.path().join("blobs")).unwrap();
        let kept = folders.map(|folder| folder.unwrap());
        let kept = kept.filter(|folder| folder.file_name() != "staging");
        kept.map(|folder| std::fs::read_dir(folder.path()).unwrap().count())
            .sum()
    }
}

/// Blocks on what a runner's thread tells, while the tasks go on.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap()
}
