//! Tables of the analysis of boards: what belongs together, bounds, and files of earlier versions.

use serde_json::Map;

use super::super::emi::boards::{self, Board, Facts, Room};
use super::super::emi::projects::{self, Project, SourceKind};
use super::super::emi::runs::{self, Artifact, End, Failure, Kind, Progress, Queue, Run, Status};
use super::super::emi::uploads::{self, Upload};
use super::super::emi::{self, Counted, EmiError, File};
use super::super::orgs::Org;
use super::super::{blobs, database::builder, schema};
use super::*;

const ORG: &str = "01ARYZ6S410000000000000000";
const OTHER: &str = "01ARYZ6S410000000000000001";

const QUEUE: Queue = Queue {
    runs_max: 100,
    waiting_per_org_max: 100,
    waiting_max: 100,
};

const ROOM: Room = Room {
    boards_max: 10,
    bytes_max: 1000,
    queue: QUEUE,
};

fn project(org: &str, id: &str) -> Project {
    Project {
        id: id.into(),
        org: org.into(),
        name: "p".into(),
        source_kind: SourceKind::Kicad,
        created_by: "u".into(),
        created_ms: 1,
    }
}

fn file(name: &str, size_bytes: u64) -> File {
    File {
        sha256: name.into(),
        size_bytes,
    }
}

fn upload(key: &str, org: &str, project: &str, kept_until_ms: u64) -> Upload {
    Upload {
        key: key.into(),
        org: org.into(),
        project: project.into(),
        user: "u".into(),
        filename: "f".into(),
        content_type: "t".into(),
        sha256: None,
        size_bytes: None,
        file: None,
        created_ms: 10,
        kept_until_ms,
    }
}

fn run(org: &str, id: &str, board: &str) -> Run {
    Run {
        id: id.into(),
        org: org.into(),
        project: "p".into(),
        board: board.into(),
        kind: Kind::Ingest,
        status: Status::New,
        params: Map::new(),
        attempts: 0,
        progress: Progress::default(),
        summary: None,
        error: None,
        artifacts: Vec::new(),
        created_by: "u".into(),
        created_ms: 1,
        started_ms: None,
        finished_ms: None,
        updated_ms: 1,
    }
}

fn board(org: &str, id: &str, file: File) -> Board {
    Board {
        id: id.into(),
        org: org.into(),
        project: "p".into(),
        filename: "f".into(),
        file,
        ingest_run: format!("r{id}"),
        facts: None,
        created_by: "u".into(),
        created_ms: 5,
    }
}

async fn add(store: &Store, org: &str, id: &str, file: File) -> Result<(), EmiError> {
    let run = run(org, &format!("r{id}"), id);
    let board = board(org, id, file);
    store.emi_board_add(board, run, ROOM, ("none", 0)).await
}

async fn stage() -> Store {
    let store = Store::in_memory().unwrap();
    for org in [ORG, OTHER] {
        store.emi_project_add(project(org, "p"), 2).await.unwrap();
    }
    store
}

fn done(files: &[(&str, u64)]) -> (End, Progress) {
    let artifact = |(name, bytes): &(&str, u64)| Artifact {
        name: (*name).into(),
        content_type: "t".into(),
        file: file(name, *bytes),
        created_ms: 1,
    };
    let end = End::Done {
        summary: Map::new(),
        artifacts: files.iter().map(artifact).collect(),
        facts: Some(Facts {
            layer_count: 2,
            net_count: 1,
            outline_mm: None,
            stackup: Vec::new(),
        }),
    };
    (end, Progress::default())
}

fn wanted(store: &Store) -> Vec<String> {
    let mut all: Vec<_> = blobs::wanted(&store.snapshot().unwrap())
        .unwrap()
        .into_iter()
        .collect();
    all.sort();
    all
}

#[tokio::test]
async fn what_belongs_to_a_board_or_a_project_goes_with_it() {
    let store = stage().await;
    for org in [ORG, OTHER] {
        add(&store, org, "b", file("same", 3)).await.unwrap();
    }
    store
        .emi_upload_add(upload("k", ORG, "p", 99), 5)
        .await
        .unwrap();
    store
        .emi_upload_received("k", file("came", 1), 99, 1000)
        .await
        .unwrap();
    store
        .emi_run_end(ORG, "rb", done(&[("found", 1)]), 7, 1000)
        .await
        .unwrap()
        .unwrap();
    store.emi_run_add(run(ORG, "r2", "b"), QUEUE).await.unwrap();
    assert_eq!(wanted(&store), ["came", "found", "same"]);
    let snapshot = store.snapshot().unwrap();
    assert!(
        boards::by_id(&snapshot, ORG, "b")
            .unwrap()
            .unwrap()
            .facts
            .is_some()
    );
    assert_eq!(emi::bytes_of(&snapshot, ORG).unwrap(), 5);
    assert_eq!(store.emi_board_delete(ORG, "b").await.unwrap(), ["r2"]);
    assert_eq!(wanted(&store), ["came", "same"]);
    let again = store.emi_board_delete(ORG, "b").await;
    assert!(matches!(again, Err(EmiError::NotFound)));
    assert_eq!(store.emi_project_delete(OTHER, "p").await.unwrap(), ["rb"]);
    assert_eq!(wanted(&store), ["came"]);
    store.emi_project_delete(ORG, "p").await.unwrap();
    assert_eq!(wanted(&store), [""; 0]);
    let snapshot = store.snapshot().unwrap();
    assert!(projects::by_id(&snapshot, ORG, "p").unwrap().is_none());
    assert!(runs::by_id(&snapshot, ORG, "rb").unwrap().is_none());
    assert!(uploads::by_key(&snapshot, "k").unwrap().is_none());
}

