//! Who gets in, who waits, and who cannot be kept out.

use super::*;

fn limits(permits_max: u32, queued_max: u32) -> Limits {
    Limits {
        permits_max,
        per_user_max: u32::MAX,
        per_org_max: u32::MAX,
        queued_max,
        wait_max: Duration::from_secs(1),
    }
}

fn user(org: &str, user: &str) -> Requester {
    Requester {
        org: org.into(),
        user: user.into(),
    }
}

/// As many places as `who` gets at once.
async fn take_all<'a>(admission: &'a Admission, who: &Requester) -> Vec<Permit<'a>> {
    let mut places = Vec::new();
    while let Ok(place) = admission.enter(Some(who)).await {
        places.push(place);
    }
    places
}

#[tokio::test(start_paused = true)]
async fn waits_for_its_time_and_then_refuses() {
    let admission = Admission::new(limits(1, 1));
    let place = admission.enter(None).await.unwrap();
    assert_eq!(admission.taken(), 1);
    let from = tokio::time::Instant::now();
    assert_eq!(admission.enter(None).await.unwrap_err(), Crowded::All);
    assert_eq!(from.elapsed(), Duration::from_secs(1));
    drop(place);
    assert!(admission.enter(None).await.is_ok());
    assert_eq!(admission.lock().waiting, 0);
}

