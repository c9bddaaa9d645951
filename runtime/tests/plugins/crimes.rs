//! Whatever a plugin does costs its own call, or its own load.

use runtime::{CallError, GuestOptions};

use crate::world::{Act, Crime, act, actor, engine, load, options};

fn impatient() -> GuestOptions {
    GuestOptions {
        compute_ms_max: 1_000,
        ..options()
    }
}

#[tokio::test]
async fn each_crime_has_its_own_error_and_the_next_call_is_answered() {
    let guest = actor(options());
    assert_eq!(act(&guest, Crime::None).await.unwrap(), 7);
    let memory = act(&guest, Crime::Memory).await.unwrap_err();
    assert!(
        matches!(memory, CallError::Memory { bytes_max, .. } if bytes_max == 64 << 20),
        "{memory:?}"
    );
    let CallError::Fault { source } = act(&guest, Crime::Table).await.unwrap_err() else {
        panic!("tables grow without end");
    };
    let why = source.root_cause().to_string();
    assert!(why.contains("the limit is 65536"), "{why}");
    let stack = act(&guest, Crime::Recurse).await.unwrap_err();
    assert!(matches!(stack, CallError::StackOverflow), "{stack:?}");
    let trap = act(&guest, Crime::Trap).await.unwrap_err();
    assert!(matches!(trap, CallError::Trap { .. }), "{trap:?}");
    assert_eq!(act(&guest, Crime::None).await.unwrap(), 7);
    let metrics = guest.metrics();
    assert_eq!((metrics.calls, metrics.in_flight), (6, 0));
    assert_eq!((metrics.traps, metrics.instances_live), (4, 1));
}

#[tokio::test]
async fn an_endless_loop_ends_with_the_compute_time() {
    let guest = actor(impatient());
    let error = act(&guest, Crime::Loop).await.unwrap_err();
    assert!(
        matches!(error, CallError::Compute { ms: 1_000 }),
        "{error:?}"
    );
    assert_eq!(act(&guest, Crime::None).await.unwrap(), 7);
}

#[test]
fn a_loop_at_the_start_ends_the_load() {
    let mut guest = load(&engine(), impatient(), true).unwrap();
    let error = guest.start(Act(Crime::None)).unwrap_err();
    assert!(
        matches!(error, CallError::Compute { ms: 1_000 }),
        "{error:?}"
    );
    assert_eq!(guest.metrics().instances_live, 0);
}

#[tokio::test]
async fn a_first_call_proves_the_guest_and_its_instance_is_kept() {
    let mut guest = load(&engine(), options(), false).unwrap();
    assert_eq!(guest.start(Act(Crime::None)).unwrap(), 7);
    assert_eq!(act(&guest, Crime::None).await.unwrap(), 7);
    assert_eq!(guest.metrics().instances_created, 1);
}
