//! What if it dies here: every run that was stored comes to an end after a restart, wherever it was caught.

use store::emi::runs::End;
use store::testing::Disk;

use super::*;

/// A service on what is there.
async fn reopened(
    stage: &Stage,
    store: &Store,
    config: &EmiConfig,
) -> (Arc<Analysis>, Arc<Script>) {
    let script = Arc::<Script>::default();
    let parts = Parts {
        store: store.clone(),
        clock: stage.clock.clone(),
        blobs: stage.blobs.clone(),
        runner: script.clone(),
        arrival_max: ARRIVAL_MAX,
    };
    (Analysis::open(config, parts).await.unwrap(), script)
}

async fn finish(analysis: &Analysis, run: &str) -> Run {
    loop {
        let run = analysis.run(ORG, run).await.unwrap();
        if run.status.is_final() {
            return run;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_crash_caught_waits_again_and_no_more_often_than_it_may() {
    let stage = Stage::new().await;
    let mut runs = Vec::new();
    for (status, attempts) in [
        (Status::New, 0),
        (Status::InProgress, 1),
        (Status::InProgress, 3),
        (Status::Stopping, 1),
        (Status::Done, 1),
    ] {
        let (_, run) = stage.board(ORG, "board", status.name()).await.unwrap();
        stage.ended(ORG, &run.id).await;
        let changed = stage.store.emi_run_change(ORG, &run.id, move |run| {
            run.status = status;
            run.attempts = attempts;
            Ok::<_, ()>(())
        });
        changed.await.unwrap().unwrap().unwrap();
        runs.push(run.id);
    }
    let (again, script) = reopened(&stage, &stage.store, &EmiConfig::default()).await;
    assert_eq!(again.run(ORG, &runs[0]).await.unwrap().status, Status::New);
    again.settle_in().await.unwrap();
    let expected = [
        (Status::Done, 1, ""),
        (Status::Done, 2, ""),
        (Status::Failed, 3, "interrupted"),
        (Status::Failed, 1, "stopped"),
        (Status::Done, 1, ""),
    ];
    for (id, (status, attempts, code)) in runs.iter().zip(expected) {
        let run = finish(&again, id).await;
        let error = run.error.map(|error| error.code).unwrap_or_default();
        assert_eq!(
            (run.status, run.attempts, error.as_str()),
            (status, attempts, code)
        );
    }
    assert_eq!(script.begun().len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_stops_puts_runs_back_as_if_they_had_not_begun() {
    let config = EmiConfig {
        running_max: 1,
        ..EmiConfig::default()
    };
    let stage = Stage::with(config.clone()).await;
    let (_, running) = stage.board(ORG, "hold", "1").await.unwrap();
    let script = stage.script.clone();
    blocking(move || script.wait_for(1)).await;
    let (board, waiting) = stage.board(ORG, "board", "2").await.unwrap();
    stage.analysis.stop().await;
    let refused = stage.ask(ORG, &board.id, "ingest").await;
    assert!(matches!(refused, Err(Error::Stopping)));
    let caught = stage.analysis.run(ORG, &running.id).await.unwrap();
    assert_eq!((caught.status, caught.attempts), (Status::RetryPending, 0));
    let caught = stage.analysis.run(ORG, &waiting.id).await.unwrap();
    assert_eq!(caught.status, Status::New);
    let (again, script) = reopened(&stage, &stage.store, &config).await;
    again.settle_in().await.unwrap();
    blocking(move || script.wait_for(1)).await;
    again.stop_run(ORG, &running.id).await.unwrap();
    assert_eq!(finish(&again, &running.id).await.status, Status::Failed);
    assert_eq!(finish(&again, &waiting.id).await.status, Status::Done);
}

/// What a server does from an upload to the end of a run, and what of it was promised.
async fn a_run(stage: &Stage, analysis: &Arc<Analysis>) -> Result<(String, String), Error> {
    let project = analysis
        .create_project(ORG, "user", "p", SourceKind::Kicad)
        .await?;
    let new = NewUpload {
        filename: "board".to_owned(),
        ..NewUpload::default()
    };
    let begun = analysis.begin_upload(ORG, "user", &project.id, new).await?;
    let staged = stage.blobs.write(b"SCK").unwrap();
    let signed = begun.signed.unwrap();
    analysis.keep(&begun.key, &signed, &staged).await?;
    let (board, run) = analysis
        .create_board(ORG, "user", &project.id, &begun.key, None)
        .await?;
    Ok((board.id, run.id))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whenever_the_power_fails_a_board_that_was_promised_is_read() {
    let config = EmiConfig::default();
    let stage = Stage::idle(config.clone()).await;
    // How many changes of the disk all of it takes.
    let whole = Disk::default();
    let before = whole.open().unwrap();
    let opened = whole.changes();
    let (analysis, _) = reopened(&stage, &before, &config).await;
    analysis.settle_in().await.unwrap();
    let (_, run) = a_run(&stage, &analysis).await.unwrap();
    assert_eq!(finish(&analysis, &run).await.status, Status::Done);
    let changes = whole.changes() - opened;
    assert!(changes > 10, "{changes}");
    let mut read = 0;
    for fails_after in (0..=changes).step_by(3) {
        let disk = Disk::default();
        let store = disk.open().unwrap();
        let (analysis, _) = reopened(&stage, &store, &config).await;
        analysis.settle_in().await.unwrap();
        disk.fail_after(Some(fails_after));
        let promised = a_run(&stage, &analysis).await;
        // As far as it comes: its end may not be stored.
        while analysis.attended.waiting() > 0 || analysis.places.taken() > 0 {
            tokio::task::yield_now().await;
        }
        let store = disk
            .after_power_loss(u64::from(fails_after) + 1)
            .open()
            .unwrap();
        let (again, _) = reopened(&stage, &store, &config).await;
        again.settle_in().await.unwrap();
        let Ok((board, run)) = promised else { continue };
        let run = finish(&again, &run).await;
        assert_eq!(
            (run.status, run.artifacts.len()),
            (Status::Done, 1),
            "{fails_after}"
        );
        assert!(stage.blobs.path(&run.artifacts[0].file.sha256).is_file());
        assert!(again.board(ORG, &board).await.unwrap().facts.is_some());
        read += 1;
    }
    assert!(read > 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_has_ended_is_not_ended_again() {
    let stage = Stage::new().await;
    let (_, run) = stage.board(ORG, "board", "x").await.unwrap();
    stage.ended(ORG, &run.id).await;
    let late = End::Failed(failure("crashed", "late"));
    let progress = Progress::default();
    let ended = stage
        .store
        .emi_run_end(ORG, &run.id, (late, progress), 1, 1 << 30);
    assert!(ended.await.unwrap().is_none());
    assert_eq!(stage.ended(ORG, &run.id).await.status, Status::Done);
}
