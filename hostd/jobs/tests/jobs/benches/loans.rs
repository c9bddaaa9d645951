//! Devices that a job's runs take and give back.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Mutex;

use evidence::redact::Words;
use jobs::{Bench, Benches, Breakage, Cancel, Event, Live, Loan, Outcome, Request, Runner, Skip};
use pipeline::plan::Run;

use super::pipeline_of;
use crate::Case;
use crate::fake::Fake;
use crate::home::{Home, plan};

pub(super) const CASES: &[Case] = &[
    ("each_attempt_has_a_device_that_comes_back", each_attempt),
    ("a_device_that_is_not_safe_spoils_what_passed", not_safe),
    ("a_run_that_no_device_fits_is_not_run", no_device),
];

static NO_SECRETS: BTreeMap<String, String> = BTreeMap::new();

/// The same device for all runs.
#[derive(Debug)]
pub(super) struct OnlyOne<'f>(pub(super) &'f Fake);

struct Lent<'f>(&'f Fake);

impl Benches for OnlyOne<'_> {
    fn take(&self, _: &Run, _: u32, _: &Cancel) -> Result<Box<dyn Loan + '_>, Outcome> {
        Ok(Box::new(Lent(self.0)))
    }
}

impl Loan for Lent<'_> {
    fn bench(&self) -> &dyn Bench {
        self.0
    }

    fn what(&self) -> String {
        self.0.name().to_owned()
    }

    fn secrets(&self) -> &BTreeMap<String, String> {
        &NO_SECRETS
    }

    fn words(&self) -> &Words {
        &self.0.words
    }

    fn give_back(self: Box<Self>) -> Result<(), Breakage> {
        Ok(())
    }
}

/// Devices with a key, which are told of in `course`.
#[derive(Debug)]
struct Counted {
    fake: Fake,
    secrets: BTreeMap<String, String>,
    words: Words,
    is_unsafe: bool,
    course: Mutex<Vec<String>>,
}

struct CountedLoan<'c>(&'c Counted);

impl Counted {
    fn new(fake: Fake, is_unsafe: bool) -> Self {
        let key = ("KEY".to_owned(), "a-key-of-the-device".to_owned());
        Self {
            fake,
            secrets: BTreeMap::from([key]),
            words: Words::default(),
            is_unsafe,
            course: Mutex::default(),
        }
    }

    fn note(&self, text: String) {
        self.course.lock().unwrap().push(text);
    }

    fn course(&self) -> Vec<String> {
        self.course.lock().unwrap().clone()
    }
}

impl Benches for Counted {
    fn take(&self, run: &Run, attempt: u32, _: &Cancel) -> Result<Box<dyn Loan + '_>, Outcome> {
        self.note(format!("{} {attempt}", run.id));
        Ok(Box::new(CountedLoan(self)))
    }
}

impl Loan for CountedLoan<'_> {
    fn bench(&self) -> &dyn Bench {
        &self.0.fake
    }

    fn what(&self) -> String {
        "a counted one".to_owned()
    }

    fn secrets(&self) -> &BTreeMap<String, String> {
        &self.0.secrets
    }

    fn words(&self) -> &Words {
        &self.0.words
    }

    fn give_back(self: Box<Self>) -> Result<(), Breakage> {
        match self.0.is_unsafe {
            true => Err(Breakage::DeviceLost("its rails may be on".to_owned())),
            false => Ok(()),
        }
    }
}

impl Drop for CountedLoan<'_> {
    fn drop(&mut self) {
        self.0.note("back".to_owned());
    }
}

fn run_on(benches: &dyn Benches, steps: &str) -> (Home, jobs::Job, Vec<Event>) {
    let home = Home::new();
    let plan = plan(&pipeline_of("retry: { infra: 0 }", steps));
    let runner = Runner::open(home.options.clone()).unwrap();
    let mut request = Request::new(&plan, home.source(), home.out());
    request.benches = Some(benches);
    let (live, events) = Live::new();
    let job = runner.run(&request, &live, &Cancel::default()).unwrap();
    drop(live);
    home.is_clean();
    (home, job, events.collect())
}

fn each_attempt() {
    let counted = Counted::new(Fake::default(), false);
    assert!(counted.words.set(["a-token-of-the-key"]));
    let steps = "      - run: echo a-key-of-\"the-device\" a-token-\"of-the-key\"";
    let (home, job, events) = run_on(&counted, steps);
    assert_eq!(job.runs[1].outcome, Outcome::Passed);
    assert_eq!(counted.course(), ["smoke.a 1", "back"]);
    let log = home.out().join("logs/smoke.a/1/log");
    let log = String::from_utf8_lossy(&fs::read(log).unwrap()).into_owned();
    let key = &counted.secrets["KEY"];
    assert!(
        log.contains("[secret] [secret]\n") && !log.contains(key),
        "{log}"
    );
    let told = Event::Note("on a counted one".to_owned());
    assert!(events.contains(&told), "{events:?}");
}

fn not_safe() {
    let counted = Counted::new(Fake::default(), true);
    let (_home, job, _) = run_on(&counted, "      - wait: 1ms");
    let broken = Outcome::Broken(Breakage::DeviceLost("its rails may be on".to_owned()));
    assert_eq!(job.runs[1].outcome, broken);
    assert_eq!(job.verdict().exit_code(), 3);
    let (_home, job, _) = run_on(&counted, "      - run: exit 1");
    assert_eq!(job.verdict().exit_code(), 1, "{:?}", job.runs[1].outcome);
    assert_eq!(counted.course().last().unwrap(), "back");
}

/// Nothing fits.
#[derive(Debug)]
struct None;

impl Benches for None {
    fn take(&self, _: &Run, _: u32, _: &Cancel) -> Result<Box<dyn Loan + '_>, Outcome> {
        Err(Outcome::Skipped(Skip::NoDevice("uart is false".to_owned())))
    }
}

fn no_device() {
    let (_home, job, _) = run_on(&None, "      - wait: 1ms");
    assert_eq!(
        job.runs[1].outcome.to_string(),
        "not run: no device fits: uart is false"
    );
    assert_eq!(job.verdict().exit_code(), 3);
}
