//! `hostd why`: what a job waits for, device by device, or how it ended.

use std::env;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, anyhow};
use clap::Args;
use pod_sim::parse_time;
use serde_json::Value;

use super::out::Out;
use super::patience::Patience;
use super::server::{Failed, KEY, Server};
use super::trouble::Trouble;

/// Say what a job waits for, or how it ended.
#[derive(Debug, Args)]
pub struct Why {
    /// Id of the job
    job: String,
    /// URL of the server
    #[arg(
        long,
        env = "HOSTD_URL",
        value_name = "URL",
        default_value = "http://127.0.0.1:8800/api"
    )]
    url: String,
    /// PEM file of the certificate authorities to trust, in place of the public ones
    #[arg(long, env = "HOSTD_CA", value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Print the server's answer as JSON
    #[arg(long)]
    json: bool,
    /// How long to go on trying when the server cannot be reached
    #[arg(long, value_name = "TIME", value_parser = parse_time, default_value = "10s")]
    patience: Duration,
}

impl Why {
    /// Ask, and print the answer.
    ///
    /// # Errors
    /// Standard output cannot be written to.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let told = match self.ask() {
            Ok(told) => told,
            Err(trouble) => return Ok(trouble.tell()),
        };
        let text = match self.json {
            true => format!("{told:#}\n"),
            false => explained(&told),
        };
        Out::new()
            .write_all(text.as_bytes())
            .context("print the answer")?;
        Ok(ExitCode::SUCCESS)
    }

    fn ask(&self) -> Result<Value, Trouble> {
        if self.job.is_empty() || !self.job.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            let error = anyhow!(
                "ask for the job `{}`: an id has letters and digits",
                self.job
            );
            return Err(Trouble::Asked(error));
        }
        let key = env::var(KEY).with_context(|| format!("read the API key from {KEY}"));
        let server = key.and_then(|key| Server::new(&self.url, &key, self.ca.as_deref()));
        let server = server.map_err(Trouble::Asked)?;
        let path = format!("/jobs/{}/why", self.job);
        let told = server.get_json(&path, &Patience::new(self.patience));
        told.map_err(|failed| match failed {
            Failed::Refused(refusal) if refusal.is_asked() => Trouble::Asked(anyhow!("{refusal}")),
            Failed::Here(error) => Trouble::Asked(error),
            Failed::Refused(_) | Failed::Lost(_) | Failed::Stopped => {
                Trouble::Machine(anyhow!("{failed}"))
            }
        })
    }
}

/// The answer for people: the job, its runs, and for each that waits what is in the way on each device.
fn explained(told: &Value) -> String {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let job = &told["job"];
    let mut text = format!("Job {} is {}.\n", word(&job["id"]), word(&job["state"]));
    for run in told["runs"].as_array().into_iter().flatten() {
        let (name, message) = (word(&run["run"]), word(&run["message"]));
        let until = run["until"].as_str();
        let until = until.map_or_else(String::new, |until| format!(" (until {until} at most)"));
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{name}: {message}{until}");
        let devices = run["devices"].as_array().map_or(&[][..], Vec::as_slice);
        let names = devices.iter().map(|device| word(&device["device"]));
        let width = names.map(|name| name.chars().count()).max().unwrap_or(0);
        for device in devices {
            let (name, in_the_way) = (word(&device["device"]), in_the_way(device));
            let _ = writeln!(text, "  {name:width$}  {in_the_way}");
        }
    }
    text
}

/// What is in the way on a device.
fn in_the_way(device: &Value) -> String {
    let detail = device["detail"].as_str().unwrap_or("unknown");
    let mut text = match device["obstacle"].as_str().unwrap_or_default() {
        "misfit" => format!("does not fit: {detail}"),
        "quarantined" => format!("in quarantine: {detail}"),
        "offline" => "away".to_owned(),
        "busy" => format!("busy: {detail}"),
        "held" => format!("held by {detail}"),
        "free" => "free; a limit of the server is in the way".to_owned(),
        other => other.to_owned(),
    };
    if let Some(until) = device["until"].as_str() {
        text.push_str(", until ");
        text.push_str(until);
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::explained;

    #[test]
    fn each_device_says_what_is_in_the_way() {
        let device = |name: &str, obstacle: &str, detail: Option<&str>, until: Option<&str>| json!({"device": name, "obstacle": obstacle, "detail": detail, "until": until});
        let told = json!({
            "job": {"id": "01J", "state": "queued"},
            "runs": [
                {"run": "fw", "message": "Everything ran, and nothing failed.", "until": null, "devices": []},
                {
                    "run": "smoke", "message": "It starts when b becomes free.",
                    "until": "2026-01-02T03:34:05Z",
                    "devices": [
                        device("bench-1", "misfit", Some("target is unknown, the job wants stm32f030r8"), None),
                        device("b", "held", Some("ada"), Some("2026-01-02T03:14:05Z")),
                        device("c", "offline", None, None),
                    ],
                },
            ],
        });
        let text = "\
Job 01J is queued.
fw: Everything ran, and nothing failed.
smoke: It starts when b becomes free. (until 2026-01-02T03:34:05Z at most)
  bench-1  does not fit: target is unknown, the job wants stm32f030r8
  b        held by ada, until 2026-01-02T03:14:05Z
  c        away
";
        assert_eq!(explained(&told), text);
    }
}
