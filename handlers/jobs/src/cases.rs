//! `GET /jobs/cases`: how test cases went in the last jobs.

use std::collections::BTreeMap;

use guest::jobs::{self, CaseHistory, CaseJob, CaseRun, Filter, History, Went};
use guest::{
    ApiError, Openapi, Refusal, Request, Response, Route, Time, integer, like, members, text, words,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::submit::{NAME_CHARS_MAX, REF_CHARS_MAX};
use crate::{job, refusal};

/// Longest text that is looked for, in characters.
const TEXT_CHARS_MAX: usize = 200;

/// Cases of an answer when the caller does not say, and most of them.
const LIMIT_DEFAULT: u32 = 50;
const LIMIT_MAX: u32 = 100;

pub(crate) const ROUTE: Route = Route {
    name: "jobs.cases",
    method: "GET",
    pattern: "/jobs/cases",
    credentials: job::CREDENTIALS,
    scope: job::SCOPE,
    body_limit: 0,
    summary: "How test cases went in the last jobs",
    openapi: Openapi::of(|operation| {
        operation
            .description(
                "Of the last 50 jobs that fit and have ended: each case of each run, run by run, and the runs themselves. Those that \
                 fail now come first, then those that waver. `broken` is the bench's fault, `failed` the firmware's or the test's.",
            )
            .refusals(&[Refusal::TooManyJobs])
            .query::<Asked>()
            .reply(200, "The cases.", &Record::of(&example()));
    }),
    handle,
};

words! {
    const OUTCOMES: Went = {
        Passed = "passed",
        Failed = "failed",
        Broken = "broken",
        Skipped = "skipped",
    };
}

members! {
    #[derive(Debug, PartialEq)]
    struct Asked {
        /// Jobs of this name alone.
        name: Option<String> = optional(text(1..=NAME_CHARS_MAX)),
        /// Jobs of this branch or tag alone.
        r#ref: Option<String> = optional(text(1..=REF_CHARS_MAX)),
        /// Jobs not older than this: a day, or a second of it in UTC.
        since: Option<String> = optional(like::since()),
        /// Cases with this in the name of the run or of the case, whatever the case of its letters.
        text: Option<String> = optional(text(1..=TEXT_CHARS_MAX)),
        /// Cases of the answer.
        limit: u32 = or(integer(1..=LIMIT_MAX), LIMIT_DEFAULT),
    }
}

/// How cases went.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CaseHistories")]
struct Record<'a> {
    cases: Vec<Case<'a>>,
    /// How many cases there are, of which these are the first.
    all: u32,
    /// Something was left out: the jobs have more cases than one answer reads.
    is_cut: bool,
}

/// How a case went.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CaseHistory")]
struct Case<'a> {
    /// The run of the pipeline that it belongs to.
    run: &'a str,
    /// null: the run as a whole.
    name: Option<&'a str>,
    /// One for each job, the newest first.
    runs: Vec<Run<'a>>,
    passed: u32,
    failed: u32,
    broken: u32,
    skipped: u32,
    /// Of the commits at which it was judged more than once, the part at which it both passed and failed; null if there is no
    /// such commit.
    #[schemars(range(min = 0, max = 1))]
    flaky_rate: Option<f64>,
    /// The job since which it fails each time; null if it does not fail now.
    first_bad: Option<Job<'a>>,
    /// By device, so that a fault of the firmware can be told from one of a bench.
    devices: Vec<Device<'a>>,
}

/// One run of a case.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CaseRun")]
struct Run<'a> {
    #[schemars(extend("enum" = OUTCOMES.all()))]
    outcome: &'static str,
    job: &'a str,
    commit: Option<&'a str>,
    #[schemars(with = "Time")]
    created_at: &'a str,
    /// Id of the device; null for a build.
    device: Option<&'a str>,
}

/// A job.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CaseJob")]
struct Job<'a> {
    job: &'a str,
    name: Option<&'a str>,
    r#ref: Option<&'a str>,
    commit: Option<&'a str>,
}

/// How a case went on a device.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CaseDevice")]
struct Device<'a> {
    device: &'a str,
    /// null if it is removed.
    name: Option<&'a str>,
    passed: u32,
    failed: u32,
    broken: u32,
}

impl<'a> Record<'a> {
    fn of(found: &'a History) -> Self {
        Self {
            cases: found
                .cases
                .iter()
                .map(|case| Case::of(case, found))
                .collect(),
            all: found.all,
            is_cut: found.is_cut,
        }
    }
}

impl<'a> Case<'a> {
    fn of(case: &'a CaseHistory, found: &'a History) -> Self {
        let job = |place: u32| found.jobs.get(place as usize);
        let count = |went| {
            u32::try_from(case.runs.iter().filter(|r| r.went == went).count()).unwrap_or(u32::MAX)
        };
        let run = |run: &'a CaseRun| {
            let of: &CaseJob = job(run.job)?;
            Some(Run {
                outcome: OUTCOMES.word(run.went),
                job: &of.id,
                commit: of.commit.as_deref(),
                created_at: &of.created_at,
                device: run.device.as_deref(),
            })
        };
        Self {
            run: &case.run,
            name: case.name.as_deref(),
            runs: case.runs.iter().filter_map(run).collect(),
            passed: count(Went::Passed),
            failed: count(Went::Failed),
            broken: count(Went::Broken),
            skipped: count(Went::Skipped),
            flaky_rate: case.flaky_rate,
            first_bad: case.first_bad.and_then(job).map(|of| Job {
                job: &of.id,
                name: of.name.as_deref(),
                r#ref: of.ref_.as_deref(),
                commit: of.commit.as_deref(),
            }),
            devices: by_device(case, found),
        }
    }
}

