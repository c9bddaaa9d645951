//! Time, memory and stack: each limit ends the call with its own error.

use std::sync::Arc;

use crate::stage::{Stage, options};
use runtime::{CallError, HandlerOptions, Mode};

/// Commit `crime`, then see that the handler is unharmed.
async fn fails(options: HandlerOptions, crime: &str) -> CallError {
    let stage = Stage::new(options);
    let error = stage.commit(crime).await.unwrap_err();
    stage.still_answers().await;
    let metrics = stage.handler.metrics();
    assert_eq!(metrics.calls, 2);
    assert_eq!(metrics.in_flight, 0);
    assert_eq!(metrics.instances_live, metrics.instances_idle);
    error
}

fn impatient() -> HandlerOptions {
    HandlerOptions {
        compute_ms_max: 1_000,
        ..options()
    }
}

#[tokio::test]
async fn endless_loop() {
    let error = fails(impatient(), "loop").await;
    assert!(
        matches!(error, CallError::Compute { ms: 1_000 }),
        "{error:?}"
    );
}

#[tokio::test]
async fn endless_loop_until_the_deadline() {
    let options = HandlerOptions {
        deadline_ms: 1_000,
        ..options()
    };
    let error = fails(options, "loop").await;
    assert!(
        matches!(error, CallError::Deadline { ms: 1_000 }),
        "{error:?}"
    );
}

#[tokio::test]
async fn endless_host_calls() {
    let error = fails(impatient(), "storm").await;
    assert!(matches!(error, CallError::Compute { .. }), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn waiting_beyond_the_deadline() {
    let options = HandlerOptions {
        deadline_ms: 200,
        ..options()
    };
    let error = fails(options, "park").await;
    assert!(
        matches!(error, CallError::Deadline { ms: 200 }),
        "{error:?}"
    );
}

#[tokio::test]
async fn waiting_is_not_computing() {
    let stage = Arc::new(Stage::new(HandlerOptions {
        compute_ms_max: 1_000,
        ..options()
    }));
    let parked = tokio::spawn({
        let stage = stage.clone();
        async move { stage.answer("park").await }
    });
    stage.gate.parked(1).await;
    // Longer than the guest may compute: another guest has just used all of that.
    stage.commit("loop").await.unwrap_err();
    stage.gate.release(1);
    assert_eq!(parked.await.unwrap(), "unparked");
}

#[tokio::test]
async fn memory_bomb() {
    let error = fails(options(), "bomb").await;
    let CallError::Memory {
        asked_bytes,
        bytes_max,
    } = error
    else {
        panic!("{error:?}");
    };
    assert_eq!(bytes_max, 16 << 20);
    assert!(asked_bytes > bytes_max);
}

#[tokio::test]
async fn recursion() {
    let error = fails(options(), "recurse").await;
    assert!(matches!(error, CallError::StackOverflow), "{error:?}");
}

#[tokio::test]
async fn recursion_through_the_guests_own_stack() {
    let error = fails(options(), "recurse-big-frames").await;
    assert!(matches!(error, CallError::Trap { .. }), "{error:?}");
}

#[tokio::test]
async fn panics() {
    let error = fails(options(), "panic").await;
    assert!(matches!(error, CallError::Trap { .. }), "{error:?}");
}

#[tokio::test]
async fn host_refusal() {
    let error = fails(options(), "refused").await;
    let CallError::Fault { source } = error else {
        panic!("{error:?}");
    };
    assert_eq!(source.root_cause().to_string(), "the host refuses");
}

#[tokio::test]
async fn hoarded_handles() {
    let error = fails(options(), "hoard").await;
    assert!(matches!(error, CallError::Fault { .. }), "{error:?}");
}

#[tokio::test]
async fn traps_in_fresh_mode_too() {
    let options = HandlerOptions {
        mode: Mode::Fresh,
        ..options()
    };
    for crime in ["refused", "bomb", "recurse", "panic"] {
        let stage = Stage::new(options.clone());
        stage.commit(crime).await.unwrap_err();
        stage.still_answers().await;
        assert_eq!(stage.handler.metrics().instances_live, 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trap_leaves_the_others_in_flight_alone() {
    let stage = Arc::new(Stage::new(options()));
    let parked: Vec<_> = (0..4)
        .map(|_| {
            let stage = stage.clone();
            tokio::spawn(async move { stage.answer("park").await })
        })
        .collect();
    stage.gate.parked(4).await;
    for crime in ["panic", "bomb", "recurse", "refused"] {
        stage.commit(crime).await.unwrap_err();
    }
    assert_eq!(stage.handler.metrics().in_flight, 4);
    stage.gate.release(4);
    for call in parked {
        assert_eq!(call.await.unwrap(), "unparked");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn spinning_guests_let_others_have_the_threads() {
    let stage = Arc::new(Stage::new(HandlerOptions {
        compute_ms_max: 500,
        ..options()
    }));
    let spinning: Vec<_> = (0..4)
        .map(|_| {
            let stage = stage.clone();
            tokio::spawn(async move { stage.commit("loop").await })
        })
        .collect();
    let answered = tokio::spawn({
        let stage = stage.clone();
        async move { stage.still_answers().await }
    });
    answered.await.unwrap();
    for call in spinning {
        let error = call.await.unwrap().unwrap_err();
        assert!(matches!(error, CallError::Compute { ms: 500 }), "{error:?}");
    }
}
