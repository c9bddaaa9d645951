//! The state machine of a device by example. Random interleavings are in `model`.

use super::*;

mod line;
mod model;

const SECOND: u64 = 1_000;

fn claim(id: &str, ttl_s: u64) -> Claim {
    Claim {
        lease_id: id.to_owned(),
        owner: format!("org/{id}"),
        holder: format!("run {id}"),
        device_name: "bench-1".to_owned(),
        ttl_ms: ttl_s * SECOND,
    }
}

fn shown<'r>(id: &'r str, owner: &'r str) -> Shown<'r> {
    Shown {
        lease_id: Some(id),
        owner,
    }
}

fn at(steady_ms: u64) -> Now {
    Now {
        steady_ms,
        wall_ms: 1_000_000 + steady_ms,
    }
}

const IN_LINE: Ask = Ask {
    waits: true,
    overriding: false,
};

const OVERRIDING: Ask = Ask {
    waits: true,
    overriding: true,
};

const NOBODY: Shown<'static> = Shown {
    lease_id: None,
    owner: "org/x",
};

/// Take the device, with nobody inside and a working store.
fn take(machine: &mut Machine, id: &str, ttl_s: u64, now_ms: u64) -> Result<Held, Busy> {
    let held = machine.acquire(claim(id, ttl_s), IN_LINE, at(now_ms))?;
    machine.stored(true, at(now_ms));
    machine.left(held.fence);
    Ok(held)
}

/// Everything until the device is free.
fn pay(machine: &mut Machine, now_ms: u64) {
    let fence = machine.fence();
    machine.stored(true, at(now_ms));
    machine.left(fence);
    machine.paid(fence);
    assert!(machine.settle(fence));
    machine.stored(true, at(now_ms));
}

#[test]
fn one_holder_at_a_time_and_its_claim_renews() {
    let mut machine = Machine::default();
    let first = take(&mut machine, "a", 120, 0).unwrap();
    assert_eq!(first.expires_ms, 120 * SECOND);
    let busy = take(&mut machine, "b", 120, SECOND).unwrap_err();
    assert_eq!(busy.holder.as_deref(), Some("run a"));
    assert_eq!((busy.place, busy.expires_ms), (Some(1), Some(120 * SECOND)));
    let again = take(&mut machine, "a", 60, 30 * SECOND).unwrap();
    assert_eq!((again.expires_ms, again.fence), (90 * SECOND, first.fence));
}

/// It was told to retry shortly, for ever.
#[test]
fn who_shows_a_lease_that_is_over_is_told_so() {
    let mut machine = Machine::default();
    let mine = shown("a", "org/a");
    take(&mut machine, "a", 60, 0).unwrap();
    assert!(matches!(
        machine.release(mine, at(SECOND)),
        Release::Ended(_)
    ));
    // While it is made safe, and when it is free.
    let busy = machine.renew(mine, 60 * SECOND, at(SECOND)).unwrap_err();
    assert!(busy.lost && busy.making_safe);
    pay(&mut machine, SECOND);
    assert!(
        machine
            .renew(mine, 60 * SECOND, at(SECOND))
            .unwrap_err()
            .lost
    );
    assert!(machine.admit(mine, SECOND).unwrap_err().lost);
    assert!(machine.check_change(mine, SECOND).unwrap_err().lost);
    assert!(machine.admit(NOBODY, SECOND).is_ok());
    // Somebody else's is in the way: it says whose.
    take(&mut machine, "b", 60, SECOND).unwrap();
    for refused in [
        machine.renew(mine, 60 * SECOND, at(SECOND)).unwrap_err(),
        machine.admit(mine, SECOND).unwrap_err(),
    ] {
        assert_eq!(
            (refused.lost, refused.holder.as_deref()),
            (false, Some("run b"))
        );
    }
}

#[test]
fn a_lease_is_used_once_it_is_stored_and_the_others_have_left() {
    let mut machine = Machine::default();
    let mine = shown("a", "org/a");
    let held = machine.acquire(claim("a", 60), IN_LINE, at(0)).unwrap();
    assert_eq!(machine.duty(held.fence), Some(Duty::Clear));
    assert!(machine.is_changed() && machine.admit(mine, 0).is_err());
    machine.stored(true, at(0));
    assert!(machine.admit(mine, 0).is_err() && !machine.is_given(held.fence));
    machine.left(held.fence - 1);
    assert!(machine.admit(mine, 0).is_err(), "it is about another fence");
    machine.left(held.fence);
    assert_eq!(machine.admit(mine, 0), Ok(held.fence));
    assert_eq!(machine.duty(held.fence), None);
}

