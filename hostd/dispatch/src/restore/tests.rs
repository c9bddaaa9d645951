//! What cannot be read holds up nothing that can.

use base::clock::Clock;
use base::config::JobsConfig;
use base::space::Space;
use lab::blobs::Blobs;
use pipeline::Caps;
use scheduler::{Axes, EndedBecause};
use store::testing::put_record;
use tempfile::TempDir;
use vault::Vault;

use super::*;
use crate::intake::{NewJob, Source};
use crate::network::Network;
use crate::record::axes;
use crate::service::Submitter;

const ORG: &str = "o";
const NOW_MS: u64 = 9_000;

/// A data folder with stored jobs.
struct Home {
    intake: Intake,
    store: Store,
    board: Board,
    ledger: Ledger,
    _dir: TempDir,
}

impl Home {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let files = Files::new(dir.path()).unwrap();
        base::private::make_folder(files.root()).unwrap();
        let blobs = Blobs::open(dir.path().join("blobs"), Space::boundless()).unwrap();
        let store = Store::in_memory().unwrap();
        let vault = Vault::new(dir.path(), store.clone(), Clock::manual(NOW_MS).0);
        Self {
            intake: Intake {
                files,
                caps: Caps::default(),
                limits: archive::Limits::default(),
                images: jobs::ImageOptions::default(),
                blobs: Arc::new(blobs),
                space: Space::boundless(),
                vault,
                network: Network::new(&JobsConfig::default()),
                memory: admission::Memory::new(1 << 20),
            },
            store,
            board: Board::default(),
            ledger: Ledger::new(1),
            _dir: dir,
        }
    }

    /// Queues a job as the driver does. Its id.
    async fn queue(&self) -> String {
        let text = "version: 1\nbuilds: [{ id: fw, steps: [{ run: make }] }]\n";
        self.queue_as(text).await
    }

    async fn queue_as(&self, text: &str) -> String {
        let id = base::id::ulid(&Clock::system());
        let by = Submitter {
            org: ORG.to_owned(),
            user: "u".to_owned(),
        };
        let new = NewJob {
            name: None,
            r#ref: None,
            commit: None,
            idempotency_key: None,
            source: Source::Definition(text.to_owned()),
        };
        let arrival = self.intake.take(&by, new, &id, 1).unwrap();
        let mut scheduler = Scheduler::new(Limits::default(), 0);
        scheduler.submit(arrival.submission, 1).unwrap();
        let mut entry = arrival.entry;
        let stored = scheduler.stored(&entry.id()).unwrap();
        entry.goes_on(&stored);
        self.put(entry.record(Some(&stored))).await;
        id
    }

    async fn put(&self, job: Job) {
        let changes = Changes {
            jobs: vec![job],
            ..Changes::default()
        };
        self.store.jobs_change(changes).await.unwrap();
    }

    async fn job(&self, id: &str) -> Job {
        let id = id.to_owned();
        let found = self
            .store
            .read(move |s| store::jobs::by_id(s, ORG, &id))
            .await;
        aside::told(found.unwrap().unwrap())
    }

    async fn restore(&self) -> Restored {
        let overview = self.store.jobs_overview().await.unwrap();
        let (clock, _) = Clock::manual(NOW_MS);
        let repositories = Arc::from([]);
        let restored = restore(
            &self.store,
            &self.intake,
            overview.open,
            (Limits::default(), Before::Stopped),
            (&self.board, &self.ledger, &repositories),
            &clock,
        );
        restored.await.unwrap()
    }
}

fn said(job: &Job) -> (State, Option<EndedBecause>, &str) {
    let axes: Axes = axes(job);
    let end = job.end.as_ref();
    let code = end.map_or("", |end| &*end.code);
    (axes.state(), axes.ended_because(), code)
}

