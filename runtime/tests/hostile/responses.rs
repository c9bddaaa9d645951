//! Answers that are not what they claim to be.

use crate::stage::{Stage, options, text};
use runtime::{BadResponse, CallError, ReplyBody};

#[tokio::test]
async fn body_up_to_its_limit_and_not_beyond() {
    let stage = Stage::new(options());
    let limit = options().response_bytes_max;
    let reply = stage.commit(&format!("huge={limit}")).await.unwrap();
    assert_eq!(text(reply).await.len(), limit);
    let error = stage
        .commit(&format!("huge={}", limit + 1))
        .await
        .unwrap_err();
    let CallError::ResponseTooLarge { bytes, bytes_max } = error else {
        panic!("{error:?}");
    };
    assert_eq!((bytes, bytes_max), (limit + 1, limit));
    stage.still_answers().await;
}

#[tokio::test]
async fn nonsense_is_refused() {
    let stage = Stage::new(options());
    for (crime, expected) in [
        ("status=99", "status 99 is not one of 200..=599"),
        ("status=1000", "status 1000 is not one of 200..=599"),
        ("split", "value of header x-a holds a control character"),
    ] {
        let error = stage.commit(crime).await.unwrap_err();
        let CallError::BadResponse(why) = error else {
            panic!("{crime}: {error:?}");
        };
        assert_eq!(why.to_string(), expected);
        stage.still_answers().await;
    }
    assert_eq!(stage.handler.metrics().bad_responses, 3);
}

#[tokio::test]
async fn lies_about_strings_and_handles_are_faults() {
    let stage = Stage::new(options());
    for crime in ["not-utf8", "forged-handle"] {
        let error = stage.commit(crime).await.unwrap_err();
        assert!(
            matches!(error, CallError::Fault { .. }),
            "{crime}: {error:?}"
        );
        stage.still_answers().await;
    }
}

#[tokio::test]
async fn what_is_handed_over_in_one_call_has_a_limit_that_is_named() {
    let stage = Stage::new(options());
    // 64 values of 1 MiB each that share one MiB: refused before they are copied.
    let error = stage.commit("many-headers=64").await.unwrap_err();
    let limit = options().response_bytes_max + (2 << 20);
    assert!(
        matches!(error, CallError::Transfer { bytes_max } if bytes_max == limit),
        "{error:?}"
    );
    assert!(error.to_string().contains(&limit.to_string()));
    stage.still_answers().await;
}

#[tokio::test]
async fn many_large_headers_are_refused() {
    let stage = Stage::new(options());
    let error = stage.commit("many-headers=2").await.unwrap_err();
    assert!(
        matches!(
            error,
            CallError::BadResponse(BadResponse::HeaderBytes(_)) | CallError::Trap { .. }
        ),
        "{error:?}"
    );
    stage.still_answers().await;
}

#[tokio::test]
async fn a_stream_is_passed_on_untouched() {
    let stage = Stage::new(options());
    let reply = stage.commit("stream").await.unwrap();
    assert_eq!(reply.status, 200);
    assert!(matches!(reply.body, ReplyBody::Stream(_)));
    assert_eq!(text(reply).await, "streamed");
    // Nothing was left behind, so the instance was kept.
    assert_eq!(stage.handler.metrics().instances_retired, 0);
}

#[tokio::test]
async fn handles_do_not_outlive_their_call() {
    let stage = Stage::new(options());
    for (crime, answer) in [("leak", "leaked"), ("keep", "kept")] {
        let retired = stage.handler.metrics().instances_retired;
        assert_eq!(stage.answer(crime).await, answer);
        assert_eq!(stage.handler.metrics().instances_retired, retired + 1);
    }
    // The instance that kept one is gone, and so is what it kept.
    assert_eq!(stage.answer("use-kept").await, "nothing kept");
}

#[tokio::test]
async fn headers_of_the_connection_stay_in_the_host() {
    let stage = Stage::new(options());
    assert_eq!(stage.answer("echo-headers").await, "accept host");
}