#[test]
fn what_the_store_does_not_take_was_never_given() {
    let mut machine = Machine::default();
    machine.acquire(claim("a", 60), IN_LINE, at(0)).unwrap();
    machine.stored(false, at(0));
    assert!(machine.admit(NOBODY, 0).is_ok() && machine.row().is_none());
    take(&mut machine, "a", 60, 0).unwrap();
    let mine = shown("a", "org/a");
    machine.renew(mine, 600 * SECOND, at(SECOND)).unwrap();
    machine.stored(false, at(SECOND));
    assert_eq!(machine.expires_ms(), Some(60 * SECOND));
    // The store may have a lease in place of the debt: nothing is done before the debt is stored.
    assert!(matches!(
        machine.release(mine, at(2 * SECOND)),
        Release::Ended(_)
    ));
    machine.stored(false, at(2 * SECOND));
    assert!(machine.debt().is_some());
    let fence = machine.fence();
    machine.left(fence);
    machine.paid(fence);
    assert_eq!(machine.duty(fence), Some(Duty::Store));
    assert!(machine.store_again(fence) && machine.is_changed());
    machine.stored(true, at(2 * SECOND));
    // A debt whose end could not be stored is paid again.
    machine.paid(fence);
    assert!(machine.settle(fence));
    machine.stored(false, at(2 * SECOND));
    assert_eq!(machine.duty(fence), Some(Duty::Store));
}

#[test]
fn the_id_of_somebody_else_opens_nothing() {
    let mut machine = Machine::default();
    take(&mut machine, "a", 120, 0).unwrap();
    let thief = shown("a", "org/thief");
    assert!(machine.admit(thief, 0).is_err());
    assert!(machine.renew(thief, SECOND, at(0)).is_err());
    assert!(matches!(machine.release(thief, at(0)), Release::Other(_)));
    let mut stolen = claim("a", 120);
    stolen.owner = "org/thief".into();
    assert!(machine.acquire(stolen, IN_LINE, at(0)).is_err());
    assert!(machine.admit(NOBODY, 0).is_err());
    assert!(machine.admit(shown("a", "org/a"), 0).is_ok());
}

#[test]
fn an_ended_lease_is_lost_and_its_device_waits_until_it_is_safe() {
    let mut machine = Machine::default();
    let held = take(&mut machine, "a", 15, 0).unwrap();
    assert_eq!(machine.expire(at(15 * SECOND - 1)), None);
    let mine = shown("a", "org/a");
    assert!(
        machine.admit(mine, 15 * SECOND).is_err(),
        "before anybody looks"
    );
    let fence = machine.expire(at(15 * SECOND)).unwrap();
    assert!(fence > held.fence && machine.expires_ms().is_none());
    assert!(matches!(machine.row(), Some(Row::Owing(debt)) if debt.why == Why::Expired));
    machine.stored(true, at(15 * SECOND));
    let now = at(15 * SECOND);
    let busy = machine.acquire(claim("a", 15), IN_LINE, now).unwrap_err();
    assert!(busy.making_safe && busy.place == Some(1) && busy.holder.is_none());
    assert!(machine.renew(mine, SECOND, now).is_err());
    assert!(machine.admit(mine, 15 * SECOND).unwrap_err().making_safe);
    assert_eq!(machine.release(mine, now), Release::Over);
    machine.paid(fence);
    assert_eq!(machine.duty(fence), Some(Duty::Clear), "somebody is inside");
    machine.left(fence);
    machine.paid(fence - 1);
    assert_eq!(
        machine.duty(fence),
        Some(Duty::Pay),
        "that was another debt"
    );
    machine.paid(fence);
    assert!(machine.row().is_none() && machine.admit(NOBODY, 15 * SECOND).is_err());
    assert!(machine.settle(fence));
    machine.stored(true, at(16 * SECOND));
    assert!(machine.admit(NOBODY, 16 * SECOND).is_ok());
    let late = machine.renew(mine, SECOND, at(16 * SECOND)).unwrap_err();
    assert!(!late.making_safe);
}

#[test]
fn a_debt_that_lasts_is_asked_for_more_seldom() {
    let mut machine = Machine::default();
    take(&mut machine, "a", 60, 0).unwrap();
    machine.take_away("run a", at(0)).unwrap();
    machine.stored(true, at(0));
    let retry_ms = |now_ms| machine.admit(NOBODY, now_ms).unwrap_err().retry_after_ms;
    assert_eq!(retry_ms(SECOND), SECOND);
    assert_eq!(retry_ms(60 * SECOND), 5 * SECOND);
}

