//! Plugins: one that goes on after its grant was taken back, and a caller who writes headers like the server's.

use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, anyhow};
use tests::{Operator, package};

use crate::breach::{Breach, Ground, Length, Seen};

/// All that the plugin of the tests calls.
const WANTS: &str = r#"interfaces = ["captures", "devices", "http-out", "jobs", "notify", "power", "secrets", "store"]
scopes = ["bench:control", "jobs:submit"]
secrets = ["TOKEN"]
http = ["http://127.0.0.1:9/*"]
public = true"#;

/// Time enough that only the revocation can end a call.
const LIMITS: &str = "deadline_ms = 60000\ncompute_ms = 30000";

/// A plugin of `wasi:http` that says what it sees of a request.
const PROXY: &str = "test.proxy";

/// Headers that something behind the server could take for the server's own.
const LOOK_ALIKES: [&str; 5] = [
    "x-hostd-role",
    "X-HOSTD-USER",
    "x_hostd_role",
    "X_Hostd-Org",
    "x-hostd_credential",
];

/// What they say.
const LIE: &str = "lie-of-the-caller";

/// A call that is under way when its plugin may do nothing any more.
pub(crate) struct Revoked;

/// Headers like the server's own.
pub(crate) struct LookAlikes;

fn operator(ground: &Ground) -> Operator {
    Operator::on(&ground.host.server.dir().join("data"))
}

impl Breach for Revoked {
    fn name(&self) -> &'static str {
        "plugin-revoked"
    }

    fn does(&self) -> &'static str {
        "a plugin that writes to its store without end while its grant is taken back"
    }

    fn takes_jobs(&self) -> bool {
        false
    }

    fn run(&self, ground: &Ground, _: Length, seen: &mut Seen) -> Result<()> {
        let folder = ground.host.server.dir().join("package-revoked");
        package::write_version(&folder, "1.0.0", WANTS, LIMITS)?;
        let operator = operator(ground);
        operator.install(&folder)?;
        operator.approve(package::ID)?;
        let client = ground.honest.clone();
        let path = format!("/api/x/{}/crime/keys", package::ID);
        let called = thread::spawn(move || client.get(&path));
        let in_flight = format!("hostd_plugin_calls_in_flight{{plugin=\"{}\"", package::ID);
        let metrics = || Ok(ground.host.server.anonymous().get("/metrics")?.text);
        ground.until("the call", metrics, |page| {
            let mut lines = page.lines();
            lines.any(|line| line.starts_with(&in_flight) && line.ends_with(" 1"))
        })?;
        let begun = Instant::now();
        let revoke = serde_json::json!({"revoke": {"id": package::ID, "org": "default"}});
        operator.command(&revoke)?;
        let reply = called
            .join()
            .map_err(|_| anyhow!("the caller panicked"))??;
        let took = begun.elapsed();
        seen.note(format!(
            "answered {} after {} ms",
            reply.status,
            took.as_millis()
        ));
        seen.expect(
            reply.status == 403,
            format!("the call went on: {}", reply.text),
        );
        let remove = serde_json::json!({"remove": {"id": package::ID, "data": true}});
        operator.command(&remove).map(drop)
    }
}

impl Breach for LookAlikes {
    fn name(&self) -> &'static str {
        "plugin-headers"
    }

    fn does(&self) -> &'static str {
        "headers that look like the server's own, on the way to a plugin of wasi:http"
    }

    fn takes_jobs(&self) -> bool {
        false
    }

    fn run(&self, ground: &Ground, _: Length, seen: &mut Seen) -> Result<()> {
        let folder = ground.host.server.dir().join("package-proxy");
        let component = package::component("guests/proxy.wasm")?;
        package::write(&folder, &component, (PROXY, "1.0.0"), "")?;
        let operator = operator(ground);
        operator.install(&folder)?;
        operator.approve(PROXY)?;
        let liar = LOOK_ALIKES
            .iter()
            .fold(ground.honest.clone(), |client, name| {
                client.with_header(name, LIE)
            });
        let told = liar.get(&format!("/api/x/{PROXY}/see"))?;
        let head = told.text.lines().next().context("an answer")?;
        seen.expect(
            told.status == 200 && head == "GET /see",
            format!("it is not called: {} {}", told.status, told.text),
        );
        let lies: Vec<&str> = told
            .text
            .lines()
            .filter(|line| line.contains(LIE))
            .collect();
        seen.note(format!(
            "{} of {} headers came through",
            lies.len(),
            LOOK_ALIKES.len()
        ));
        for lie in lies {
            seen.fault(format!("the plugin sees {lie}"));
        }
        let remove = serde_json::json!({"remove": {"id": PROXY, "data": true}});
        operator.command(&remove).map(drop)
    }
}
