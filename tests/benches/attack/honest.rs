//! The honest caller: what people and their scripts do all day, at a fixed pace, and how long each
//! deed takes.
//!
//! A deed is due at its time whether or not the previous one has ended, so a server that answers
//! nothing for a second is noticed by everybody who would have asked in that second.

use std::collections::VecDeque;
use std::time::Duration;

use anyhow::{Result, bail, ensure};
use futures_util::future::join_all;
use serde_json::{Value, json};
use tests::judge::Samples;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

use crate::site::{HONEST, LOGIN, PASSWORD, Site};
use crate::wire::{Ask, Caller};

/// Longest wait for a deed; one that takes longer has failed.
const DEED_WAIT: Duration = Duration::from_secs(10);

/// The same for a job, whose build computes beside others.
const JOB_WAIT: Duration = Duration::from_secs(30);

/// Between two looks at the state of a capture.
const LOOK_PAUSE: Duration = Duration::from_millis(5);

/// Samples of a capture: a hundredth of a second at 1 MHz.
const SAMPLES: u32 = 10_000;

/// A small job.
const SMALL_JOB: &str = "version: 1\nname: small\nbuilds: [{ id: b, steps: [{ run: 'true' }] }]\n";

/// The path for uploads of a file.
const RECORDING: &str =
    "/api/bench/waveforms/recording?name=small&sample_rate_hz=1000&full_scale_v=3.3";

/// What an honest caller does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deed {
    /// Health over a new connection, as monitors ask.
    Health,
    /// Lists over a kept connection.
    List,
    /// A command to a pod over a kept connection.
    Command,
    /// A short capture from its start to its removal.
    Capture,
    /// A small file, kept and removed.
    Upload,
    /// The right password, over a new connection.
    SignIn,
    /// A small job from its submission to its end.
    Job,
}

impl Deed {
    pub(crate) const ALL: &[Self] = &[
        Self::Health,
        Self::List,
        Self::Command,
        Self::Capture,
        Self::Upload,
        Self::SignIn,
    ];

    /// What somebody does who has a credential.
    pub(crate) const AUTHENTICATED: &[Self] =
        &[Self::List, Self::Command, Self::Capture, Self::Upload];

    /// What somebody does whose jobs are small.
    pub(crate) const WITH_JOBS: &[Self] = &[Self::Health, Self::List, Self::Command, Self::Job];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Health => "health",
            Self::List => "list",
            Self::Command => "command",
            Self::Capture => "capture",
            Self::Upload => "upload",
            Self::SignIn => "sign-in",
            Self::Job => "job",
        }
    }

    /// Longest wait for a deed of this kind.
    fn wait(self) -> Duration {
        match self {
            Self::Job => JOB_WAIT,
            _ => DEED_WAIT,
        }
    }

    /// Time between two deeds of this kind.
    fn pause(self) -> Duration {
        Duration::from_millis(match self {
            Self::Health | Self::Command => 20,
            Self::List => 8,
            // A check of a password costs tens of milliseconds of a core.
            Self::Capture | Self::Upload | Self::SignIn | Self::Job => 150,
        })
    }
}

/// Do each of `deeds` at its pace for `time`, then see the last ones to their end.
pub(crate) async fn slice(site: &Site, deeds: &[Deed], time: Duration) -> Vec<Samples> {
    let end = Instant::now() + time;
    let each = deeds.iter().map(|deed| {
        let person = Person::new(site, *deed);
        person.work_until(end)
    });
    join_all(each).await
}

/// Performs one kind of deed.
struct Person {
    deed: Deed,
    site: Site,
    caller: Caller,
    /// Requests to send in turn, where the deed is one request.
    asks: VecDeque<Ask>,
}

impl Person {
    fn new(site: &Site, deed: Deed) -> Self {
        let command = format!("/api/bench/devices/{}/command", site.device);
        let ping = json!({"command": {"cmd": "ping"}});
        let password = json!({"login": LOGIN, "password": PASSWORD});
        let asks = match deed {
            Deed::Health => vec![Ask::get("/healthz")],
            Deed::List => vec![
                Ask::get("/api/bench/devices").with(&site.key),
                Ask::get("/api/captures").with(&site.key),
                Ask::get("/api/bench/waveforms").with(&site.key),
            ],
            Deed::Command => vec![Ask::post(command, ping).with(&site.key)],
            Deed::Capture | Deed::Upload | Deed::Job => Vec::new(),
            Deed::SignIn => vec![Ask::post("/api/auth/session", password)],
        };
        Self {
            deed,
            site: site.clone(),
            caller: Caller::new(HONEST, site.address),
            asks: asks.into(),
        }
    }