#[test]
fn what_keeps_a_device_from_its_safe_state_is_said_after_a_minute() {
    let mut machine = Machine::default();
    take(&mut machine, "a", 60, 0).unwrap();
    machine.take_away("run a", at(0)).unwrap();
    machine.stored(true, at(0));
    let fence = machine.fence();
    machine.obstruct(fence, "the supply is gone".into());
    machine.obstruct(fence - 1, "that was another debt".into());
    let obstacle = |machine: &Machine, now_ms| machine.admit(NOBODY, now_ms).unwrap_err().obstacle;
    assert_eq!(obstacle(&machine, 60 * SECOND - 1), None);
    let late = obstacle(&machine, 60 * SECOND);
    assert_eq!(late.as_deref(), Some("the supply is gone"));
    machine.obstruct(fence, "its pod does not answer".into());
    let late = obstacle(&machine, 600 * SECOND);
    assert_eq!(late.as_deref(), Some("its pod does not answer"));
    machine.left(fence);
    machine.paid(fence);
    assert!(machine.settle(fence));
    machine.stored(true, at(601 * SECOND));
    machine.obstruct(fence, "too late".into());
    assert!(machine.admit(NOBODY, 602 * SECOND).is_ok());
}

#[test]
fn an_administrator_takes_an_unsafe_device_and_owes_for_it() {
    let mut machine = Machine::default();
    take(&mut machine, "a", 60, 0).unwrap();
    machine.release(shown("a", "org/a"), at(0));
    machine.stored(true, at(0));
    let debt = machine.fence();
    let held = machine.acquire(claim("x", 60), OVERRIDING, at(0)).unwrap();
    assert_eq!(machine.duty(debt), None, "whoever pays it stops");
    // The store fails: the debt is back.
    machine.stored(false, at(0));
    assert!(machine.debt().is_some_and(|d| d.fence > held.fence));
    let held = machine.acquire(claim("x", 60), OVERRIDING, at(0)).unwrap();
    machine.stored(true, at(0));
    machine.left(held.fence);
    assert!(machine.admit(shown("x", "org/x"), 0).is_ok());
    machine.release(shown("x", "org/x"), at(0));
    assert!(matches!(machine.row(), Some(Row::Owing(_))));
    // It is about debts alone: a holder keeps the device.
    machine.stored(true, at(0));
    pay(&mut machine, 0);
    take(&mut machine, "a", 60, 0).unwrap();
    assert!(machine.acquire(claim("x", 60), OVERRIDING, at(0)).is_err());
}

#[test]
fn those_who_wait_are_served_in_order_and_the_absent_are_passed_over() {
    let mut machine = Machine::default();
    take(&mut machine, "a", 600, 0).unwrap();
    for (place, id) in (1..).zip(["b", "c", "d"]) {
        let busy = take(&mut machine, id, 60, 0).unwrap_err();
        assert_eq!(busy.place, Some(place), "{id}");
    }
    // b goes away; c and d go on asking, even while the device is made safe.
    for now_s in [5, 10] {
        take(&mut machine, "c", 60, now_s * SECOND).unwrap_err();
        take(&mut machine, "d", 60, now_s * SECOND).unwrap_err();
    }
    machine.release(shown("a", "org/a"), at(12 * SECOND));
    take(&mut machine, "c", 60, 14 * SECOND).unwrap_err();
    take(&mut machine, "d", 60, 14 * SECOND).unwrap_err();
    pay(&mut machine, 14 * SECOND);
    let place = |busy: Busy| busy.place;
    let asked = take(&mut machine, "d", 60, 14 * SECOND).map_err(place);
    assert_eq!(asked.unwrap_err(), Some(3));
    let asked = take(&mut machine, "d", 60, 16 * SECOND).map_err(place);
    assert_eq!(asked.unwrap_err(), Some(2), "b has not asked for 15 s");
    take(&mut machine, "c", 60, 17 * SECOND).unwrap();
    let asked = take(&mut machine, "d", 60, 17 * SECOND).map_err(place);
    assert_eq!(asked.unwrap_err(), Some(1));
}

#[test]
fn a_first_that_does_not_come_loses_its_turn() {
    let mut machine = Machine::default();
    take(&mut machine, "a", 600, 0).unwrap();
    take(&mut machine, "b", 60, SECOND).unwrap_err();
    take(&mut machine, "c", 60, SECOND).unwrap_err();
    machine.release(shown("a", "org/a"), at(2 * SECOND));
    pay(&mut machine, 2 * SECOND);
    assert!(take(&mut machine, "c", 60, 9 * SECOND).is_err());
    assert!(take(&mut machine, "c", 60, 10 * SECOND).is_ok());
}

#[test]
fn an_administrator_ends_only_the_lease_it_names() {
    let mut machine = Machine::default();
    take(&mut machine, "a", 60, 0).unwrap();
    let refused = machine.take_away("run b", at(SECOND)).unwrap_err();
    assert_eq!(refused.holder.as_deref(), Some("run a"));
    assert!(machine.take_away("run a", at(SECOND)).is_ok());
    machine.stored(true, at(SECOND));
    assert!(machine.take_away("run a", at(SECOND)).is_err());
}