#[tokio::test]
async fn nothing_is_added_to_what_is_not_there() {
    let store = stage().await;
    let absent = store.emi_upload_add(upload("k", ORG, "q", 99), 5).await;
    assert!(matches!(absent, Err(EmiError::NotFound)));
    let absent = store.emi_run_add(run(ORG, "r", "b"), QUEUE).await;
    assert!(matches!(absent, Err(EmiError::NotFound)));
    let mut astray = board(ORG, "b", file("x", 1));
    astray.project = "q".into();
    let run = run(ORG, "r", "b");
    let absent = store.emi_board_add(astray, run, ROOM, ("none", 0)).await;
    assert!(matches!(absent, Err(EmiError::NotFound)));
    let absent = store.emi_upload_received("k", file("x", 1), 1, 1).await;
    assert!(matches!(absent, Err(EmiError::NotFound)));
    // A run that was deleted while it ran leaves nothing.
    let late = store
        .emi_run_end(ORG, "r", done(&[("x", 1)]), 1, 1000)
        .await;
    assert!(late.unwrap().is_none());
    assert_eq!(wanted(&store), [""; 0]);
}

#[tokio::test]
async fn bounds_hold_by_organisation_and_equal_bytes_count_once() {
    let store = stage().await;
    store.emi_project_add(project(ORG, "p2"), 2).await.unwrap();
    let full = store.emi_project_add(project(ORG, "p3"), 2).await;
    assert!(matches!(
        full,
        Err(EmiError::TooMany {
            what: Counted::Projects,
            max: 2
        })
    ));
    add(&store, ORG, "b1", file("x", 600)).await.unwrap();
    add(&store, ORG, "b2", file("x", 600)).await.unwrap();
    let full = add(&store, ORG, "b3", file("y", 401)).await;
    assert!(matches!(full, Err(EmiError::Bytes { max: 1000 })));
    add(&store, OTHER, "b3", file("y", 401)).await.unwrap();
    let full = store
        .emi_run_end(ORG, "rb1", done(&[("z", 401)]), 1, 1000)
        .await;
    assert!(matches!(full, Err(EmiError::Bytes { .. })));
    let kept = store
        .emi_run_end(ORG, "rb1", done(&[("z", 400)]), 1, 1000)
        .await;
    assert_eq!(kept.unwrap().unwrap().status, Status::Done);
    let usage = emi::usage(&store.snapshot().unwrap()).unwrap();
    assert_eq!((usage[ORG].boards, usage[ORG].bytes()), (2, 1000));
    // Those that are of no use any more count for nothing.
    store
        .emi_upload_add(upload("k1", ORG, "p", 9), 1)
        .await
        .unwrap();
    store
        .emi_upload_add(upload("k2", ORG, "p", 99), 1)
        .await
        .unwrap();
    let full = store.emi_upload_add(upload("k3", ORG, "p", 99), 1).await;
    assert!(matches!(
        full,
        Err(EmiError::TooMany {
            what: Counted::Uploads,
            ..
        })
    ));
    for (queue, expected) in [
        (
            Queue {
                runs_max: 2,
                ..QUEUE
            },
            Counted::Runs,
        ),
        (
            Queue {
                waiting_per_org_max: 1,
                ..QUEUE
            },
            Counted::WaitingOfOrg,
        ),
        (
            Queue {
                waiting_max: 2,
                ..QUEUE
            },
            Counted::Waiting,
        ),
    ] {
        let full = store.emi_run_add(run(ORG, "r9", "b1"), queue).await;
        assert!(matches!(full, Err(EmiError::TooMany { what, .. }) if what == expected));
    }
}

