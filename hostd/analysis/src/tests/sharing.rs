//! Who else waits: places, queues and quotas of organisations.

use super::*;

fn one_place() -> EmiConfig {
    EmiConfig {
        running_max: 1,
        ..EmiConfig::default()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_runs_of_one_organisation_do_not_starve_another() {
    let stage = Stage::with(one_place()).await;
    let mut runs = Vec::new();
    for place in 0..10 {
        let (_, run) = stage
            .board(ORG, "gate", &format!("a{place}"))
            .await
            .unwrap();
        runs.push((ORG, run.id));
    }
    let script = stage.script.clone();
    blocking(move || script.wait_for(1)).await;
    let (_, run) = stage.board(OTHER, "gate", "b").await.unwrap();
    runs.push((OTHER, run.id));
    while stage.analysis.figures().waiting < 10 {
        tokio::task::yield_now().await;
    }
    stage.script.let_through(11);
    for (org, run) in &runs {
        assert_eq!(stage.ended(org, run).await.status, Status::Done);
    }
    let order = stage.script.begun();
    let place = order.iter().position(|board| board == "b").unwrap();
    assert!(place <= 2, "{order:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn queues_are_bounded_by_organisation_and_in_all() {
    let stage = Stage::with(EmiConfig {
        queued_per_org_max: 2,
        queued_max: 3,
        ..one_place()
    })
    .await;
    stage.board(ORG, "gate", "running").await.unwrap();
    let script = stage.script.clone();
    blocking(move || script.wait_for(1)).await;
    let (board, _) = stage.board(ORG, "gate", "1").await.unwrap();
    stage.ask(ORG, &board.id, "ingest").await.unwrap();
    let refused = stage.ask(ORG, &board.id, "ingest").await;
    assert!(
        matches!(refused, Err(Error::Busy { max: 2, .. })),
        "{refused:?}"
    );
    let refused = stage.board(ORG, "gate", "2").await.map(drop);
    assert!(
        matches!(refused, Err(Error::Busy { max: 2, .. })),
        "{refused:?}"
    );
    let (board, _) = stage.board(OTHER, "gate", "3").await.unwrap();
    let refused = stage.ask(OTHER, &board.id, "ingest").await;
    assert!(
        matches!(refused, Err(Error::Busy { max: 3, .. })),
        "{refused:?}"
    );
    assert_eq!(stage.analysis.figures().refused["busy"], 3);
    stage.script.let_through(5);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn quotas_hold_and_deleting_makes_room() {
    let stage = Stage::with(EmiConfig {
        projects_max: 2,
        boards_max: 2,
        runs_max: 3,
        quota_mib: 1,
        ..EmiConfig::default()
    })
    .await;
    stage.project(ORG).await;
    let second = stage.make_project(ORG).await.unwrap();
    let third = stage.make_project(ORG).await;
    assert!(matches!(third, Err(Error::Full { max: 2, .. })));
    stage.project(OTHER).await;
    stage
        .analysis
        .delete_project(ORG, &second.id)
        .await
        .unwrap();
    stage.make_project(ORG).await.unwrap();
    let (board, run) = stage.board(ORG, "board", "1").await.unwrap();
    stage.ended(ORG, &run.id).await;
    let (_, run) = stage.board(ORG, "board", "2").await.unwrap();
    stage.ended(ORG, &run.id).await;
    let third = stage.board(ORG, "board", "3").await.map(drop);
    assert!(
        matches!(third, Err(Error::Full { max: 2, .. })),
        "{third:?}"
    );
    let run = stage.ask(ORG, &board.id, "cable").await.unwrap();
    stage.ended(ORG, &run.id).await;
    let more = stage.ask(ORG, &board.id, "cable").await;
    assert!(matches!(more, Err(Error::Full { max: 3, .. })));
    stage.analysis.delete_board(ORG, &board.id).await.unwrap();
    // Nearly all bytes in one upload: it fits, what is found in it does not.
    let word = "x".repeat((1 << 20) - 1000);
    let (_, run) = stage.board(ORG, "board", &word).await.unwrap();
    let run = stage.ended(ORG, &run.id).await;
    assert_eq!(run.error.unwrap().code, "quota");
    let over = stage.upload(ORG, "board", &"y".repeat(1 << 20)).await;
    assert!(matches!(over, Err(Error::Full { max: 1, .. })), "{over:?}");
    stage
        .upload(OTHER, "board", &"y".repeat(1 << 20))
        .await
        .unwrap();
}
