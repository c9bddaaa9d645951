//! Runs tests of devices behind the kernel's own USB stack: simulated ones, plugged into its virtual controller
//! (`vhci_hcd`), which takes root. Where that is missing the tests are left out; `cargo xtask test-usb` runs them in a
//! virtual machine.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

use std::process::ExitCode;
use std::time::Duration;

use libtest_mimic::{Arguments, Trial};
use usb_sim::Attached;

/// Makes it a failure that there is no virtual controller.
const NEEDED: &str = "TESTS_NEED_USB";

/// Leaves out, as ignored ones, the tests that are not in the short set of their program.
const SHORT: &str = "TESTS_SHORT";

/// How long anything in a test may take. An emulated processor is slow.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// How long a test may take.
const TEST_MAX: Duration = Duration::from_secs(180);

/// How soon the kernel has cancelled what was under way to a device that a program no longer uses. Pulled out before, a
/// virtual device leaves some kernels waiting for ever.
pub const CLOSED_WITHIN: Duration = Duration::from_millis(500);

/// A test by its name, which panics if it fails.
pub type Case = (&'static str, fn());

/// Tests that are about the same thing, and what that is.
pub type Cases = (&'static str, &'static [Case]);

/// The main function of a test program. The tests of `short`, by their names (`about::case`), touch each kind of device
/// once: they alone run where the variable `TESTS_SHORT` is set.
///
/// # Panics
/// If a name of `short` is no test's.
#[must_use]
pub fn main(short: &[&str], lists: &[Cases]) -> ExitCode {
    let arguments = Arguments::from_args();
    let names: Vec<String> = lists.iter().flat_map(names).collect();
    for name in short {
        assert!(names.iter().any(|known| known == name), "no test {name}");
    }
    if !Attached::is_possible() && !arguments.list {
        #[expect(clippy::print_stderr, reason = "tests that are left out say why")]
        {
            eprintln!("this kernel has no virtual USB controller, so these tests are left out");
        }
        return match std::env::var_os(NEEDED) {
            Some(_) => ExitCode::FAILURE,
            None => ExitCode::SUCCESS,
        };
    }
    let is_short = std::env::var_os(SHORT).is_some();
    let cases = lists.iter().flat_map(|(_, cases)| cases.iter());
    let trial = |(name, (_, case)): (String, &'static Case)| {
        let is_left_out = is_short && !short.contains(&name.as_str());
        Trial::test(name, move || {
            case();
            Ok(())
        })
        .with_ignored_flag(is_left_out)
    };
    let trials = names.into_iter().zip(cases).map(trial).collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// The names of tests that are about the same thing.
fn names((about, cases): &Cases) -> impl Iterator<Item = String> {
    cases
        .iter()
        .map(move |(name, _)| format!("{about}::{name}"))
}

/// Runs an asynchronous test.
///
/// # Panics
/// If it takes too long.
pub fn run<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let ended = tokio::time::timeout(TEST_MAX, test).await;
        ended.expect("the test takes too long")
    })
}