#[tokio::test(start_paused = true)]
async fn a_full_queue_refuses_at_once() {
    let admission = Admission::new(limits(1, 0));
    let _place = admission.enter(None).await.unwrap();
    let from = tokio::time::Instant::now();
    assert!(admission.enter(None).await.is_err());
    assert_eq!(from.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn the_next_in_line_gets_the_place() {
    let admission = Admission::new(limits(1, 1));
    let place = admission.enter(None).await.unwrap();
    let (next, ()) = tokio::join!(admission.enter(None), async { drop(place) });
    assert!(next.is_ok());
}

#[tokio::test(start_paused = true)]
async fn there_is_always_a_place_for_the_next_one() {
    let admission = Admission::new(limits(48, 0));
    let ann = user("acme", "ann");
    let held = take_all(&admission, &ann).await;
    assert_eq!(held.len(), 32);
    let refused = admission.enter(Some(&ann)).await.unwrap_err();
    assert_eq!(refused, Crowded::User);
    // Her colleagues get the rest, except what is reserved for other organisations.
    let mut all = vec![held];
    for name in 0..20 {
        let colleague = user("acme", &format!("user {name}"));
        all.push(take_all(&admission, &colleague).await);
    }
    assert_eq!(all.iter().map(Vec::len).sum::<usize>(), 36);
    let refused = admission.enter(Some(&user("acme", "new"))).await;
    assert_eq!(refused.unwrap_err(), Crowded::Org);
    for org in 0..5 {
        let stranger = user(&format!("org {org}"), &format!("stranger {org}"));
        let place = admission.enter(Some(&stranger)).await;
        all.push(vec![place.unwrap()]);
    }
    drop(all);
    let state = admission.lock();
    assert_eq!(state.inside, 0);
    assert!(state.users.is_empty() && state.orgs.is_empty());
}

#[tokio::test(start_paused = true)]
async fn fixed_bounds_hold_whatever_is_free() {
    let admission = Admission::new(Limits {
        per_user_max: 2,
        per_org_max: 3,
        ..limits(100, 0)
    });
    let ann = take_all(&admission, &user("acme", "ann")).await;
    let bob = take_all(&admission, &user("acme", "bob")).await;
    let eve = take_all(&admission, &user("other", "eve")).await;
    assert_eq!((ann.len(), bob.len(), eve.len()), (2, 1, 2));
}

#[tokio::test(start_paused = true)]
async fn those_who_wait_come_in_turn_by_user() {
    let admission = Admission::new(limits(1, 100));
    let place = admission.enter(None).await.unwrap();
    let order = Mutex::new(String::new());
    let wait = async |name: &'static str| {
        let who = user("acme", name);
        let _place = admission.enter(Some(&who)).await.unwrap();
        order.lock().unwrap().push_str(name);
        tokio::task::yield_now().await;
    };
    tokio::join!(
        wait("a"),
        wait("a"),
        wait("a"),
        wait("b"),
        wait("c"),
        wait("b"),
        async { drop(place) },
    );
    assert_eq!(*order.lock().unwrap(), "abcaba");
}

#[tokio::test(start_paused = true)]
async fn one_user_cannot_fill_the_queue() {
    let admission = Admission::new(limits(1, 8));
    let _place = admission.enter(None).await.unwrap();
    let (ann, bob) = (user("acme", "ann"), user("acme", "bob"));
    let refused_at_once = async |who: &Requester| {
        let from = tokio::time::Instant::now();
        admission.enter(Some(who)).await.unwrap_err();
        from.elapsed().is_zero()
    };
    let anns = futures_of(12, || refused_at_once(&ann));
    let (anns, bob) = tokio::join!(anns, async {
        tokio::task::yield_now().await;
        refused_at_once(&bob).await
    });
    assert_eq!(anns.iter().filter(|at_once| !**at_once).count(), 4);
    assert!(!bob);
}

/// All of so many futures, together.
async fn futures_of<F: Future>(count: usize, make: impl Fn() -> F) -> Vec<F::Output> {
    let mut all: Vec<_> = (0..count).map(|_| Box::pin(make())).collect();
    let mut done: Vec<Option<F::Output>> = all.iter().map(|_| None).collect();
    std::future::poll_fn(|cx| {
        for (future, done) in all.iter_mut().zip(&mut done) {
            if done.is_none()
                && let std::task::Poll::Ready(output) = future.as_mut().poll(cx)
            {
                *done = Some(output);
            }
        }
        if done.iter().all(Option::is_some) {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
    done.into_iter().flatten().collect()
}

/// Marsaglia's xorshift64.
fn random(state: &mut u64, below: u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state % below
}

/// Users of three organisations come, wait, give up halfway, and leave, in any order: no place is
/// given twice, none is lost, and no share is exceeded.
#[tokio::test(start_paused = true)]
async fn nothing_is_lost_in_any_order() {
    const PLACES: u32 = 6;
    let admission = Arc::new(Admission::new(limits(PLACES, 16)));
    let mut seed = 0x5EED;
    let mut tasks = Vec::new();
    for _ in 0..2_000 {
        let name = random(&mut seed, 9);
        let who = user(&format!("org {}", name % 3), &format!("user {name}"));
        let (stay, patience) = (random(&mut seed, 400), random(&mut seed, 1_500));
        let shared = admission.clone();
        tasks.push(tokio::spawn(async move {
            let entering = shared.enter(Some(&who));
            let patience = Duration::from_millis(patience);
            if let Ok(Ok(_place)) = tokio::time::timeout(patience, entering).await {
                assert!(shared.taken() <= PLACES);
                tokio::time::sleep(Duration::from_millis(stay)).await;
            }
        }));
        tokio::time::sleep(Duration::from_millis(random(&mut seed, 40))).await;
        let state = admission.lock();
        assert_eq!(state.users.values().sum::<u32>(), state.inside);
        assert_eq!(state.orgs.values().sum::<u32>(), state.inside);
        let lined_up: usize = state.queues.iter().map(|queue| queue.waiters.len()).sum();
        assert_eq!(lined_up, state.waiting as usize);
        // Whoever waits has to.
        for queue in &state.queues {
            let fits = state.fits(queue.requester.as_ref(), &admission.limits);
            assert!(fits.is_err() && !queue.waiters.is_empty());
        }
    }
    for task in tasks {
        task.await.unwrap();
    }
    let state = admission.lock();
    assert_eq!((state.inside, state.waiting), (0, 0));
    assert!(state.users.is_empty() && state.orgs.is_empty() && state.queues.is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_owned_place_is_given_back_whole() {
    let admission = Arc::new(Admission::new(Limits {
        per_user_max: 1,
        ..limits(4, 0)
    }));
    let ada = user("acme", "ada");
    let place = admission.enter_owned(Some(&ada)).await.unwrap();
    let again = admission.enter_owned(Some(&ada)).await;
    assert_eq!(again.unwrap_err(), Crowded::User);
    let held = std::thread::spawn(move || drop(place));
    held.join().unwrap();
    assert_eq!(admission.taken(), 0);
    drop(admission.enter_owned(Some(&ada)).await.unwrap());
    // Nothing keeps its name.
    assert_eq!(Arc::strong_count(&ada.user), 1);
}
