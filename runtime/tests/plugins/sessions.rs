//! Several calls of one instance.

use std::time::Duration;

use runtime::{CallError, GuestOptions};

use crate::world::{Act, Add, Count, Crime, act, actor, data, options};

#[tokio::test]
async fn what_the_guest_returned_can_be_used_in_the_next_call() {
    let guest = actor(options());
    let mut one = guest.session("one", data()).await.unwrap();
    let mut other = guest.session("other", data()).await.unwrap();
    let counter = one.call(Count { from: 40 }).await.unwrap();
    let apart = other.call(Count { from: 0 }).await.unwrap();
    assert_eq!(other.call(Add(apart, 1)).await.unwrap(), 1);
    assert_eq!(one.call(Add(counter, 1)).await.unwrap(), 41);
    assert_eq!(one.call(Add(counter, 1)).await.unwrap(), 42);
    drop((one, other));
    assert_eq!(guest.metrics().instances_live, 0);
}

#[tokio::test]
async fn calls_apart_are_calls_of_the_same_session() {
    let guest = actor(options());
    let mut session = guest.session("test", data()).await.unwrap();
    let counter = session.call_apart(Count { from: 40 }).await.unwrap();
    assert_eq!(session.call(Add(counter, 1)).await.unwrap(), 41);
    assert_eq!(session.call_apart(Add(counter, 1)).await.unwrap(), 42);
    assert!(session.data().is_some());
    session.call_apart(Act(Crime::Trap)).await.unwrap_err();
    let error = session.call_apart(Act(Crime::None)).await.unwrap_err();
    assert!(matches!(error, CallError::Ended), "{error:?}");
    assert_eq!(guest.metrics().instances_live, 0);
}

#[tokio::test]
async fn a_session_ends_at_its_first_failure() {
    let guest = actor(options());
    let mut session = guest.session("test", data()).await.unwrap();
    session.call(Act(Crime::Trap)).await.unwrap_err();
    let error = session.call(Act(Crime::None)).await.unwrap_err();
    assert!(matches!(error, CallError::Ended), "{error:?}");
    assert!(session.data().is_none());
    assert_eq!(guest.metrics().instances_live, 0);
}

#[tokio::test]
async fn a_cancelled_call_ends_its_session() {
    let guest = actor(options());
    let mut session = guest.session("test", data()).await.unwrap();
    let patience = Duration::from_millis(50);
    let cancelled = tokio::time::timeout(patience, session.call(Act(Crime::Loop))).await;
    assert!(cancelled.is_err());
    let error = session.call(Act(Crime::None)).await.unwrap_err();
    assert!(matches!(error, CallError::Ended), "{error:?}");
    assert_eq!(guest.metrics().cancelled, 1);
}

#[tokio::test]
async fn a_session_holds_a_place_and_no_more_instances_than_places() {
    let guest = actor(GuestOptions {
        in_flight_max: 1,
        ..options()
    });
    act(&guest, Crime::None).await.unwrap();
    assert_eq!(guest.metrics().instances_idle, 1);
    let session = guest.session("test", data()).await.unwrap();
    let metrics = guest.metrics();
    assert_eq!((metrics.instances_idle, metrics.instances_live), (0, 1));
    let refused = act(&guest, Crime::None).await.unwrap_err();
    assert!(
        matches!(refused, CallError::Overloaded { .. }),
        "{refused:?}"
    );
    drop(session);
    assert_eq!(act(&guest, Crime::None).await.unwrap(), 7);
}