#[tokio::test]
async fn a_job_that_cannot_be_read_is_left_as_it_is_and_the_others_go_on() {
    let home = Home::new();
    let (whole, torn, foreign) = (home.queue().await, home.queue().await, home.queue().await);
    for (id, value) in [(&torn, &b"{\"id\":"[..]), (&foreign, &br#"{"v":2}"#[..])] {
        put_record(&home.store, "jobs", &format!("{ORG}/{id}"), Some(value))
            .await
            .unwrap();
    }
    for _ in 0..2 {
        let restored = home.restore().await;
        assert_eq!(restored.unreadable.len(), 2);
        let entries: Vec<&String> = restored.entries.keys().collect();
        assert_eq!(entries, [&whole]);
        for id in [&torn, &foreign] {
            let job = home.job(id).await;
            let over = (
                State::Finished,
                Some(EndedBecause::InfraError),
                "infra.unreadable",
            );
            assert_eq!(said(&job), over);
        }
    }
    let left = home.store.read(move |s| store::jobs::by_id(s, ORG, &torn));
    let Some(Found::Unreadable(left)) = left.await.unwrap() else {
        panic!("it was replaced");
    };
    assert_eq!(left.bytes, b"{\"id\":".len() as u64);
}

#[tokio::test]
async fn a_job_whose_place_in_the_queue_cannot_be_read_ends() {
    let home = Home::new();
    let (whole, odd, other) = (home.queue().await, home.queue().await, home.queue().await);
    let mut job = home.job(&odd).await;
    job.queue = Some(serde_json::json!({"later": 1}));
    home.put(job).await;
    let mut job = home.job(&other).await;
    job.queue = home.job(&whole).await.queue;
    home.put(job).await;
    let restored = home.restore().await;
    assert_eq!(restored.entries.keys().collect::<Vec<_>>(), [&whole]);
    assert!(restored.unreadable.is_empty());
    for id in [&odd, &other] {
        let job = home.job(id).await;
        let over = (
            State::Finished,
            Some(EndedBecause::InfraError),
            "infra.unreadable",
        );
        assert_eq!(said(&job), over);
        assert_eq!(job.runs[0].end.as_ref().unwrap().code, "infra.unreadable");
        assert_eq!(job.finished_ms, Some(NOW_MS));
    }
    assert_ne!(said(&home.job(&whole).await).0, State::Finished);
    // It is stored that they ended: nothing is left to do at the next start.
    let open = home.store.jobs_overview().await.unwrap().open;
    assert_eq!(open, [(ORG.to_owned(), whole)]);
}

#[tokio::test]
async fn what_cannot_be_read_of_devices_and_numbers_stays_on_the_safe_side() {
    let home = Home::new();
    home.queue().await;
    for (table, key) in [("job_quarantines", "dev"), ("job_epochs", "epoch")] {
        put_record(&home.store, table, key, Some(b"?"))
            .await
            .unwrap();
    }
    let restored = home.restore().await;
    let reason = home.board.quarantine_of("dev").unwrap().reason;
    assert_eq!(reason, QUARANTINE_UNREADABLE);
    let assigned = restored
        .decisions
        .iter()
        .find_map(|decision| match decision {
            Decision::Assign { attempt, .. } => Some(attempt.epoch),
            _ => None,
        });
    assert!(assigned.unwrap() > NOW_MS, "{assigned:?}");
}

#[tokio::test]
async fn what_unfinished_jobs_keep_is_counted() {
    let home = Home::new();
    let id = home.queue().await;
    home.restore().await;
    let bytes = home.job(&id).await.bytes();
    assert!(bytes > 0);
    assert_eq!(home.ledger.total(), bytes);
}

/// The names of the files that its runs will make count, as they did when it was taken in.
#[tokio::test]
async fn a_job_takes_as_much_memory_after_a_start_as_before() {
    let home = Home::new();
    let files: String = (0..32).map(|file| format!("f{file:0200}, ")).collect();
    let text = format!(
        "version: 1\nbuilds: [{{ id: fw, steps: [{{ run: make }}], packs: [{{ id: a, artifacts: [{files}] }}] }}]\n"
    );
    let id = home.queue_as(&text).await;
    assert_eq!(home.intake.memory.held(), 0, "what was queued is gone");
    let taken = home.job(&id).await.memory_bytes;
    assert!(taken > 32 * 200, "{taken}");
    let restored = home.restore().await;
    let held = home.intake.memory.held();
    assert!(held >= taken, "{held} of {taken}");
    drop(restored);
    assert_eq!(home.intake.memory.held(), 0);
    // An earlier version did not store how much it was.
    let mut job = home.job(&id).await;
    job.memory_bytes = 0;
    home.put(job).await;
    let _restored = home.restore().await;
    assert!(home.intake.memory.held() > 0);
}