    async fn work_until(mut self, end: Instant) -> Samples {
        let mut samples = Samples::default();
        let pause = self.deed.pause();
        let mut due = Instant::now() + pause;
        while due < end && Instant::now() < end {
            if Instant::now() < due {
                sleep_until(due).await;
                // A late timer says nothing about the server.
                due = Instant::now();
            }
            self.attempt(due, &mut samples).await;
            due += pause;
        }
        // Deeds that never got their turn have waited at least until now.
        while due < end {
            samples.waited(due.elapsed());
            due += pause;
        }
        samples
    }

    async fn attempt(&mut self, due: Instant, samples: &mut Samples) {
        let done = timeout_at(Instant::now() + self.deed.wait(), self.act()).await;
        match done {
            Ok(Ok(())) => samples.waited(due.elapsed()),
            Ok(Err(why)) => samples.failed(&format!("{why:#}")),
            Err(_) => {
                samples.waited(due.elapsed());
                samples.failed("no answer");
            }
        }
    }

    async fn act(&mut self) -> Result<()> {
        match self.deed {
            Deed::Capture => return self.capture().await,
            Deed::Upload => return self.upload().await,
            Deed::Job => return self.job().await,
            Deed::Health | Deed::SignIn => self.caller.hang_up(),
            Deed::List | Deed::Command => {}
        }
        self.asks.rotate_left(1);
        let ask = self.asks[0].clone();
        self.expect(&ask).await.map(drop)
    }

    /// Start a capture, wait until it is done, remove it.
    async fn capture(&mut self) -> Result<()> {
        let order = json!({
            "device_id": self.site.device,
            "samples": SAMPLES,
            "sample_rate_mhz": 1,
            "voltage_mv": 3300,
        });
        let key = self.site.key.clone();
        let start = Ask::post("/api/la/captures/start", order).with(&key);
        let started = self.expect(&start).await?;
        let id = started["capture_id"].as_str().unwrap_or_default();
        let path = format!("/api/capture/{id}");
        let look = Ask::get(format!("{path}?frames=none")).with(&key);
        loop {
            let seen = self.expect(&look).await?;
            match seen["status"].as_str() {
                Some("done") => break,
                Some("pending" | "armed" | "running") => sleep(LOOK_PAUSE).await,
                _ => bail!("capture {}", seen["status"]),
            }
        }
        self.expect(&Ask::delete(path).with(&key)).await.map(drop)
    }

    /// Submit a build of one step, and wait until it is over.
    async fn job(&mut self) -> Result<()> {
        let key = self.site.key.clone();
        let submit = Ask::post("/api/jobs/submit", json!({"definition": SMALL_JOB})).with(&key);
        let made = self.expect(&submit).await?;
        let id = made["id"].as_str().unwrap_or_default();
        let look = Ask::get(format!("/api/jobs/{id}")).with(&key);
        loop {
            let seen = self.expect(&look).await?;
            match seen["state"].as_str() {
                Some("finished") if seen["verdict"] == "success" => return Ok(()),
                Some("finished") => bail!("the job ended: {}", seen["message"]),
                _ => sleep(LOOK_PAUSE).await,
            }
        }
    }

    /// Store a recording of two samples, and remove it.
    async fn upload(&mut self) -> Result<()> {
        let key = self.site.key.clone();
        let keep = Ask {
            content_type: "application/octet-stream",
            ..Ask::post(RECORDING, "abcd").with(&key)
        };
        let kept = self.expect(&keep).await?;
        let id = kept["id"].as_str().unwrap_or_default();
        let remove = Ask::delete(format!("/api/bench/waveforms/{id}")).with(&key);
        self.expect(&remove).await.map(drop)
    }

    /// The body of a success.
    async fn expect(&mut self, ask: &Ask) -> Result<Value> {
        let answer = match self.caller.ask(ask).await {
            Ok(answer) => answer,
            Err(e) => bail!("{}", e.kind()),
        };
        let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        let (status, code) = (answer.status, &body["code"]);
        ensure!(
            status / 100 == 2,
            "{status} {}",
            code.as_str().unwrap_or_default()
        );
        Ok(body)
    }
}
