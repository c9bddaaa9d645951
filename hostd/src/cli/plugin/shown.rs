//! What a server tells of its plugins, for people.

use std::io::Write;

use base::clock;

use crate::plugin::command::{Made, Shown, Told};
use crate::plugin::logs::{Level, Line};

/// Of a digest, as many characters as tell packages of one plugin apart.
const DIGEST_CHARS: usize = 12;

pub(super) fn print(told: &Told, out: &mut dyn Write) -> anyhow::Result<()> {
    match told {
        Told::Done(sentences) => {
            for sentence in sentences {
                writeln!(out, "{sentence}")?;
            }
        }
        Told::Plugins(plugins, refused) => {
            if plugins.is_empty() {
                writeln!(out, "no plugins are installed")?;
            }
            for plugin in plugins {
                one(plugin, out)?;
            }
            for package in refused {
                writeln!(out, "{}  not installed", package.origin)?;
                writeln!(out, "  {}", package.reason)?;
            }
        }
        Told::Lines(lines) => {
            for line in lines {
                writeln!(out, "{}", text(line))?;
            }
        }
    }
    Ok(())
}

fn one(plugin: &Shown, out: &mut dyn Write) -> anyhow::Result<()> {
    let Shown {
        id,
        version,
        state,
        routes,
        ..
    } = plugin;
    writeln!(
        out,
        "{id}  {version}  {state}  {routes} endpoints{}",
        which(plugin.package.as_ref())
    )?;
    if let Some(reason) = &plugin.reason {
        writeln!(out, "  {reason}")?;
    }
    if let Some(previous) = &plugin.previous {
        let package = which(plugin.previous_package.as_ref());
        writeln!(out, "  before: {previous}{package}")?;
    }
    if plugin.orgs.is_empty() {
        writeln!(
            out,
            "  approved nowhere; hostd plugin approve {id} --org ORG"
        )?;
    }
    for granted in &plugin.orgs {
        let devices = match &granted.devices {
            None => "all devices".to_owned(),
            Some(devices) => format!("{} devices", devices.len()),
        };
        writeln!(out, "  organisation {}: {devices}", granted.org)?;
        for missing in &granted.missing {
            writeln!(out, "    {missing}")?;
        }
    }
    Ok(())
}

/// Which package a version is: the beginning of its digest, and when it was installed.
fn which(package: Option<&Made>) -> String {
    package.map_or_else(String::new, |package| {
        let digest: String = package.digest.chars().take(DIGEST_CHARS).collect();
        format!("  ({digest}, {})", clock::text(package.at_ms))
    })
}

fn text(line: &Line) -> String {
    let level = match line.level {
        Level::Debug => "debug",
        Level::Info => "info",
        Level::Warn => "warn",
        Level::Error => "error",
    };
    let message = &line.message;
    format!(
        "{} {level:<5} {} {message}",
        clock::text(line.at_ms),
        line.request_id
    )
}
