//! Instances: how they are shared, kept, retired, and what happens when there are not enough.

use std::sync::Arc;

use crate::stage::{Stage, engine, guest, options};
use runtime::{CallError, HandlerOptions, Mode};

#[tokio::test]
async fn pooled_instances_keep_their_globals_and_fresh_ones_do_not() {
    let pooled = Stage::new(options());
    for expected in ["0", "1", "2"] {
        assert_eq!(pooled.answer("count").await, expected);
    }
    assert_eq!(pooled.handler.metrics().instances_created, 1);
    let fresh = Stage::new(HandlerOptions {
        mode: Mode::Fresh,
        ..options()
    });
    for _ in 0..3 {
        assert_eq!(fresh.answer("count").await, "0");
    }
    assert_eq!(fresh.handler.metrics().instances_idle, 0);
}

#[tokio::test]
async fn instances_are_replaced_after_so_many_calls() {
    let stage = Stage::new(HandlerOptions {
        mode: Mode::Pooled { calls_max: 3 },
        ..options()
    });
    for expected in ["0", "1", "2", "0", "1", "2", "0"] {
        assert_eq!(stage.answer("count").await, expected);
    }
    let metrics = stage.handler.metrics();
    assert_eq!(metrics.instances_created, 3);
    assert_eq!(metrics.instances_retired, 2);
    assert_eq!(metrics.instances_idle, 1);
}

#[tokio::test]
async fn a_trap_retires_the_instance() {
    let stage = Stage::new(options());
    assert_eq!(stage.answer("count").await, "0");
    stage.commit("panic").await.unwrap_err();
    assert_eq!(stage.answer("count").await, "0");
}

#[tokio::test]
async fn an_instance_that_grew_is_not_kept() {
    let stage = Stage::new(options());
    assert_eq!(stage.answer("grow=100000").await, "100000");
    assert_eq!(stage.handler.metrics().instances_retired, 0);
    assert_eq!(stage.answer("grow=10000000").await, "10000000");
    assert_eq!(stage.handler.metrics().instances_retired, 1);
    stage.still_answers().await;
}

#[tokio::test]
async fn a_cancelled_call_frees_its_place_and_its_instance() {
    let stage = Arc::new(Stage::new(HandlerOptions {
        in_flight_max: 1,
        ..options()
    }));
    for round in 1..=3 {
        let call = tokio::spawn({
            let stage = stage.clone();
            async move { stage.commit("park").await }
        });
        stage.gate.parked(1).await;
        call.abort();
        assert!(call.await.unwrap_err().is_cancelled());
        stage.still_answers().await;
        let metrics = stage.handler.metrics();
        assert_eq!(metrics.cancelled, round);
        assert_eq!(metrics.instances_retired, round);
    }
}

#[tokio::test(start_paused = true)]
async fn full_house_refuses_and_recovers() {
    let stage = Arc::new(Stage::new(HandlerOptions {
        in_flight_max: 2,
        queued_max: 1,
        queue_wait_ms_max: 1_500,
        ..options()
    }));
    let spawn = |crime: &'static str| {
        let stage = stage.clone();
        tokio::spawn(async move { stage.commit(crime).await })
    };
    let parked = [spawn("park"), spawn("park")];
    stage.gate.parked(2).await;
    // Both wait in the queue; one of them does not fit and is refused at once, the other later.
    for refused in [spawn("none"), spawn("none")] {
        let error = refused.await.unwrap().unwrap_err();
        assert!(
            matches!(error, CallError::Overloaded { retry_after_s: 2 }),
            "{error:?}"
        );
    }
    assert_eq!(stage.handler.metrics().overloads, 2);
    stage.gate.release(2);
    for call in parked {
        call.await.unwrap().unwrap();
    }
    stage.still_answers().await;
}

#[tokio::test]
async fn a_call_begins_when_it_has_its_place() {
    let stage = Arc::new(Stage::new(HandlerOptions {
        in_flight_max: 1,
        ..options()
    }));
    let spawn = |crime: &'static str| {
        let stage = stage.clone();
        tokio::spawn(async move { stage.answer(crime).await })
    };
    let first = spawn("park");
    stage.gate.parked(1).await;
    let second = spawn("none");
    // On this one thread, that brings it to where it waits.
    tokio::task::yield_now().await;
    assert_eq!(stage.gate.begun(), 1);
    stage.gate.release(1);
    assert_eq!(first.await.unwrap(), "unparked");
    assert_eq!(second.await.unwrap(), "ok");
    assert_eq!(stage.gate.begun(), 2);
}

#[tokio::test]
async fn a_waiting_call_gets_the_next_free_place() {
    let stage = Arc::new(Stage::new(HandlerOptions {
        in_flight_max: 1,
        ..options()
    }));
    let spawn = |crime: &'static str| {
        let stage = stage.clone();
        tokio::spawn(async move { stage.answer(crime).await })
    };
    let first = spawn("park");
    stage.gate.parked(1).await;
    let second = spawn("none");
    stage.gate.release(1);
    assert_eq!(first.await.unwrap(), "unparked");
    assert_eq!(second.await.unwrap(), "ok");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn thousands_of_failures_leave_no_trace() {
    let stage = Arc::new(Stage::new(HandlerOptions {
        compute_ms_max: 1_000,
        ..options()
    }));
    let crimes = [
        "panic",
        "recurse",
        "recurse-big-frames",
        "refused",
        "status=7",
        "bomb",
    ];
    let mut calls = tokio::task::JoinSet::new();
    for n in 0..2_000 {
        // Loops cost their whole time, so there are few.
        let crime = if n % 200 == 0 {
            "loop"
        } else {
            crimes[n % crimes.len()]
        };
        let stage = stage.clone();
        calls.spawn(async move { stage.commit(crime).await.is_err() });
        if calls.len() == 16 {
            assert!(calls.join_next().await.unwrap().unwrap());
        }
    }
    assert!(calls.join_all().await.into_iter().all(|failed| failed));
    for _ in 0..1_000 {
        stage.still_answers().await;
    }
    let metrics = stage.handler.metrics();
    assert_eq!(metrics.calls, 3_000);
    assert_eq!(metrics.overloads, 0);
    assert_eq!(metrics.in_flight, 0);
    // On a busy machine a bomb may also take too long.
    assert!(metrics.deadlines >= 10, "{metrics:?}");
    assert_eq!(metrics.instances_live, metrics.instances_idle);
}

#[tokio::test]
async fn handlers_of_one_engine_do_not_take_each_others_instances() {
    let engine = engine();
    let component = engine.compile(&guest()).unwrap();
    let one = Arc::new(Stage::with(&engine, &component, options()).unwrap());
    let other = Stage::with(&engine, &component, options()).unwrap();
    let parked: Vec<_> = (0..8)
        .map(|_| {
            let one = one.clone();
            tokio::spawn(async move { one.answer("park").await })
        })
        .collect();
    one.gate.parked(8).await;
    other.still_answers().await;
    one.gate.release(8);
    for call in parked {
        assert_eq!(call.await.unwrap(), "unparked");
    }
}
