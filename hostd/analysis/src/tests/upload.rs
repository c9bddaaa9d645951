//! Bytes on their way in: who may send them, which, and how many.

use super::*;
use crate::link::GOOD_S;

fn new(filename: &str, sha256: Option<&str>) -> NewUpload {
    NewUpload {
        filename: filename.to_owned(),
        sha256: sha256.map(str::to_owned),
        ..NewUpload::default()
    }
}

/// SHA-256 of `abc`, FIPS 180-2 appendix B.1.
const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_come_by_signature_alone_and_only_those_that_were_said() {
    let stage = Stage::new().await;
    let project = stage.project(ORG).await;
    let zeros = "0".repeat(64);
    let begun = stage
        .analysis
        .begin_upload(ORG, "ada", &project, new("a.kicad_pcb", Some(ABC)));
    let begun = begun.await.unwrap();
    assert_eq!((begun.already_uploaded, begun.key.len()), (false, 32));
    let signed = begun.signed.unwrap();
    let admitted = stage.analysis.admit(&begun.key, &signed).await.unwrap();
    assert_eq!(
        (admitted.org.as_str(), admitted.user.as_str()),
        (ORG, "ada")
    );
    assert_eq!(admitted.bytes_max, 200 << 20);
    let wrong = stage.blobs.write(b"abd").unwrap();
    let refused = stage.analysis.keep(&begun.key, &signed, &wrong).await;
    assert!(matches!(refused, Err(Error::WrongDigest)));
    let early = stage
        .analysis
        .create_board(ORG, "ada", &project, &begun.key, None)
        .await;
    assert!(matches!(early, Err(Error::NotReceived)));
    for _ in 0..2 {
        let staged = stage.blobs.write(b"abc").unwrap();
        let kept = stage
            .analysis
            .keep(&begun.key, &signed, &staged)
            .await
            .unwrap();
        assert_eq!((kept.sha256.as_str(), kept.size_bytes), (ABC, 3));
    }
    let other = stage
        .analysis
        .create_board(ORG, "ada", &project, &begun.key, Some(&zeros));
    assert!(matches!(other.await, Err(Error::WrongDigest)));
    let elsewhere = stage.project(OTHER).await;
    let stolen = stage
        .analysis
        .create_board(OTHER, "eve", &elsewhere, &begun.key, None)
        .await;
    assert!(matches!(stolen, Err(Error::NotReceived)));
    let made = stage
        .analysis
        .create_board(ORG, "ada", &project, &begun.key, Some(ABC));
    assert_eq!(made.await.unwrap().0.file.sha256, ABC);
    // A key that nobody signed, or whose time is over.
    let forged = stage.analysis.admit("x", &signed).await;
    assert!(matches!(forged, Err(Error::Signature)));
    stage.hand.advance_ms(20 * 60 * 1000);
    let late = stage.analysis.admit(&begun.key, &signed).await;
    assert!(matches!(late, Err(Error::Signature)));
    let late = stage.analysis.keep(&begun.key, &signed, &wrong).await;
    assert!(matches!(late, Err(Error::Signature)));
    // Of the bytes that came, and of the board that was to be made of them.
    assert_eq!(stage.analysis.figures().refused["digest"], 2);
    // Two addresses that were shown too late or for another key, and bytes that came too late.
    assert_eq!(stage.analysis.figures().refused["signature"], 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_that_began_to_come_in_time_are_kept() {
    let stage = Stage::new().await;
    let (analysis, project) = (&stage.analysis, stage.project(ORG).await);
    let begin = || analysis.begin_upload(ORG, "ada", &project, new("a.kicad_pcb", None));
    let begun = begin().await.unwrap();
    let (key, signed) = (begun.key, begun.signed.unwrap());
    analysis.admit(&key, &signed).await.unwrap();
    stage.hand.advance_ms(GOOD_S * 1000 + 1000);
    let late = analysis.admit(&key, &signed).await;
    assert!(matches!(late, Err(Error::Signature)));
    let rest = ARRIVAL_MAX - Duration::from_secs(1);
    stage.hand.advance_ms(rest.as_millis().try_into().unwrap());
    // Neither another upload nor the look for old ones takes its place.
    begin().await.unwrap();
    analysis.tidy().await.unwrap();
    analysis.admit_arrived(&key, &signed).await.unwrap();
    let staged = stage.blobs.write(b"abc").unwrap();
    analysis.keep(&key, &signed, &staged).await.unwrap();
    let made = analysis.create_board(ORG, "ada", &project, &key, None);
    assert_eq!(made.await.unwrap().0.file.sha256, ABC);
    // No body takes longer.
    stage.hand.advance_ms(1000);
    let late = analysis.admit_arrived(&key, &signed).await;
    assert!(matches!(late, Err(Error::Signature)));
    let staged = stage.blobs.write(b"abc").unwrap();
    let late = analysis.keep(&key, &signed, &staged).await;
    assert!(matches!(late, Err(Error::Signature)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_organisation_has_need_not_come_again_and_tells_others_nothing() {
    let stage = Stage::new().await;
    let (board, _) = stage.board(ORG, "board", "abc").await.unwrap();
    let (project, elsewhere) = (stage.project(ORG).await, stage.project(OTHER).await);
    let again = stage
        .analysis
        .begin_upload(ORG, "ada", &project, new("b", Some(ABC)));
    let again = again.await.unwrap();
    assert!(again.already_uploaded && again.signed.is_none());
    let second = stage
        .analysis
        .create_board(ORG, "ada", &project, &again.key, None)
        .await;
    assert_eq!(second.unwrap().0.file, board.file);
    let blind = stage
        .analysis
        .begin_upload(OTHER, "eve", &elsewhere, new("b", Some(ABC)));
    assert!(!blind.await.unwrap().already_uploaded);
    // A file that is gone from the disk is asked for.
    std::fs::remove_file(stage.blobs.path(ABC)).unwrap();
    let gone = stage
        .analysis
        .create_board(ORG, "ada", &project, &again.key, None)
        .await;
    assert!(matches!(gone, Err(Error::NotReceived)));
    let again = stage
        .analysis
        .begin_upload(ORG, "ada", &project, new("b", Some(ABC)));
    assert!(!again.await.unwrap().already_uploaded);
}

/// What is wrong with an upload of this, as the field that is named.
async fn refused_field(stage: &Stage, project: &str, upload: NewUpload) -> &'static str {
    let begun = stage.analysis.begin_upload(ORG, "ada", project, upload);
    match begun.await {
        Err(Error::Invalid { field, .. }) => field,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_and_digests_are_checked() {
    let stage = Stage::with(EmiConfig::default()).await;
    let project = stage.project(ORG).await;
    let long = "x".repeat(201);
    for bad in ["", "  ", "a\nb", &long] {
        let field = refused_field(&stage, &project, new(bad, None)).await;
        assert_eq!(field, "filename", "{bad:?}");
        let refused = stage
            .analysis
            .create_project(ORG, "ada", bad, SourceKind::Gerber)
            .await;
        let is_named = matches!(refused, Err(Error::Invalid { field: "name", .. }));
        assert!(is_named, "{bad:?}");
    }
    let upper = ABC.to_uppercase();
    for bad in ["", "xyz", &ABC[1..], &upper] {
        let field = refused_field(&stage, &project, new("a", Some(bad))).await;
        assert_eq!(field, "sha256", "{bad}");
        let refused = stage.analysis.lookup(ORG, bad).await;
        let field = matches!(
            refused,
            Err(Error::Invalid {
                field: "sha256",
                ..
            })
        );
        assert!(field, "{bad}");
    }
    let split = NewUpload {
        content_type: Some("text/html\r\nx: y".to_owned()),
        ..new("a", None)
    };
    let field = refused_field(&stage, &project, split).await;
    assert_eq!(field, "content_type");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sizes_are_checked() {
    let stage = Stage::with(EmiConfig {
        upload_mib_max: 1,
        ..EmiConfig::default()
    })
    .await;
    let project = stage.project(ORG).await;
    let of_size = |size| NewUpload {
        size_bytes: Some(size),
        ..new("a", None)
    };
    let large = of_size((1 << 20) + 1);
    let refused = stage
        .analysis
        .begin_upload(ORG, "ada", &project, large)
        .await;
    assert!(matches!(refused, Err(Error::TooLarge { max: 1_048_576 })));
    let refused = stage.upload(ORG, "a", &"x".repeat((1 << 20) + 1)).await;
    assert!(matches!(refused, Err(Error::TooLarge { .. })));
    let begun = stage
        .analysis
        .begin_upload(ORG, "ada", &project, of_size(7))
        .await
        .unwrap();
    let admitted = stage
        .analysis
        .admit(&begun.key, &begun.signed.unwrap())
        .await;
    assert_eq!(admitted.unwrap().bytes_max, 7);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_becomes_no_board_goes_and_old_boards_do() {
    let stage = Stage::with(EmiConfig {
        keep_days: 2,
        ..EmiConfig::default()
    })
    .await;
    let key = stage.upload(ORG, "a", "never a board").await.unwrap();
    let (board, run) = stage.board(ORG, "board", "x").await.unwrap();
    stage.ended(ORG, &run.id).await;
    assert_eq!(stage.files(), 3);
    stage.hand.advance_ms(25 * 3_600_000);
    stage.analysis.tidy().await.unwrap();
    assert_eq!(stage.files(), 2);
    let project = stage.project(ORG).await;
    let late = stage
        .analysis
        .create_board(ORG, "ada", &project, &key, None)
        .await;
    assert!(matches!(late, Err(Error::NotReceived)));
    stage.hand.advance_ms(24 * 3_600_000);
    stage.analysis.tidy().await.unwrap();
    let gone = stage.analysis.board(ORG, &board.id).await;
    assert!(matches!(gone, Err(Error::NotFound)));
    assert_eq!(stage.files(), 0);
    stage.analysis.project(ORG, &project).await.unwrap();
}
