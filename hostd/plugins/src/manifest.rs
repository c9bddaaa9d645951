//! `plugin.toml`: what a plugin is, asks for, takes of the machine, and lets its operator set.
//!
//! It is written by strangers. Reading it reports everything that is wrong at once, each with its line.

use semver::Version;
use serde::Serialize;

use crate::id::PluginId;
use crate::settings::Schema;
use crate::wants::Wants;

mod asks;
mod limits;
mod proxy;
pub(crate) mod section;

pub use limits::{LIMITS, Limit, Limits};
pub use proxy::{BODY_KIB, METHODS, Mount, SCOPE_DEFAULT};
pub use section::{PROBLEMS_MAX, Problem};

use section::{Report, Section};

/// Name of the file.
pub const FILE: &str = "plugin.toml";

/// Largest manifest, in bytes.
pub const BYTES_MAX: usize = 64 << 10;

/// Name of the component if the manifest names none.
const COMPONENT_DEFAULT: &str = "plugin.wasm";

/// Longest texts, in bytes.
const NAME_BYTES_MAX: usize = 100;
const DESCRIPTION_BYTES_MAX: usize = 2000;
const VERSION_BYTES_MAX: usize = 64;
const BUILD_BYTES_MAX: usize = 4 << 10;

/// A version of `hostd:plugin`, of which a host serves every later one with the same first number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Api {
    /// Changes when something stops working.
    pub major: u32,
    /// Grows with what is added.
    pub minor: u32,
}

impl std::fmt::Display for Api {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl Api {
    /// `1.2`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (major, minor) = text.split_once('.')?;
        let number = |text: &str| {
            let is_number =
                text.bytes().all(|b| b.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
            text.parse().ok().filter(|_| is_number)
        };
        let (major, minor) = (number(major)?, number(minor)?);
        Some(Self { major, minor })
    }

    /// Whether a host that has this version serves a plugin that needs `least`.
    #[must_use]
    pub fn serves(self, least: Self) -> bool {
        self.major == least.major && self.minor >= least.minor
    }
}

/// A manifest.
#[derive(Debug, Clone, PartialEq)]
pub struct Manifest {
    /// What it is called.
    pub id: PluginId,
    /// Its own version.
    pub version: Version,
    /// The oldest contract that it works with.
    pub api: Api,
    /// Name of the component's file, beside the manifest.
    pub component: String,
    /// SHA-256 of the component, hexadecimal in lower case.
    pub sha256: Option<String>,
    /// For people.
    pub name: Option<String>,
    /// For people.
    pub description: Option<String>,
    /// For people: an https or http URL.
    pub homepage: Option<String>,
    /// What it asks for.
    pub wants: Wants,
    /// What it takes of the machine.
    pub limits: Limits,
    /// How its `wasi:http` export is mounted, if it says so; see [`Mount`] for what counts otherwise.
    pub mount: Option<Mount>,
    /// What its operator may set.
    pub config: Schema,
    /// Shell commands that build it, for its author; no server runs them.
    pub build: Option<String>,
}

/// Everything that is wrong with a manifest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", shown(.problems))]
pub struct ManifestError {
    /// By line, at most [`PROBLEMS_MAX`].
    pub problems: Vec<Problem>,
}

fn shown(problems: &[Problem]) -> String {
    let lines: Vec<_> = problems
        .iter()
        .map(|problem| format!("{FILE}:{problem}"))
        .collect();
    lines.join("\n")
}

impl Manifest {
    /// Reads a manifest.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn parse(bytes: &[u8]) -> Result<Self, ManifestError> {
        let alone = |what: String| {
            let problem = Problem::new(1, "", what);
            let problems = vec![problem];
            ManifestError { problems }
        };
        if bytes.len() > BYTES_MAX {
            return Err(alone(format!("must have at most {BYTES_MAX} bytes")));
        }
        let text = std::str::from_utf8(bytes).map_err(|_| alone("must be text in UTF-8".into()))?;
        let mut report = Report::new(text);
        let manifest = Section::whole(text, &mut report).and_then(|mut whole| {
            let manifest = read(&mut whole, &mut report);
            whole.finish(&mut report);
            manifest
        });
        match manifest {
            Some(manifest) if report.is_clean() => Ok(manifest),
            _ => Err(ManifestError {
                problems: report.problems(),
            }),
        }
    }
}

