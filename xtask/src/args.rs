//! The command line of xtask. Written by hand: a dozen fixed words do not pay for a parser crate in
//! the one program that is built before everything else.

use std::fmt;

use crate::toolchain::Choice;

/// What `cargo xtask --help` prints.
pub(crate) const HELP: &str = "\
Builds, checks and starts hostd.

Usage: cargo xtask <command> [options]

Commands:
  handlers           build every guest into target/handlers, as a component and precompiled

Options of every command:
  --toolchain WHICH  where the guests' standard library comes from:
                     auto (default), rustup, debian
  -v, --verbose      print what each component imports
  -h, --help         this text
";

/// Everything xtask can be asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Help,
    Handlers(Options),
}

/// What every command understands.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) toolchain: Choice,
    pub(crate) verbose: bool,
}

const COMMANDS: &[&str] = &["handlers", "help"];
const FLAGS: &[&str] = &["--help", "--toolchain", "--verbose"];

/// A command line that makes no sense. Messages end with the nearest word that would.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ArgsError {
    UnknownCommand(String),
    UnknownFlag(String),
    MissingValue(&'static str),
    UnknownToolchain(String),
}

impl std::error::Error for ArgsError {}

impl fmt::Display for ArgsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownCommand(word) => {
                write!(f, "there is no command `{word}`{}", nearest(word, COMMANDS))
            }
            Self::UnknownFlag(word) => {
                write!(f, "there is no option `{word}`{}", nearest(word, FLAGS))
            }
            Self::MissingValue(flag) => write!(f, "`{flag}` needs a value"),
            Self::UnknownToolchain(word) => {
                write!(
                    f,
                    "there is no toolchain `{word}`{}",
                    nearest(word, Choice::NAMES)
                )
            }
        }
    }
}

impl Command {
    /// Reads the words after `cargo xtask`.
    pub(crate) fn parse(words: &[String]) -> Result<Self, ArgsError> {
        let Some((command, rest)) = words.split_first() else {
            return Ok(Self::Help);
        };
        let mut options = Options::default();
        let mut rest = rest.iter();
        while let Some(word) = rest.next() {
            match word.as_str() {
                "-h" | "--help" => return Ok(Self::Help),
                "-v" | "--verbose" => options.verbose = true,
                "--toolchain" => {
                    let name = rest.next().ok_or(ArgsError::MissingValue("--toolchain"))?;
                    options.toolchain = Choice::named(name)
                        .ok_or_else(|| ArgsError::UnknownToolchain(name.clone()))?;
                }
                _ => return Err(ArgsError::UnknownFlag(word.clone())),
            }
        }
        match command.as_str() {
            "-h" | "--help" | "help" => Ok(Self::Help),
            "handlers" => Ok(Self::Handlers(options)),
            _ => Err(ArgsError::UnknownCommand(command.clone())),
        }
    }
}

/// ", did you mean …" for the candidate nearest to `word`, or the whole list when none is near.
fn nearest(word: &str, candidates: &[&str]) -> String {
    /// Below this Jaro-Winkler similarity a guess confuses more than it helps.
    const SIMILARITY_MIN: f64 = 0.7;
    candidates
        .iter()
        .map(|candidate| (strsim::jaro_winkler(word, candidate), candidate))
        .filter(|(similarity, _)| *similarity >= SIMILARITY_MIN)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map_or_else(
            || format!("; there are: {}", candidates.join(", ")),
            |(_, candidate)| format!(", did you mean `{candidate}`?"),
        )
}
