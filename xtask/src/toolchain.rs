//! Where the guests' compiler and standard library come from. Guests need the target
//! `wasm32-unknown-unknown`, which a machine gets through rustup or, where rustup's servers are out
//! of reach, through Debian's packages.

mod debian;
mod rustup;

use std::path::PathBuf;

use anyhow::{Context, Result, anyhow};

use crate::progress;
use crate::tool::Tool;

/// The guests' target: they import nothing but our own interfaces, so no WASI.
pub(crate) const TARGET: &str = "wasm32-unknown-unknown";

/// Which toolchain the user asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Choice {
    /// The first that works.
    #[default]
    Auto,
    Rustup,
    Debian,
}

impl Choice {
    pub(crate) const NAMES: &[&str] = &["auto", "rustup", "debian"];

    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "auto" => Some(Self::Auto),
            "rustup" => Some(Self::Rustup),
            "debian" => Some(Self::Debian),
            _ => None,
        }
    }
}

/// A toolchain that can build guests.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Toolchain {
    /// The host's own compiler has the target's standard library.
    Installed,
    /// Debian's compiler, unpacked into the folder `tree`, builds the standard library from source.
    Debian {
        tree: PathBuf,
        version: String,
        linker: PathBuf,
    },
}

impl Toolchain {
    /// A few words for the progress line.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Installed => format!("the installed compiler and its {TARGET} library"),
            Self::Debian { version, .. } => {
                format!("Debian's compiler {version} and a standard library built from source")
            }
        }
    }

    /// Adds what a cargo call needs to build with this toolchain, in that child process only.
    pub(crate) fn apply(&self, cargo: Tool) -> Tool {
        // Flags meant for the host, such as a target CPU, make no sense for a guest. A handler has
        // the same bytes no matter what started its build.
        let cargo = cargo
            .env("CARGO_INCREMENTAL", "0")
            .without_env("RUSTFLAGS")
            .without_env("CARGO_ENCODED_RUSTFLAGS")
            .without_env("CARGO_BUILD_RUSTFLAGS")
            .without_env("RUSTC_WRAPPER");
        match self {
            Self::Installed => cargo,
            Self::Debian { tree, linker, .. } => debian::apply(cargo, tree, linker),
        }
    }
}

/// Finds or fetches a toolchain. Fetching is tried only when nothing is there yet.
pub(crate) fn select(choice: Choice) -> Result<Toolchain> {
    match choice {
        Choice::Rustup => rustup::find_or_add().map(|()| Toolchain::Installed),
        Choice::Debian => debian::find_or_fetch(),
        Choice::Auto => automatic(),
    }
}

fn automatic() -> Result<Toolchain> {
    if rustup::has_target()? {
        return Ok(Toolchain::Installed);
    }
    match debian::cached() {
        Ok(Some(toolchain)) => return Ok(toolchain),
        Ok(None) => {}
        // A damaged cache is no reason to skip the other ways.
        Err(error) => progress::detail(&format!("the cached toolchain is passed over: {error:#}")),
    }
    let by_rustup = match rustup::find_or_add() {
        Ok(()) => return Ok(Toolchain::Installed),
        Err(error) => error,
    };
    progress::detail(&format!(
        "rustup cannot add {TARGET}, so Debian's packages are tried"
    ));
    debian::find_or_fetch().map_err(|by_debian| {
        anyhow!(
            "no toolchain for guests. Either make `rustup target add {TARGET}` work (it failed: \
             {by_rustup:#}), or use a Debian or Ubuntu machine whose apt offers rustc-web (it \
             failed: {by_debian:#})"
        )
    })
}

/// The triple of the host's compiler, such as `x86_64-unknown-linux-gnu`.
pub(crate) fn host() -> Result<String> {
    let text = rustc().arg("-vV").read()?;
    text.lines()
        .find_map(|line| line.strip_prefix("host: "))
        .map(str::to_owned)
        .context("failed to find the host's triple in what `rustc -vV` prints")
}

/// The host's compiler, which is not necessarily the guests'.
fn rustc() -> Tool {
    Tool::new("rustc").advice("install Rust from https://rustup.rs")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_in_the_help_is_a_choice() {
        assert!(
            Choice::NAMES
                .iter()
                .all(|name| Choice::named(name).is_some())
        );
        assert_eq!(Choice::named("nix"), None);
    }

    #[test]
    fn the_host_has_a_triple() {
        assert!(host().unwrap().split('-').count() >= 3);
    }

    #[test]
    fn flags_for_the_host_do_not_reach_a_guest() {
        let shell = Tool::new("sh").env("RUSTFLAGS", "-Ctarget-cpu=native");
        let seen = Toolchain::Installed
            .apply(shell)
            .args(["-c", "echo \"[$RUSTFLAGS]\""])
            .read();
        assert_eq!(seen.unwrap(), "[]\n");
    }
}
