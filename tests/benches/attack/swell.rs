//! Jobs of two organisations at once whose files, names and pipelines come to much memory, if the server lets them.

use std::time::Duration;

use futures_util::future::{LocalBoxFuture, join, join_all};
use serde_json::{Value, json};
use tests::judge::QUICK;
use tests::swellings::{large_plan, long_names, many_cases, much_output};
use tokio::time::{Instant, sleep};

use crate::attack::{Attack, Met, Tally};
use crate::honest::Deed;
use crate::site::{ATTACKER, Site};
use crate::wire::{Ask, Caller};

/// Memory that a server with the default configuration keeps below.
const RESIDENT_MIB_MAX: u64 = 512;

/// Jobs with large plans that each organisation has in the queue.
const LARGE_PLANS: usize = 16;

/// Between two looks at jobs that run.
const LOOK_PAUSE: Duration = Duration::from_millis(100);

/// Longest wait until jobs that were cancelled are over.
const CALM_WAIT: Duration = Duration::from_secs(30);

/// A small job waits for processors beside builds that have as many as they like.
const QUICK_JOB: Duration = Duration::from_millis(500);

/// The worst of each kind by two organisations.
pub(crate) struct Swell;

impl Attack for Swell {
    fn name(&self) -> &'static str {
        "job-memory"
    }

    fn does(&self) -> &'static str {
        "15 million test cases, 200 MB of output, paths of 3 KiB and plans of 15 MiB by two organisations"
    }

    fn run<'a>(&'a self, site: &'a Site, tally: &'a Tally) -> LocalBoxFuture<'a, ()> {
        Box::pin(async move {
            let both = [&site.stranger, &site.rival].map(|key| swell(site, key, tally));
            let [one, other] = both;
            join(one, other).await;
        })
    }

    fn calm<'a>(&'a self, site: &'a Site) -> LocalBoxFuture<'a, ()> {
        Box::pin(async move {
            for key in [&site.stranger, &site.rival] {
                calm(site, key).await;
            }
        })
    }

    fn settings(&self) -> &'static str {
        // Enough that both organisations have one, and nobody's small build waits for the end of theirs.
        "[jobs]\nbuild_slots = 4\n[http]\nrate_per_s = 0\n"
    }

    fn deeds(&self) -> &'static [Deed] {
        Deed::WITH_JOBS
    }

    fn resident_mib_max(&self) -> u64 {
        RESIDENT_MIB_MAX
    }

    fn quick(&self, deed: Deed) -> Duration {
        match deed {
            Deed::Job => QUICK_JOB,
            _ => QUICK,
        }
    }

    fn takes_jobs(&self) -> bool {
        true
    }

    fn swells(&self) -> bool {
        true
    }

    fn complaints(&self, met: &Met) -> Vec<String> {
        let taken = met.answers.get(&201).copied().unwrap_or_default();
        let complaint = "no job was taken, so nothing was tried".to_owned();
        (taken == 0).then_some(complaint).into_iter().collect()
    }
}

/// One organisation: again and again all that it can think of, and every page about it.
async fn swell(site: &Site, key: &str, tally: &Tally) {
    let mut caller = Caller::new(ATTACKER, site.address);
    loop {
        let mut running = Vec::new();
        for definition in [many_cases(), much_output(), long_names()] {
            running.extend(submit(&mut caller, key, &definition, tally).await);
        }
        for _ in 0..LARGE_PLANS {
            submit(&mut caller, key, &large_plan(), tally).await;
        }
        for id in &running {
            until_finished(&mut caller, key, id).await;
        }
        let pages = ["junit.xml", "report", "trace.json"];
        let all = running.iter().flat_map(|id| pages.map(|page| (id, page)));
        let reads = all.map(|(id, page)| async move {
            let mut reader = Caller::new(ATTACKER, site.address);
            let ask = Ask::get(format!("/api/jobs/{id}/{page}")).with(key);
            // Large pages are more than is read here: then it is the server that notices.
            tally.heard(reader.ask(&ask).await);
        });
        join_all(reads).await;
        cancel_all(&mut caller, key, &["queued"]).await;
    }
}

/// Cancel an organisation's jobs until none is left.
async fn calm(site: &Site, key: &str) {
    let mut caller = Caller::new(ATTACKER, site.address);
    let end = Instant::now() + CALM_WAIT;
    let open = ["queued", "assigned", "running", "stopping"];
    while cancel_all(&mut caller, key, &open).await > 0 && Instant::now() < end {
        sleep(LOOK_PAUSE).await;
    }
}

/// Its id, if it is taken.
async fn submit(caller: &mut Caller, key: &str, definition: &str, tally: &Tally) -> Option<String> {
    let ask = Ask::post("/api/jobs/submit", json!({"definition": definition})).with(key);
    let answer = caller.ask(&ask).await;
    let made: Option<Value> = answer
        .as_ref()
        .ok()
        .and_then(|answer| serde_json::from_slice(&answer.body).ok());
    tally.heard(answer);
    made?["id"].as_str().map(str::to_owned)
}

async fn until_finished(caller: &mut Caller, key: &str, id: &str) {
    let look = Ask::get(format!("/api/jobs/{id}")).with(key);
    while let Ok(answer) = caller.ask(&look).await {
        let job: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        if answer.status != 200 || job["state"] == "finished" {
            return;
        }
        sleep(LOOK_PAUSE).await;
    }
}

/// Cancel the jobs in these states; how many there were.
async fn cancel_all(caller: &mut Caller, key: &str, states: &[&str]) -> usize {
    let mut count = 0;
    for state in states {
        let list = Ask::get(format!("/api/jobs?state={state}&limit=200")).with(key);
        let Ok(answer) = caller.ask(&list).await else {
            return count;
        };
        let listed: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        for job in listed["jobs"].as_array().into_iter().flatten() {
            count += 1;
            let id = job["id"].as_str().unwrap_or_default();
            let cancel = Ask::post(format!("/api/jobs/{id}/cancel"), "{}").with(key);
            if caller.ask(&cancel).await.is_err() {
                return count;
            }
        }
    }
    count
}
