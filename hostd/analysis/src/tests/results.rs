//! What was found: pages, differences, artifacts behind signed addresses, lists.

use super::*;

async fn found(stage: &Stage, run: &str, filter: Filter, limit: usize) -> Vec<Vec<String>> {
    let (mut pages, mut cursor) = (Vec::new(), None);
    loop {
        let page = Page { limit, cursor };
        let listed = stage
            .analysis
            .findings(ORG, run, filter.clone(), page)
            .await
            .unwrap();
        let net = |finding: &Value| finding["net"].as_str().unwrap().to_owned();
        pages.push(listed.items.iter().map(net).collect());
        cursor = listed.next;
        if cursor.is_none() {
            return pages;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn findings_come_in_pages_and_by_what_they_are() {
    let stage = Stage::new().await;
    let (_, run) = stage.board(ORG, "board", "a b c d e").await.unwrap();
    stage.ended(ORG, &run.id).await;
    let all = Filter::default();
    assert_eq!(
        found(&stage, &run.id, all.clone(), 2).await,
        [vec!["a", "b"], vec!["c", "d"], vec!["e"]]
    );
    assert_eq!(found(&stage, &run.id, all, 5).await.len(), 1);
    let critical = Filter {
        severity: Some("critical".to_owned()),
        ..Filter::default()
    };
    assert_eq!(
        found(&stage, &run.id, critical.clone(), 2).await,
        [vec!["a", "c"], vec!["e"]]
    );
    let of_net = Filter {
        net: Some("c".to_owned()),
        rule: Some("plane-gap".to_owned()),
        ..critical
    };
    assert_eq!(found(&stage, &run.id, of_net, 50).await, [["c"]]);
    let none = Filter {
        rule: Some("stackup".to_owned()),
        ..Filter::default()
    };
    assert_eq!(found(&stage, &run.id, none, 50).await, [[""; 0]]);
    let page = Page {
        limit: 1,
        cursor: Some("x".to_owned()),
    };
    let bad = stage
        .analysis
        .findings(ORG, &run.id, Filter::default(), page)
        .await;
    assert!(matches!(
        bad,
        Err(Error::Invalid {
            field: "cursor",
            ..
        })
    ));
    let (_, failed) = stage.board(ORG, "bad", "x").await.unwrap();
    stage.ended(ORG, &failed.id).await;
    let none = stage
        .analysis
        .findings(ORG, &failed.id, Filter::default(), Page::default());
    assert!(matches!(none.await, Err(Error::NotReady)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn boards_are_compared_once_both_are_read() {
    let stage = Stage::new().await;
    let (old, run) = stage.board(ORG, "board", "a b").await.unwrap();
    stage.ended(ORG, &run.id).await;
    let (new, run) = stage.board(ORG, "board", "b c").await.unwrap();
    stage.ended(ORG, &run.id).await;
    let diff = stage.analysis.diff(ORG, &new.id, &old.id).await.unwrap();
    let of = |net: &emi::StoredFinding| net.net.clone();
    let fresh: Vec<String> = diff.new.iter().map(|change| of(&change.finding)).collect();
    let gone: Vec<String> = diff.gone.iter().map(|change| of(&change.finding)).collect();
    let kept: Vec<String> = diff.kept.iter().map(|kept| of(&kept.finding)).collect();
    assert_eq!(
        (fresh, gone, kept),
        (
            vec!["c".to_owned()],
            vec!["a".to_owned()],
            vec!["b".to_owned()],
        )
    );
    let (unread, run) = stage.board(ORG, "bad", "x").await.unwrap();
    stage.ended(ORG, &run.id).await;
    let early = stage.analysis.diff(ORG, &new.id, &unread.id).await;
    assert!(matches!(early, Err(Error::NotReady)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_artifact_is_fetched_by_its_signature() {
    let stage = Stage::new().await;
    let (_, run) = stage.board(ORG, "board", "a").await.unwrap();
    stage.ended(ORG, &run.id).await;
    let (artifact, signed) = stage.analysis.artifact(ORG, &run.id, RULES).await.unwrap();
    assert_eq!(artifact.content_type, "application/json");
    let fetched = stage.analysis.fetch(ORG, &run.id, RULES, &signed).await;
    let (artifact, mut parts) = fetched.unwrap();
    let mut bytes = Vec::new();
    while let Some(part) = parts.recv().await {
        bytes.extend_from_slice(&part.unwrap());
    }
    assert_eq!(bytes, rules("a").into_bytes());
    assert_eq!(artifact.file.size_bytes, bytes.len() as u64);
    for (org, run, name) in [
        (OTHER, run.id.as_str(), RULES),
        (ORG, "x", RULES),
        (ORG, &run.id, "x"),
    ] {
        let refused = stage
            .analysis
            .fetch(org, run, name, &signed)
            .await
            .map(drop);
        assert!(
            matches!(refused, Err(Error::Signature)),
            "{org} {run} {name}"
        );
    }
    let none = stage.analysis.artifact(ORG, &run.id, "no").await.map(drop);
    assert!(matches!(none, Err(Error::NotFound)));
    let (board, project) = (run.board.clone(), stage.project(ORG).await);
    stage.analysis.delete_board(ORG, &board).await.unwrap();
    let gone = stage
        .analysis
        .fetch(ORG, &run.id, RULES, &signed)
        .await
        .map(drop);
    assert!(matches!(gone, Err(Error::NotFound)), "{project}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lists_are_newest_first_by_page_and_a_board_is_found_by_its_bytes() {
    let stage = Stage::new().await;
    let mut boards = Vec::new();
    for name in ["board", "board", "bad"] {
        let (board, run) = stage.board(ORG, name, "same").await.unwrap();
        stage.ended(ORG, &run.id).await;
        boards.push(board);
    }
    boards.reverse();
    let project = stage.project(ORG).await;
    stage.make_project(ORG).await.unwrap();
    let page = |cursor| Page { limit: 2, cursor };
    let first = stage
        .analysis
        .boards(ORG, &project, page(None))
        .await
        .unwrap();
    let second = stage
        .analysis
        .boards(ORG, &project, page(first.next.clone()))
        .await
        .unwrap();
    let ids: Vec<String> = first
        .items
        .into_iter()
        .chain(second.items)
        .map(|b| b.id)
        .collect();
    assert_eq!(
        ids,
        [&boards[0].id, &boards[1].id, &boards[2].id].map(String::clone)
    );
    assert_eq!(second.next, None);
    let runs = stage
        .analysis
        .runs(ORG, &project, page(None))
        .await
        .unwrap();
    assert_eq!(runs.items[0].board, boards[0].id);
    assert!(runs.next.is_some());
    let projects = stage.analysis.projects(ORG, Page::default()).await.unwrap();
    assert_eq!((projects.items.len(), projects.next.is_some()), (1, true));
    // The newest was not read, so the one before it is found.
    let found = stage
        .analysis
        .lookup(ORG, &boards[0].file.sha256)
        .await
        .unwrap()
        .unwrap();
    assert_eq!((found.board.id, found.parsed), (boards[1].id.clone(), true));
    assert_eq!(found.project.id, project);
    stage.analysis.count().await.unwrap();
    let figures = stage.analysis.figures();
    assert_eq!(
        (figures.projects, figures.boards, figures.waiting),
        (2, 3, 0)
    );
    // The same bytes count once.
    let kept = "same".len() + rules("same").len();
    assert_eq!(figures.bytes, kept as u64);
}
