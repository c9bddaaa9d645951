//! Sign-ins with made-up names: each requests a costly check of a password without any credential.

use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;

use futures_util::future::{LocalBoxFuture, join, join_all};
use serde_json::json;
use tokio::time::{MissedTickBehavior, interval};

use crate::attack::{Attack, Met, Tally};
use crate::honest::Deed;
use crate::site::{ATTACKER, HONEST, LOGIN, Site};
use crate::wire::{Answer, Ask, Caller};

/// Concurrent attackers, each with a connection.
const CALLERS: u8 = 64;

/// Guesses per second at the password of the honest user, if that is the target.
const GUESSES_PER_S: u32 = 10;

/// Guesses at one password that the server may check, of the hundreds that a full run makes.
const GUESSES_MAX: u64 = 40;

/// A flood of sign-ins.
pub(crate) struct SignInFlood {
    name: &'static str,
    does: &'static str,
    address: fn(u8) -> Ipv4Addr,
    /// Sign-ins per second of all callers together.
    per_s: u32,
    guesses: bool,
    deeds: &'static [Deed],
}

impl SignInFlood {
    pub(crate) const ONE_ADDRESS: Self = Self {
        name: "sign-in-flood",
        does: "256 sign-ins a second with made-up names from one address",
        address: |_| ATTACKER,
        per_s: 256,
        guesses: false,
        deeds: Deed::ALL,
    };

    pub(crate) const MANY_ADDRESSES: Self = Self {
        name: "sign-in-flood-spread",
        does: "256 sign-ins a second with made-up names from 64 addresses",
        address: |n| Ipv4Addr::new(127, 0, 1, n + 1),
        per_s: 256,
        guesses: false,
        deeds: Deed::ALL,
    };

    pub(crate) const SAME_ADDRESS: Self = Self {
        name: "sign-in-flood-beside",
        does: "256 sign-ins a second from the honest caller's own address",
        address: |_| HONEST,
        per_s: 256,
        guesses: false,
        // An honest sign-in from the same address waits together with the flood.
        deeds: Deed::AUTHENTICATED,
    };

    pub(crate) const GUESSES: Self = Self {
        name: "guesses",
        does: "10 guesses a second at the honest user's password among 1,280 made-up names",
        address: |_| ATTACKER,
        per_s: 1280,
        guesses: true,
        deeds: Deed::ALL,
    };
}

impl Attack for SignInFlood {
    fn name(&self) -> &'static str {
        self.name
    }

    fn does(&self) -> &'static str {
        self.does
    }

    fn run<'a>(&'a self, site: &'a Site, tally: &'a Tally) -> LocalBoxFuture<'a, ()> {
        let pause = Duration::from_secs(1) * u32::from(CALLERS) / self.per_s;
        let callers = (0..CALLERS).map(move |n| {
            let caller = Caller::new((self.address)(n), site.address);
            let names = (0..).map(move |k: u64| format!("nobody-{n}-{k}"));
            sign_in(caller, names, pause, |heard| tally.heard(heard))
        });
        let guesser = async move {
            if self.guesses {
                let caller = Caller::new(ATTACKER, site.address);
                let names = std::iter::repeat(LOGIN.to_owned());
                let pause = Duration::from_secs(1) / GUESSES_PER_S;
                sign_in(caller, names, pause, |heard| tally.guessed(heard)).await;
            }
        };
        Box::pin(async move {
            join(join_all(callers), guesser).await;
        })
    }

    fn deeds(&self) -> &'static [Deed] {
        self.deeds
    }

    fn swells(&self) -> bool {
        true
    }

    fn complaints(&self, met: &Met) -> Vec<String> {
        let mut complaints = Vec::new();
        if !met.was_turned_away() {
            complaints.push("no sign-in of the flood was refused unchecked".to_owned());
        }
        if met.guesses > GUESSES_MAX {
            complaints.push(format!(
                "{} guesses at one password were looked at; {GUESSES_MAX} are allowed",
                met.guesses
            ));
        }
        complaints
    }
}

/// Sign in with a wrong password, with one name after the other.
async fn sign_in(
    mut caller: Caller,
    names: impl Iterator<Item = String>,
    pause: Duration,
    heard: impl Fn(io::Result<Answer>),
) {
    let mut ticks = interval(pause);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for name in names {
        ticks.tick().await;
        let body = json!({"login": name, "password": "wrong wrong wrong"});
        heard(caller.ask(&Ask::post("/api/auth/session", body)).await);
    }
}
