//! Tests of jails: what runs in one, what bounds it, what it cannot reach, and that nothing is left of it.
//!
//! This program has several parts to play. It is the tests, each of which runs as root (if it was started as
//! root) and as a user without rights; it is the server's program that makes jails; and it is the program
//! inside, so that an attempt to escape can make any system call.

#![allow(
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test, though it is its own harness"
)]

mod attempts;
mod bounds;
mod compute;
mod death;
mod escapes;
mod gauge;
mod home;
mod inside;
mod network;
mod network_start;
mod outside;
mod programs;
mod relay;
mod roots;

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};

use libtest_mimic::{Arguments, Failed, Trial};

use home::Home;
use jail::{Bounds, Hold};

/// The user that tests become if they must not have any rights. Nobody else has this id.
const USER: u32 = 1_950_000_000;

/// A test, which panics if it fails.
type Case = (&'static str, fn(&Home));

fn main() -> ExitCode {
    jail::entry();
    let arguments: Vec<String> = std::env::args().collect();
    let rest: Vec<&str> = arguments.iter().skip(2).map(String::as_str).collect();
    match arguments.get(1).map(String::as_str) {
        Some(inside::MARK) => inside::run(&rest),
        Some(attempts::MARK) => attempts::run(&rest),
        Some(compute::MARK) => compute::run(&rest),
        Some(programs::PROBE) => programs::print_lack(&rest),
        Some(death::SERVER) => death::serve(&rest),
        Some(network::SERVER) => network::serve(),
        Some(CASE) => run_case(&rest),
        _ => run_tests(),
    }
}

/// The argument that makes this program run one test as its current user.
const CASE: &str = "case";

/// Environment variable that makes it a failure when no jail can be made.
const NEEDED: &str = "TESTS_NEED_ISOLATION";

/// Makes it a failure that the bounds are not those of control groups of version 2.
const CGROUP2_NEEDED: &str = "TESTS_NEED_CGROUP2";

/// The tests that need a network to reach.
const NETWORK: &str = "network";

/// All tests, with the names of what they are about.
fn cases() -> impl Iterator<Item = (&'static str, Case)> {
    let lists = [
        ("programs", programs::CASES),
        ("bounds", bounds::CASES),
        ("compute", compute::CASES),
        ("gauge", gauge::CASES),
        ("escapes", escapes::CASES),
        ("roots", roots::CASES),
        ("relay", relay::CASES),
        ("death", death::CASES),
        (NETWORK, network::CASES),
        (NETWORK, network_start::CASES),
    ];
    let cases = |(about, cases): (_, &'static [Case])| cases.iter().map(move |case| (about, *case));
    lists.into_iter().flat_map(cases)
}

fn run_tests() -> ExitCode {
    let arguments = Arguments::from_args();
    let report = jail::probe(&jail::Options::default());
    let isolation = report.as_ref().map(|report| report.isolation);
    if !matches!(isolation, Ok(Ok(()))) && !arguments.list {
        eprintln!("this machine makes no jails, so these tests are left out: {isolation:?}");
        return match std::env::var_os(NEEDED) {
            Some(_) => ExitCode::FAILURE,
            None => ExitCode::SUCCESS,
        };
    }
    if std::env::var_os(CGROUP2_NEEDED).is_some() && !arguments.list {
        let bounds = report.map(|report| report.bounds);
        let v2 = Hold::GroupV2;
        let are_v2 = |b: &Bounds| [b.memory, b.processes, b.cpu] == [v2, v2, v2];
        if !bounds.as_ref().is_ok_and(are_v2) {
            eprintln!("control groups of version 2 do not bound jails here: {bounds:?}");
            return ExitCode::FAILURE;
        }
    }
    let is_root = rustix::process::geteuid().is_root();
    if !is_root && !arguments.list {
        eprintln!("not root, so the tests with names `root::` are left out");
    }
    let outside = if arguments.list {
        Ok(())
    } else {
        outside::enter()
    };
    match &outside {
        Ok(()) if !arguments.list => outside::resolve_names(),
        Ok(()) => {}
        Err(why) => eprintln!("the tests of jails with a network are left out: {why}"),
    }
    let mut trials = Vec::new();
    for (about, (name, case)) in cases() {
        if about == NETWORK && outside.is_err() {
            continue;
        }
        if is_root {
            trials.push(Trial::test(format!("root::{about}::{name}"), move || {
                case(&Home::new());
                Ok(())
            }));
        }
        trials.push(Trial::test(format!("user::{about}::{name}"), move || {
            if is_root {
                return run_as_user(name);
            }
            case(&Home::new());
            Ok(())
        }));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Runs a test in a process of a user without rights, with this program where everybody may execute
/// it.
fn run_as_user(name: &str) -> Result<(), Failed> {
    let home = Home::new();
    let output = Command::new(home.program())
        .args([CASE, name])
        .uid(USER)
        .gid(USER)
        .current_dir("/")
        .stdin(Stdio::null())
        .output()?;
    if output.status.success() {
        return Ok(());
    }
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(format!("{}\n{told}", output.status).into())
}

fn run_case(rest: &[&str]) -> ExitCode {
    let found = cases().find(|(_, (name, _))| rest == [*name]);
    let (_, (_, case)) = found.expect("a name of a test");
    case(&Home::new());
    ExitCode::SUCCESS
}