#[test]
fn a_restored_lease_lives_no_longer_than_it_was_given() {
    let held = Held {
        claim: claim("a", 60),
        expires_ms: 0,
        fence: 7,
    };
    let mut machine = Machine::default();
    machine.restore(Row::Held(held.clone()), 3_600 * SECOND, at(0));
    assert_eq!(machine.expires_ms(), Some(60 * SECOND));
    assert!(
        machine
            .admit(shown("a", "org/a"), 0)
            .is_ok_and(|fence| fence > 7)
    );
    // A lease that expired meanwhile leaves a debt, which must be stored.
    let mut machine = Machine::default();
    machine.restore(Row::Held(held), 0, at(0));
    assert!(machine.is_changed() && matches!(machine.row(), Some(Row::Owing(_))));
    let mut machine = Machine::default();
    let debt = Debt::stored(7, Why::Released, 5);
    machine.restore(Row::Owing(debt), 0, at(0));
    assert!(!machine.is_changed() && machine.debt().is_some_and(|d| d.since_ms == 5));
}

#[test]
fn a_device_is_removed_after_its_safe_state() {
    let reachable = Removal {
        reachable: true,
        ..Removal::default()
    };
    let mut machine = Machine::default();
    // Nothing is owed, and nobody answers.
    let fence = machine.remove(Removal::default(), at(0)).unwrap();
    assert!(!machine.is_changed() && machine.row().is_none());
    machine.left(fence);
    assert_eq!(machine.duty(fence), Some(Duty::Remove));
    assert!(machine.settle(fence));
    machine.stored(true, at(0));
    assert!(machine.is_gone() && machine.admit(NOBODY, 0).is_err());
    machine.admitted();
    // A pod that answers is made safe first.
    let fence = machine.remove(reachable, at(0)).unwrap();
    assert!(machine.is_changed() && matches!(machine.row(), Some(Row::Owing(_))));
    machine.stored(true, at(0));
    assert!(machine.remove(reachable, at(0)).unwrap_err().making_safe);
    machine.left(fence);
    assert_eq!(machine.duty(fence), Some(Duty::Pay));
    // It takes too long: the device stays, and owes.
    machine.keep(fence);
    machine.paid(fence);
    assert_eq!(machine.duty(fence), Some(Duty::Settle));
    assert!(machine.settle(fence));
    machine.stored(true, at(0));
    assert!(machine.admit(NOBODY, 0).is_ok());
}

#[test]
fn a_removal_respects_the_holder_and_the_debt() {
    let naming = |holder| Removal {
        holder,
        reachable: true,
        ..Removal::default()
    };
    let mut machine = Machine::default();
    take(&mut machine, "a", 60, 0).unwrap();
    for holder in [None, Some("run b")] {
        let busy = machine.remove(naming(holder), at(0)).unwrap_err();
        assert_eq!(busy.holder.as_deref(), Some("run a"));
    }
    let fence = machine.remove(naming(Some("run a")), at(0)).unwrap();
    machine.stored(true, at(0));
    assert!(matches!(machine.row(), Some(Row::Owing(_))));
    assert!(machine.remove(naming(Some("run a")), at(0)).is_err());
    let overriding = Removal {
        overriding: true,
        ..Removal::default()
    };
    let overridden = machine.remove(overriding, at(0)).unwrap();
    assert!(overridden > fence && machine.duty(fence).is_none());
    machine.left(overridden);
    assert_eq!(machine.duty(overridden), Some(Duty::Remove));
}

#[test]
fn a_closed_device_is_nobodys_and_its_lease_may_still_end() {
    let mut machine = Machine::default();
    let mine = shown("a", "org/a");
    take(&mut machine, "a", 60, 0).unwrap();
    assert!(machine.close(NOBODY, "an update", 0).is_err());
    machine.close(mine, "an update", 0).unwrap();
    let told = machine.admit(mine, 0).unwrap_err();
    assert_eq!(told.holder.as_deref(), Some("an update"));
    assert!(machine.close(mine, "another", 0).is_err());
    assert!(machine.remove(Removal::default(), at(0)).is_err());
    assert!(machine.renew(mine, 60 * SECOND, at(0)).is_ok());
    machine.stored(true, at(0));
    assert!(matches!(machine.release(mine, at(0)), Release::Ended(_)));
    pay(&mut machine, 0);
    assert!(take(&mut machine, "b", 60, 0).is_err());
    machine.open();
    assert!(take(&mut machine, "b", 60, 0).is_ok());
}

#[test]
fn only_the_holder_changes_what_is_held() {
    let mut machine = Machine::default();
    assert!(machine.check_change(NOBODY, 0).is_ok());
    take(&mut machine, "a", 60, 0).unwrap();
    assert!(machine.check_change(NOBODY, 0).is_err());
    assert!(machine.check_change(shown("a", "org/a"), 0).is_ok());
}