fn read(whole: &mut Section<'_>, report: &mut Report<'_>) -> Option<Manifest> {
    let mut plugin = whole.section("plugin", report);
    let id = plugin.needed("id", report, |text| {
        text.parse::<PluginId>().map_err(|e| e.to_string())
    });
    let version = plugin.needed("version", report, version);
    let api = plugin.needed("api", report, |text| {
        Api::parse(text).ok_or("must be a version of the contract such as 1.0".to_owned())
    });
    let component = plugin.text("component", report, file_name);
    let sha256 = plugin.text("sha256", report, digest);
    let name = plugin.text("name", report, |text| line(text, NAME_BYTES_MAX));
    let description = plugin.text("description", report, |text| {
        prose(text, DESCRIPTION_BYTES_MAX)
    });
    let homepage = plugin.text("homepage", report, homepage);
    plugin.finish(report);
    let mut wants = asks::read(&mut whole.section("wants", report), report);
    let asks_for_store = wants
        .interfaces
        .contains(&crate::interface::Interface::Store);
    let limits = limits::read(&mut whole.section("limits", report), asks_for_store, report);
    wants.store_mib = limits.store_mib;
    let mount = proxy::read(whole, wants.public, report);
    let config = Schema::read(&mut whole.section("config", report), report);
    let mut dev = whole.section("dev", report);
    let build = dev.text("build", report, |text| prose(text, BUILD_BYTES_MAX));
    dev.finish(report);
    Some(Manifest {
        id: id?,
        version: version?,
        api: api?,
        component: component.unwrap_or_else(|| COMPONENT_DEFAULT.to_owned()),
        sha256,
        name,
        description,
        homepage,
        wants,
        limits,
        mount,
        config,
        build,
    })
}

fn version(text: &str) -> Result<Version, String> {
    let version = Version::parse(text)
        .ok()
        .filter(|_| text.len() <= VERSION_BYTES_MAX);
    version.ok_or_else(|| "must be a semantic version such as 1.4.2".to_owned())
}

fn file_name(text: &str) -> Result<String, String> {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
    let is_name =
        text.bytes().all(is_plain) && !text.starts_with('.') && text.len() <= NAME_BYTES_MAX;
    if is_name && text.ends_with(".wasm") {
        return Ok(text.to_owned());
    }
    Err("must be the name of a file beside the manifest, of letters, digits, -, _ and ., that ends with .wasm".into())
}

fn digest(text: &str) -> Result<String, String> {
    let is_hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    let is_digest = text.len() == 64 && text.bytes().all(is_hex);
    is_digest
        .then(|| text.to_owned())
        .ok_or_else(|| "must be 64 hexadecimal digits in lower case".to_owned())
}

/// Text of one line.
pub(crate) fn line(text: &str, bytes_max: usize) -> Result<String, String> {
    if text.is_empty() || text.len() > bytes_max || text.chars().any(char::is_control) {
        return Err(format!("must be a line of 1 to {bytes_max} bytes"));
    }
    Ok(text.to_owned())
}

/// Text of some lines.
pub(crate) fn prose(text: &str, bytes_max: usize) -> Result<String, String> {
    let is_odd = |c: char| c.is_control() && c != '\n';
    if text.len() > bytes_max || text.chars().any(is_odd) {
        return Err(format!("must be text of at most {bytes_max} bytes"));
    }
    Ok(text.to_owned())
}

fn homepage(text: &str) -> Result<String, String> {
    let url: crate::target::Target = text
        .parse()
        .map_err(|e: crate::target::UrlError| e.to_string())?;
    Ok(url.to_string())
}

#[cfg(test)]
mod tests;
