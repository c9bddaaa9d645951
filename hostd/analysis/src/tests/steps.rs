//! What becomes of runs: done, failed, stopped, once more.

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_board_is_read_and_what_was_read_is_told() {
    let stage = Stage::new().await;
    let (board, run) = stage.board(ORG, "board", "SCK MISO").await.unwrap();
    assert_eq!((run.kind, run.status), (Kind::Ingest, Status::New));
    assert_eq!((&board.ingest_run, &board.facts), (&run.id, &None));
    let run = stage.ended(ORG, &run.id).await;
    assert_eq!((run.status, run.attempts), (Status::Done, 1));
    assert_eq!(
        (run.progress.stage.as_str(), run.progress.pct),
        ("read", 100)
    );
    assert_eq!(run.summary.unwrap()["critical"], 1);
    assert!(run.started_ms.is_some() && run.finished_ms.is_some() && run.error.is_none());
    let board = stage.analysis.board(ORG, &board.id).await.unwrap();
    assert_eq!(board.facts.unwrap().layer_count, 4);
    let asked = stage.ask(ORG, &board.id, "compliance").await.unwrap();
    assert_eq!(stage.ended(ORG, &asked.id).await.status, Status::Done);
    // An end is counted a moment after it is stored.
    while stage.analysis.figures().ended.len() < 2 {
        tokio::task::yield_now().await;
    }
    let ended = &stage.analysis.figures().ended;
    assert_eq!(ended[&("ingest", "done")], 1);
    assert_eq!(ended[&("compliance", "done")], 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_way_to_fail_has_its_word() {
    let stage = Stage::new().await;
    let cases = [
        ("bad", Status::Failed, "refused"),
        ("slow", Status::TimedOut, "timed_out"),
        ("panic", Status::Failed, "internal"),
    ];
    for (name, status, code) in cases {
        let (_, run) = stage.board(ORG, name, name).await.unwrap();
        let run = stage.ended(ORG, &run.id).await;
        let error = run.error.unwrap();
        assert_eq!((run.status, error.code.as_str()), (status, code));
        assert!(!error.message.is_empty() && run.artifacts.is_empty());
        let stopped = stage.analysis.stop_run(ORG, &run.id).await;
        assert!(matches!(stopped, Err(Error::Finished)));
        // It can be asked for again, as often as somebody likes.
        let again = stage.analysis.retry_run(ORG, &run.id).await.unwrap();
        assert_eq!((again.status, again.attempts), (Status::RetryPending, 0));
        assert_eq!((again.error, again.finished_ms), (None, None));
        assert_eq!(stage.ended(ORG, &run.id).await.attempts, 1);
    }
    let (_, run) = stage.board(ORG, "board", "done").await.unwrap();
    stage.ended(ORG, &run.id).await;
    let again = stage.analysis.retry_run(ORG, &run.id).await;
    assert!(matches!(again, Err(Error::NotRetryable)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_stopped_while_it_waits_and_while_it_runs() {
    let stage = Stage::with(EmiConfig {
        running_max: 1,
        ..EmiConfig::default()
    })
    .await;
    let (_, running) = stage.board(ORG, "hold", "1").await.unwrap();
    let script = stage.script.clone();
    blocking(move || script.wait_for(1)).await;
    let seen = stage.analysis.run(ORG, &running.id).await.unwrap();
    assert_eq!((seen.status, seen.progress.pct), (Status::InProgress, 10));
    let retried = stage.analysis.retry_run(ORG, &running.id).await;
    assert!(matches!(retried, Err(Error::NotRetryable)));
    let (_, waiting) = stage.board(ORG, "board", "2").await.unwrap();
    stage.analysis.stop_run(ORG, &waiting.id).await.unwrap();
    let stopped = stage.ended(ORG, &waiting.id).await;
    assert_eq!(stopped.error.unwrap().code, "stopped");
    let stopping = stage.analysis.stop_run(ORG, &running.id).await.unwrap();
    assert_eq!(stopping.status, Status::Stopping);
    let stopped = stage.ended(ORG, &running.id).await;
    assert_eq!(stopped.status, Status::Failed);
    assert_eq!(stopped.error.unwrap().code, "stopped");
    // The place is free, and the run that was stopped while it waited never began.
    let again = stage.analysis.retry_run(ORG, &waiting.id).await.unwrap();
    assert_eq!(stage.ended(ORG, &again.id).await.status, Status::Done);
    assert_eq!(stage.script.begun(), ["1", "2"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_has_come_to_its_end_is_not_stopped_any_more() {
    let stage = Stage::new().await;
    let (_, run) = stage.board(ORG, "gate", "1").await.unwrap();
    let script = stage.script.clone();
    blocking(move || script.wait_for(1)).await;
    // It has found everything, and its end cannot be stored yet.
    let turn = stage.blobs.turn().await;
    stage.script.let_through(1);
    while stage.analysis.places.taken() > 0 {
        tokio::task::yield_now().await;
    }
    let stopping = stage.analysis.stop_run(ORG, &run.id).await.unwrap();
    assert_eq!(stopping.status, Status::Stopping);
    let again = stage.analysis.retry_run(ORG, &run.id).await;
    assert!(matches!(again, Err(Error::NotRetryable)));
    drop(turn);
    let run = stage.ended(ORG, &run.id).await;
    assert_eq!((run.status, run.artifacts.len()), (Status::Done, 1));
    let late = stage.analysis.stop_run(ORG, &run.id).await;
    assert!(matches!(late, Err(Error::Finished)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_that_was_stopped_does_not_begin_what_was_asked_for_again() {
    let stage = Stage::idle(EmiConfig::default()).await;
    let analysis = &stage.analysis;
    let (_, run) = stage.board(ORG, "board", "x").await.unwrap();
    // It has a place, and is about to begin.
    let _first = analysis.attended.begin(&run.id, 1);
    let _stopped = analysis.attended.start(&run.id, 1).unwrap().unwrap();
    analysis.stop_run(ORG, &run.id).await.unwrap();
    let again = analysis.retry_run(ORG, &run.id).await.unwrap();
    assert_eq!(again.status, Status::RetryPending);
    let begun = analysis.begin_run(ORG, &run.id, 1).await.unwrap();
    assert!(begun.is_none(), "a stopped task has begun it");
    let _second = analysis.attended.begin(&run.id, 2);
    let begun = analysis.begin_run(ORG, &run.id, 1).await.unwrap();
    assert!(begun.is_none(), "an earlier task has begun it");
    let begun = analysis.begin_run(ORG, &run.id, 2).await.unwrap();
    assert!(begun.is_some());
    let begun = analysis.run(ORG, &run.id).await.unwrap();
    assert_eq!((begun.status, begun.attempts), (Status::InProgress, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deleting_takes_runs_and_files_along_and_leaves_what_others_have() {
    let stage = Stage::new().await;
    let (kept, run) = stage.board(ORG, "board", "same").await.unwrap();
    stage.ended(ORG, &run.id).await;
    let (_, run) = stage.board(OTHER, "board", "same").await.unwrap();
    stage.ended(OTHER, &run.id).await;
    // One file of the board, one of what was found.
    assert_eq!(stage.files(), 2);
    let (gone, held) = stage.board(ORG, "hold", "other").await.unwrap();
    let script = stage.script.clone();
    blocking(move || script.wait_for(3)).await;
    stage.analysis.delete_board(ORG, &gone.id).await.unwrap();
    let missing = stage.analysis.run(ORG, &held.id).await;
    assert!(matches!(missing, Err(Error::NotFound)));
    // The place of the run that was stopped is free.
    while stage.analysis.places.taken() > 0 {
        tokio::task::yield_now().await;
    }
    let project = stage.project(ORG).await;
    stage.analysis.delete_project(ORG, &project).await.unwrap();
    let missing = stage.analysis.board(ORG, &kept.id).await;
    assert!(matches!(missing, Err(Error::NotFound)));
    assert_eq!(stage.files(), 2, "the other organisation has them");
    let project = stage.project(OTHER).await;
    stage
        .analysis
        .delete_project(OTHER, &project)
        .await
        .unwrap();
    assert_eq!(stage.files(), 0);
    // Nor does anything go on for it.
    while stage.analysis.attended.has(&held.id) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_asked_is_checked_before_it_waits() {
    let stage = Stage::new().await;
    let (board, _) = stage.board(ORG, "board", "x").await.unwrap();
    let solve = stage.ask(ORG, &board.id, "solve").await;
    assert!(matches!(solve, Err(Error::NotOffered { kind: "solve" })));
    let unknown = stage.ask(ORG, &board.id, "magic").await;
    assert!(matches!(unknown, Err(Error::Invalid { field: "kind", .. })));
    let project = stage.project(ORG).await;
    let ask = async |params: Value| {
        let params = params.as_object().unwrap().clone();
        let of = (project.as_str(), board.id.as_str());
        let asked = stage.analysis.create_run(ORG, "user", of, "ingest", params);
        asked.await
    };
    for bad in [
        json!({"rules": {"plane-gap": {"params": {"no_such": 1}}, "no": 3}}),
        json!({"version": 9}),
        json!({"clocks": [{"net": "x".repeat(20_000), "hz": 1e6, "rise_s": 1e-9}]}),
        json!({"unknown": true}),
        json!({"epsilon_r": 4.0, "board": {"epsilon_r": 4.4}}),
    ] {
        let refused = ask(bad.clone()).await;
        assert!(
            matches!(
                refused,
                Err(Error::Invalid {
                    field: "params",
                    ..
                })
            ),
            "{bad}: {refused:?}"
        );
    }
    let good = json!({"clocks": [{"net": "SCK", "hz": 25e6, "rise_s": 1e-9}]});
    ask(good).await.unwrap();
    let twice = json!({"max_frequency_hz": 1e9, "board": {"max_frequency_hz": 2e9}});
    let refused = ask(twice).await.unwrap_err().to_string();
    assert!(refused.contains("`max_frequency_hz`"), "{refused}");
    ask(json!({"max_frequency_hz": 1e9, "board": {"epsilon_r": 4.4}}))
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kind_that_is_not_offered_any_more_is_not_run_again() {
    let stage = Stage::new().await;
    let (board, _) = stage.board(ORG, "bad", "x").await.unwrap();
    let run = stage.ask(ORG, &board.id, "cable").await.unwrap();
    assert_eq!(stage.ended(ORG, &run.id).await.status, Status::Failed);
    // As if there had been a field solver when it was asked for.
    let changed = stage.store.emi_run_change(ORG, &run.id, |run| {
        run.kind = Kind::Solve;
        Ok::<_, ()>(())
    });
    changed.await.unwrap().unwrap().unwrap();
    let refused = stage.analysis.retry_run(ORG, &run.id).await;
    assert!(matches!(refused, Err(Error::NotOffered { kind: "solve" })));
    let left = stage.analysis.run(ORG, &run.id).await.unwrap();
    assert_eq!(left.status, Status::Failed);
    assert_eq!(stage.analysis.figures().refused["not_offered"], 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn to_another_organisation_nothing_is_there() {
    let stage = Stage::new().await;
    let (board, run) = stage.board(ORG, "board", "x").await.unwrap();
    stage.ended(ORG, &run.id).await;
    let (project, elsewhere) = (stage.project(ORG).await, stage.project(OTHER).await);
    let (analysis, page) = (&stage.analysis, Page::default);
    let missing =
        |result: Result<(), Error>| assert!(matches!(result, Err(Error::NotFound)), "{result:?}");
    missing(analysis.project(OTHER, &project).await.map(drop));
    missing(analysis.delete_project(OTHER, &project).await);
    missing(analysis.boards(OTHER, &project, page()).await.map(drop));
    missing(analysis.runs(OTHER, &project, page()).await.map(drop));
    missing(analysis.board(OTHER, &board.id).await.map(drop));
    missing(analysis.delete_board(OTHER, &board.id).await);
    missing(analysis.diff(OTHER, &board.id, &board.id).await.map(drop));
    missing(analysis.run(OTHER, &run.id).await.map(drop));
    missing(analysis.stop_run(OTHER, &run.id).await.map(drop));
    missing(analysis.retry_run(OTHER, &run.id).await.map(drop));
    missing(analysis.artifact(OTHER, &run.id, RULES).await.map(drop));
    let findings = analysis.findings(OTHER, &run.id, Filter::default(), page());
    missing(findings.await.map(drop));
    let begun = analysis.begin_upload(
        OTHER,
        "user",
        &project,
        NewUpload {
            filename: "x".to_owned(),
            ..NewUpload::default()
        },
    );
    missing(begun.await.map(drop));
    missing(stage.ask(OTHER, &board.id, "ingest").await.map(drop));
    // Nor does a board belong to another project of its own organisation.
    let second = stage.make_project(ORG).await.unwrap().id;
    let of = (second.as_str(), board.id.as_str());
    let asked = analysis.create_run(ORG, "user", of, "ingest", Map::new());
    missing(asked.await.map(drop));
    assert!(
        analysis
            .lookup(OTHER, &board.file.sha256)
            .await
            .unwrap()
            .is_none()
    );
    let own = analysis.projects(OTHER, page()).await.unwrap().items;
    assert_eq!(own.len(), 1);
    assert_eq!(own[0].id, elsewhere);
}