#[tokio::test]
async fn what_became_a_board_soon_leaves_the_place_of_its_upload() {
    let store = stage().await;
    let first = store.emi_upload_add(upload("k1", ORG, "p", 99), 1);
    first.await.unwrap();
    let run = run(ORG, "rb", "b");
    let board = board(ORG, "b", file("x", 1));
    let added = store.emi_board_add(board, run, ROOM, ("k1", 9));
    added.await.unwrap();
    let second = store.emi_upload_add(upload("k2", ORG, "p", 99), 1);
    second.await.unwrap();
    // One that is kept for less time is not kept for more.
    let run = self::run(ORG, "rb2", "b2");
    let board = self::board(ORG, "b2", file("x", 1));
    let added = store.emi_board_add(board, run, ROOM, ("k2", 1000));
    added.await.unwrap();
    let snapshot = store.snapshot().unwrap();
    let kept = |key| uploads::by_key(&snapshot, key).unwrap();
    assert!(kept("k1").is_none());
    assert_eq!(kept("k2").unwrap().kept_until_ms, 99);
}

#[tokio::test]
async fn a_restart_finds_what_was_caught() {
    let store = stage().await;
    add(&store, ORG, "b", file("x", 1)).await.unwrap();
    for (id, status, attempts) in [
        ("r1", Status::InProgress, 1),
        ("r2", Status::InProgress, 2),
        ("r3", Status::Stopping, 1),
        ("r4", Status::RetryPending, 9),
    ] {
        store.emi_run_add(run(ORG, id, "b"), QUEUE).await.unwrap();
        let changed = store.emi_run_change(ORG, id, move |run| {
            (run.status, run.attempts) = (status, attempts);
            Ok::<_, ()>(())
        });
        changed.await.unwrap().unwrap().unwrap();
    }
    let failure = |code: &str| Failure {
        code: code.into(),
        message: String::new(),
    };
    let recover = async || {
        let waiting = store.emi_runs_recover(2, 5, failure("often"), failure("stopped"));
        let ids = waiting.await.unwrap().into_iter().map(|run| run.id);
        ids.collect::<Vec<_>>()
    };
    assert_eq!(recover().await, ["r1", "r4", "rb"]);
    assert_eq!(recover().await, ["r1", "r4", "rb"]);
    let snapshot = store.snapshot().unwrap();
    for (id, status, code) in [
        ("r1", Status::RetryPending, None),
        ("r2", Status::Failed, Some("often")),
        ("r3", Status::Failed, Some("stopped")),
    ] {
        let run = runs::by_id(&snapshot, ORG, id).unwrap().unwrap();
        let found = run.error.as_ref().map(|error| error.code.as_str());
        assert_eq!((run.status, found), (status, code));
    }
}

#[tokio::test]
async fn old_boards_go_unless_something_runs() {
    let store = stage().await;
    add(&store, ORG, "b1", file("x", 1)).await.unwrap();
    add(&store, ORG, "b2", file("y", 1)).await.unwrap();
    store
        .emi_run_end(ORG, "rb1", done(&[]), 1, 1000)
        .await
        .unwrap()
        .unwrap();
    store
        .emi_upload_add(upload("k", ORG, "p", 20), 5)
        .await
        .unwrap();
    assert_eq!(store.emi_forget(5, 20).await.unwrap(), (0, 0));
    assert_eq!(store.emi_forget(6, 21).await.unwrap(), (1, 1));
    assert_eq!(wanted(&store), ["y"]);
}

#[tokio::test]
async fn a_file_of_the_version_before_opens_and_gets_the_tables() {
    let dir = TempDir::new().unwrap();
    let store = Store::open(dir.path(), 4).unwrap();
    let org = Org {
        id: ORG.into(),
        name: "acme".into(),
        created_ms: 1,
        trusted_refs: Vec::new(),
    };
    store.org_ensure(org).await.unwrap();
    store.close().await.unwrap();
    let path = dir.path().join(folder::STORE);
    let file_of = std::fs::File::options().read(true).write(true).open(&path);
    let database = builder(1 << 20).create_file(file_of.unwrap()).unwrap();
    let txn = database.begin_write().unwrap();
    for table in emi::TABLES {
        txn.delete_table(schema::Definition::new(table)).unwrap();
    }
    txn.open_table(schema::META)
        .unwrap()
        .insert("schema_version", 8)
        .unwrap();
    super::super::seal::renew(&txn).unwrap();
    txn.commit().unwrap();
    drop(database);
    // Looked at, as by a check or a backup, it has no boards.
    let looked = super::super::look(&path).unwrap();
    assert!(emi::usage(&looked.snapshot().unwrap()).unwrap().is_empty());
    drop(looked);
    let store = Store::open(dir.path(), 4).unwrap();
    assert_eq!(store.read(orgs::all).await.unwrap()[0].name, "acme");
    store.emi_project_add(project(ORG, "p"), 1).await.unwrap();
    add(&store, ORG, "b", file("x", 1)).await.unwrap();
    assert_eq!(wanted(&store), ["x"]);
}
