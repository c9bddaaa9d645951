//! Everything there is, for one organisation: build slots, the queue, the WebSockets.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::json;
use tests::{Client, Opened, Socket};

use crate::breach::{Breach, Ground, Length, Seen, build, get};

/// Long builds by one organisation, on four slots.
const LONG_BUILDS: usize = 8;

/// Jobs in a queue, and how long they wait before anybody else comes, with all of the breach and with little of it.
const QUEUED_SHORT: usize = 60;
const QUEUED: usize = 300;
const AGED: Duration = Duration::from_secs(630);

/// Sockets of one user; the server has 256 for everybody (`http.sockets_max`).
const SOCKETS: usize = 300;

/// What an honest small build may wait beside all that.
const HONEST_WAIT_MAX: Duration = Duration::from_secs(20);

/// A build that goes on until it is cancelled.
const ENDLESS: &str = "sleep 1100";

/// All slots by long builds.
pub(crate) struct Slots;

/// A queue that was there before.
pub(crate) struct Queue;

/// All sockets.
pub(crate) struct Sockets;

/// Submits so many endless builds.
fn occupy(ground: &Ground, count: usize) -> Result<Vec<String>> {
    let long = build("disk: 64MiB", ENDLESS) + "timeouts: { build: 20m }\n";
    let submit = |_| ground.submit(&ground.other, &long);
    (0..count).map(submit).collect()
}

fn cancel(by: &Client, jobs: &[String]) -> Result<()> {
    for id in jobs {
        by.post(&format!("/api/jobs/{id}/cancel"), &json!({}))?;
    }
    Ok(())
}

/// How long an honest small build takes.
fn honest(ground: &Ground, seen: &mut Seen) -> Result<()> {
    let begun = Instant::now();
    let id = ground.submit(&ground.honest, &build("disk: 64MiB", "echo fine"))?;
    let why = get(&ground.honest, &format!("/api/jobs/{id}/why"))?;
    let ahead = why["runs"][0]["ahead"].as_u64().unwrap_or(0);
    let job = ground.ended(&ground.honest, &id)?;
    let took = begun.elapsed();
    seen.note(format!(
        "an honest build behind {ahead} others: {:.1} s",
        took.as_secs_f64()
    ));
    seen.expect(
        job["verdict"] == "success",
        format!("it ended: {}", job["message"]),
    );
    seen.expect(
        took < HONEST_WAIT_MAX,
        format!("{took:?} for a small build; {HONEST_WAIT_MAX:?} are allowed"),
    );
    Ok(())
}

impl Breach for Slots {
    fn name(&self) -> &'static str {
        "job-slots"
    }

    fn does(&self) -> &'static str {
        "8 endless builds by one organisation on 4 build slots"
    }

    fn run(&self, ground: &Ground, _: Length, seen: &mut Seen) -> Result<()> {
        let held = occupy(ground, LONG_BUILDS)?;
        let running = || -> Result<usize> {
            let listed = get(&ground.other, "/api/jobs?state=running&limit=200")?;
            Ok(listed["jobs"].as_array().map_or(0, Vec::len))
        };
        ground.until("a running build", running, |count| *count > 0)?;
        let result = honest(ground, seen);
        let count = running()?;
        seen.note(format!("{count} of 4 slots are the other organisation's"));
        seen.expect(count < 4, "one organisation has all slots");
        cancel(&ground.other, &held)?;
        result
    }
}

impl Breach for Queue {
    fn name(&self) -> &'static str {
        "job-queue"
    }

    fn does(&self) -> &'static str {
        "a queue of jobs by one organisation that is older than everybody else's"
    }

    fn run(&self, ground: &Ground, length: Length, seen: &mut Seen) -> Result<()> {
        let (count, aged) = match length {
            Length::Short => (QUEUED_SHORT, Duration::ZERO),
            Length::Full => (QUEUED, AGED),
        };
        let queued = occupy(ground, count)?;
        seen.note(format!("{count} jobs, {} s old", aged.as_secs()));
        thread::sleep(aged);
        let result = honest(ground, seen);
        cancel(&ground.other, &queued)?;
        result
    }
}

impl Breach for Sockets {
    fn name(&self) -> &'static str {
        "job-sockets"
    }

    fn does(&self) -> &'static str {
        "300 WebSockets of one user, who follows a job with each"
    }

    fn run(&self, ground: &Ground, _: Length, seen: &mut Seen) -> Result<()> {
        let follow = |by: &str, id: &str| {
            let path = format!("/api/jobs/{id}/ws");
            Socket::open(&ground.host.server.url, &path, &[("authorization", by)])
        };
        let site = &ground.host.site;
        let held = occupy(ground, 1)?;
        let mut open = Vec::new();
        let mut refused = 0;
        for _ in 0..SOCKETS {
            match follow(&site.stranger, &held[0])? {
                Opened::Socket(socket) => open.push(socket),
                Opened::Refused(status, _) => {
                    ensure!(status == 429, "a socket is refused with {status}");
                    refused += 1;
                }
            }
        }
        seen.note(format!("{} open, {refused} refused with 429", open.len()));
        seen.expect(refused > 0, "one user has as many sockets as they like");
        let own = ground.submit(&ground.honest, &build("disk: 64MiB", ENDLESS))?;
        let opened = follow(&site.key, &own)?;
        if let Opened::Refused(status, body) = &opened {
            seen.fault(format!("nobody else gets one: {status} {}", body["code"]));
        }
        cancel(&ground.other, &held)?;
        cancel(&ground.honest, &[own])
    }
}
