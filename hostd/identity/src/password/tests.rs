//! Hashing on real threads.

use std::sync::mpsc;
use std::task::Poll;
use std::time::Duration;

use futures_util::future::{join, join_all, join3};

use super::turns::WAITING_MAX;
use super::*;

/// From the reference implementation's own tests: "password" with other parameters, more memory and
/// more lanes than ours.
const REFERENCE: [&str; 3] = [
    "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
    "$argon2id$v=19$m=256,t=2,p=2$c29tZXNhbHQ$bQk8UB/VmZZF4Oo79iDXuL5/0ttZwg2f/5U52iv1cDc",
    "$argon2i$v=19$m=65536,t=1,p=1$c29tZXNhbHQAAAAAAAAAAA$+r0d29hqEB0yasKr55ZgICsQGSkl0v0kgwhd+U3wyRo",
];

fn stranger(source: usize) -> Turn {
    Turn {
        rank: Rank::Fresh,
        source: source as u64 + 1,
    }
}

fn on_one_thread() -> Passwords {
    Passwords(Pool::with(1, Duration::from_secs(60)))
}

/// Occupy the only thread until the sender is dropped. Returns once it is occupied.
async fn keep(passwords: &Passwords) -> mpsc::Sender<()> {
    let (release, released) = mpsc::channel::<()>();
    let (begin, begun) = oneshot::channel();
    let job = Kept(Box::new(move || {
        let _ = begin.send(());
        let _ = released.recv();
    }));
    passwords.0.enter(Turn::KNOWN, Box::new(job));
    begun.await.unwrap();
    release
}

struct Kept(Box<dyn FnOnce() + Send>);

impl Job for Kept {
    fn is_given_up(&self) -> bool {
        false
    }

    fn run(self: Box<Self>, _: &mut Memory) {
        (self.0)();
    }

    fn turn_away(self: Box<Self>, _: PasswordError) {}
}

#[tokio::test]
async fn only_the_right_password_matches() {
    let passwords = Passwords::new();
    let hash = passwords.hash("correct horse").await.unwrap();
    assert!(
        hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"),
        "{hash}"
    );
    assert_ne!(hash, passwords.hash("correct horse").await.unwrap());
    for (password, hash, expected) in [
        ("correct horse", Some(hash.as_str()), true),
        ("correct horsf", Some(hash.as_str()), false),
        ("correct horse", Some("garbage"), false),
        (
            "correct horse",
            Some("$argon2id$v=19$m=19456,t=2,p=1"),
            false,
        ),
        ("correct horse", None, false),
    ] {
        let matches = passwords.check(stranger(0), password, hash).await;
        assert_eq!(matches.unwrap(), expected, "{password} {hash:?}");
    }
}

#[tokio::test]
async fn hashes_with_other_parameters_verify() {
    let passwords = on_one_thread();
    let own = passwords.hash("password").await.unwrap();
    for hash in REFERENCE.into_iter().chain([own.as_str()]) {
        let check = |password| passwords.check(stranger(0), password, Some(hash));
        assert!(check("password").await.unwrap(), "{hash}");
        assert!(!check("sassword").await.unwrap(), "{hash}");
    }
}

#[tokio::test]
async fn a_crowd_is_turned_away_and_somebody_known_is_not() {
    let passwords = on_one_thread();
    let release = keep(&passwords).await;
    let crowd: Vec<_> = (0..WAITING_MAX + 3)
        .map(|source| passwords.in_turn(stranger(source), move |_| source))
        .collect();
    let known = passwords.in_turn(Turn::KNOWN, |_| usize::MAX);
    // Polled in this order, so everybody is in line before the first is served.
    let let_go = async move { drop(release) };
    let (crowd, known, ()) = join3(join_all(crowd), known, let_go).await;
    assert_eq!(known.unwrap(), usize::MAX);
    let is_busy = |answer: &&Result<_, _>| matches!(answer, Err(PasswordError::Busy));
    assert_eq!(crowd.iter().filter(is_busy).count(), 4);
}

#[tokio::test]
async fn those_who_give_up_leave_their_places() {
    let passwords = on_one_thread();
    let release = keep(&passwords).await;
    for source in 0..WAITING_MAX {
        let mut given_up = Box::pin(passwords.in_turn(stranger(source), |_| ()));
        let asked = std::future::poll_fn(|cx| Poll::Ready(given_up.as_mut().poll(cx)));
        assert!(asked.await.is_pending());
    }
    let let_go = async move { drop(release) };
    let (served, ()) = join(passwords.in_turn(stranger(99), |_| 7), let_go).await;
    assert_eq!(served.unwrap(), 7);
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_good() {
    let passwords = on_one_thread();
    let release = keep(&passwords).await;
    let late = passwords.in_turn(stranger(0), |_| ()).await;
    assert!(matches!(late, Err(PasswordError::Busy)));
    drop(release);
}

#[tokio::test]
async fn a_panic_costs_one_hash() {
    let passwords = on_one_thread();
    let died = passwords.in_turn(Turn::KNOWN, |_| panic!("as the test wants"));
    assert!(matches!(died.await, Err(PasswordError::Panicked)));
    assert_eq!(passwords.in_turn(Turn::KNOWN, |_| 7).await.unwrap(), 7);
    assert_eq!(passwords.0.threads(), 1);
}

#[tokio::test]
async fn threads_are_few_and_go_when_there_is_no_work() {
    let passwords = Passwords(Pool::with(2, Duration::from_millis(1)));
    for _ in 0..20 {
        let all = (0..8).map(|source| passwords.in_turn(stranger(source), |_| ()));
        join_all(all).await;
        assert!(passwords.0.threads() <= 2);
    }
    let gone = async {
        while passwords.0.threads() > 0 {
            tokio::task::yield_now().await;
        }
    };
    gone.await;
    passwords.in_turn(Turn::KNOWN, |_| ()).await.unwrap();
}
