//! `hostd doctor`: what this machine offers to jobs, and how to get the rest.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use jail::{Bounds, Hold, Lack, Report};
use serde_json::{Value, json};

/// The exit code when jobs cannot run isolated.
const NO_ISOLATION: u8 = 3;

/// Look at this machine.
#[derive(Debug, Args)]
pub struct Doctor {
    /// Print it as JSON
    #[arg(long)]
    json: bool,
}

impl Doctor {
    /// Try a jail, and tell what there is and what is missing.
    ///
    /// # Errors
    /// A jail cannot be tried for a reason that says nothing about the machine.
    pub fn run(&self, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
        let report = jail::probe(&jail::Options::default()).context("try a jail")?;
        if self.json {
            writeln!(out, "{:#}", as_json(&report))?;
        } else {
            tell(&report, out)?;
        }
        Ok(match report.isolation {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::from(NO_ISOLATION),
        })
    }
}

fn tell(report: &Report, out: &mut dyn Write) -> std::io::Result<()> {
    match report.isolation {
        Ok(()) => writeln!(out, "Jobs can run isolated on this machine.\n")?,
        Err(lack) => writeln!(out, "Jobs cannot run isolated on this machine: {lack}.\n")?,
    }
    let users = if report.has_slot_users {
        "one for each job"
    } else {
        "that of the server for all jobs"
    };
    let program = |path: &Option<PathBuf>| match path {
        Some(path) => path.display().to_string(),
        None => "not installed".to_owned(),
    };
    let tun = match report.has_tun {
        true => "",
        false => ", but users cannot open /dev/net/tun",
    };
    let version = match (report.slirp4netns_version, &report.slirp4netns) {
        (Some(version), _) => format!(" {version}"),
        (None, Some(_)) => ", which does not tell its version".to_owned(),
        (None, None) => String::new(),
    };
    let rows = [
        ("kernel", report.kernel.to_string()),
        ("user", users.to_owned()),
        ("memory", hold(report.bounds.memory)),
        ("processes", hold(report.bounds.processes)),
        ("processors", hold(report.bounds.cpu)),
        ("disk", hold(Bounds::DISK)),
        ("podman", program(&report.podman)),
        (
            "slirp4netns",
            format!("{}{version}{tun}", program(&report.slirp4netns)),
        ),
    ];
    for (name, value) in rows {
        writeln!(out, "{name:<11} {value}")?;
    }
    for lack in report.lacks() {
        writeln!(out, "\n{lack}:\n  {}", lack.cure())?;
    }
    Ok(())
}

fn hold(hold: Hold) -> String {
    let firm = if hold.is_hard() { "hard" } else { "soft" };
    format!("bounded by {hold}, {firm}")
}

fn as_json(report: &Report) -> Value {
    let hold = |hold: Hold| json!({"by": hold.to_string(), "hard": hold.is_hard()});
    let lack = |lack: Lack| json!({"what": lack.to_string(), "cure": lack.cure()});
    json!({
        "isolated": report.isolation.is_ok(),
        "kernel": report.kernel.to_string(),
        "user_per_job": report.has_slot_users,
        "bounds": {
            "memory": hold(report.bounds.memory),
            "processes": hold(report.bounds.processes),
            "processors": hold(report.bounds.cpu),
            "disk": hold(Bounds::DISK),
        },
        "podman": report.podman,
        "slirp4netns": report.slirp4netns,
        "slirp4netns_version": report.slirp4netns_version.map(|version| version.to_string()),
        "tun": report.has_tun,
        "lacks": report.lacks().into_iter().map(lack).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use jail::{Kernel, Version};

    use super::*;

    #[test]
    fn what_is_missing_is_told_with_its_cure() {
        let report = Report {
            kernel: Kernel { major: 6, minor: 1 },
            has_slot_users: false,
            isolation: Err(Lack::ProcMasked),
            bounds: Bounds {
                memory: Hold::EachProcess,
                processes: Hold::GroupV2,
                cpu: Hold::Priority,
            },
            podman: None,
            slirp4netns: None,
            slirp4netns_version: None,
            has_tun: false,
        };
        let mut text = Vec::new();
        tell(&report, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.starts_with("Jobs cannot run isolated on this machine: parts of /proc"));
        assert!(
            text.contains("memory      bounded by each process alone, soft\n"),
            "{text}"
        );
        assert!(
            text.contains("disk        bounded by what is counted while it runs, soft\n"),
            "{text}"
        );
        assert!(text.contains(Lack::NoSlirp4netns.cure()) && text.contains(Lack::NoTun.cure()));
        assert!(text.contains(Lack::ProcMasked.cure()) && text.contains(Lack::NoPodman.cure()));
        let json = as_json(&report);
        assert_eq!(json["isolated"], false);
        assert_eq!(json["bounds"]["processes"]["hard"], true);
        assert_eq!(json["lacks"][0]["cure"], Lack::ProcMasked.cure());
    }
    #[test]
    fn an_old_slirp4netns_is_told_with_its_version() {
        let mut report = Report {
            kernel: Kernel { major: 6, minor: 1 },
            has_slot_users: false,
            isolation: Ok(()),
            bounds: Bounds {
                memory: Hold::GroupV2,
                processes: Hold::GroupV2,
                cpu: Hold::GroupV2,
            },
            podman: Some("/usr/bin/podman".into()),
            slirp4netns: Some("/usr/bin/slirp4netns".into()),
            slirp4netns_version: Some(Version(1, 0, 1)),
            has_tun: true,
        };
        let told = |report: &Report| {
            let mut text = Vec::new();
            tell(report, &mut text).unwrap();
            String::from_utf8(text).unwrap()
        };
        let text = told(&report);
        assert!(
            text.contains("slirp4netns /usr/bin/slirp4netns 1.0.1\n"),
            "{text}"
        );
        let lack = Lack::OldSlirp4netns;
        assert!(
            text.contains(&format!("\n{lack}:\n  {}\n", lack.cure())),
            "{text}"
        );
        assert_eq!(as_json(&report)["slirp4netns_version"], "1.0.1");
        report.slirp4netns_version = None;
        let text = told(&report);
        assert!(
            text.contains("netns, which does not tell its version\n"),
            "{text}"
        );
        assert_eq!(as_json(&report)["slirp4netns_version"], Value::Null);
    }
}