fn by_device<'a>(case: &'a CaseHistory, found: &'a History) -> Vec<Device<'a>> {
    let mut devices = BTreeMap::<&str, Device<'_>>::new();
    for run in &case.runs {
        let Some(id) = run.device.as_deref() else {
            continue;
        };
        let device = devices.entry(id).or_insert_with(|| Device {
            device: id,
            name: found
                .devices
                .iter()
                .find(|(known, _)| known == id)
                .map(|(_, name)| name.as_str()),
            passed: 0,
            failed: 0,
            broken: 0,
        });
        match run.went {
            Went::Passed => device.passed += 1,
            Went::Failed => device.failed += 1,
            Went::Broken => device.broken += 1,
            Went::Skipped => {}
        }
    }
    devices.into_values().collect()
}

/// For the documentation.
fn example() -> History {
    let device = "01JGZ5V9T3N8W2K4Q7R6D1M0XA";
    let job = |id: &str, commit: &str| CaseJob {
        id: id.to_owned(),
        name: Some("blinky".to_owned()),
        ref_: Some("main".to_owned()),
        commit: Some(commit.to_owned()),
        created_at: "2026-01-02T03:04:05Z".to_owned(),
    };
    let run = |job, went| CaseRun {
        job,
        device: Some(device.to_owned()),
        went,
    };
    History {
        jobs: vec![
            job("01JGZ5V9T3N8W2K4Q7R6D1M0XK", "c0ffee2"),
            job("01JGZ5V9T3N8W2K4Q7R6D1M0XJ", "c0ffee1"),
        ],
        cases: vec![CaseHistory {
            run: "bench.debug.f0".to_owned(),
            name: Some("test_boot".to_owned()),
            runs: vec![run(0, Went::Failed), run(1, Went::Passed)],
            flaky_rate: None,
            first_bad: Some(0),
        }],
        all: 1,
        is_cut: false,
        devices: vec![(device.to_owned(), "bench-1".to_owned())],
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let asked = parse(request)?;
    let filter = Filter {
        state: None,
        verdict: None,
        name: asked.name,
        ref_: asked.r#ref,
        text: None,
        since: asked.since,
    };
    jobs::cases(&filter, asked.text.as_deref(), asked.limit)
        .map(|found| reply(&found))
        .map_err(|error| refusal::of(error, "job", ""))
}

fn reply(found: &History) -> Response {
    Response::json(200, &Record::of(found))
}

fn parse(request: &Request) -> Result<Asked, ApiError> {
    request.query()?.read()
}

#[cfg(test)]
mod tests {
    use guest::testing::{get, json, mutations};
    use serde_json::json;

    use super::{example, parse, reply};

    #[test]
    fn the_query_has_bounds() {
        let asked = |query: &str| parse(&get(&[], query));
        let none = asked("").unwrap();
        assert_eq!((none.name, none.text, none.limit), (None, None, 50));
        let all = asked("name=fw&ref=main&since=2026-01-31&text=boot&limit=100").unwrap();
        assert_eq!((all.r#ref.as_deref(), all.limit), (Some("main"), 100));
        for (query, field) in [
            ("limit=0", "limit"),
            ("limit=101", "limit"),
            ("name=", "name"),
            ("text=", "text"),
            ("since=now", "since"),
            ("cursor=a", "cursor"),
        ] {
            let error = asked(query).unwrap_err();
            assert_eq!((error.status, error.fields[0].field.as_str()), (400, field));
        }
    }

    #[test]
    fn each_run_has_its_job_and_each_device_its_share() {
        let told = json(&reply(&example()));
        let case = &told["cases"][0];
        assert_eq!(
            case["runs"][1],
            json!({"outcome": "passed", "job": "01JGZ5V9T3N8W2K4Q7R6D1M0XJ", "commit": "c0ffee1",
                "created_at": "2026-01-02T03:04:05Z", "device": "01JGZ5V9T3N8W2K4Q7R6D1M0XA"})
        );
        assert_eq!((&case["passed"], &case["failed"]), (&json!(1), &json!(1)));
        assert_eq!(case["first_bad"]["commit"], "c0ffee2");
        assert_eq!(
            case["devices"],
            json!([{"device": "01JGZ5V9T3N8W2K4Q7R6D1M0XA", "name": "bench-1", "passed": 1, "failed": 1, "broken": 0}])
        );
        let mut removed = example();
        removed.devices.clear();
        assert_eq!(
            json(&reply(&removed))["cases"][0]["devices"][0]["name"],
            json!(null)
        );
    }

    #[test]
    fn mutated_queries_never_panic() {
        mutations(
            0xCA_5E,
            b"name=a&ref=b&since=2026-01-31&text=c&limit=9",
            5000,
            |query| {
                if let Ok(query) = std::str::from_utf8(query)
                    && let Ok(asked) = parse(&get(&[], query))
                {
                    assert!((1..=100).contains(&asked.limit));
                }
            },
        );
    }
}
