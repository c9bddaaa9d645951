//! `POST /jobs/check`: what a pipeline comes to, or all that is wrong with it, without queueing anything.

use std::collections::BTreeMap;

use guest::jobs::{self, Checked, CheckedRun, Doubt, Warning, Wish};
use guest::{
    ApiError, JSON_BODY_BYTES_MAX, Openapi, Operation, Refusal, Request, Response, Route, members,
    text, words,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::submit::{REF_CHARS_MAX, definition};
use crate::{job, refusal};

const DESCRIPTION: &str = "\
    As `POST /jobs/submit` checks it: 422 `invalid_definition` has all that is wrong in `problems`, each with its \
    line. Nothing is queued or kept. What depends on the moment, such as whether a device fits, is a warning.";

pub(crate) const ROUTE: Route = Route {
    name: "jobs.check",
    method: "POST",
    pattern: "/jobs/check",
    credentials: job::CREDENTIALS,
    scope: job::SCOPE,
    body_limit: JSON_BODY_BYTES_MAX,
    summary: "Check a pipeline",
    openapi: Openapi::of(describe),
    handle,
};

members! {
    #[derive(Debug)]
    struct Body {
        /// Text of the pipeline, YAML of at most 256 KiB; `GET /jobs/schema.json` describes it.
        definition: String = required(definition()),
        /// Branch or tag of the job that it would be: a secret may be for some alone.
        r#ref: Option<String> = optional(text(0..=REF_CHARS_MAX)),
    }
}

words! {
    const DOUBTS: Doubt = {
        NoIsolation = "no_isolation",
        NoMatchingDevice = "no_matching_device",
        NoDeviceNow = "no_device_now",
    };
}

/// What a pipeline comes to.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Checked")]
struct Record<'a> {
    /// What the pipeline calls itself.
    name: Option<&'a str>,
    /// Each behind those that it needs.
    runs: Vec<Run<'a>>,
    /// Names of the secrets that its steps ask for, each once.
    secrets: &'a [String],
    /// What may keep a job of it from running now.
    warnings: Vec<Doubted<'a>>,
}

/// A run that a pipeline comes to.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CheckedRun")]
struct Run<'a> {
    /// `build.variant.pack`, without what there is not.
    id: &'a str,
    is_bench: bool,
    /// Ids of the runs that must have passed before.
    needs: &'a [String],
    /// Chips that a build is for.
    targets: &'a [String],
    /// What it asks of its device; null for a build.
    device: Option<Wanted<'a>>,
}

/// What a run asks of its device.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "WantedDevice")]
struct Wanted<'a> {
    /// Name of the device; null: any that fits.
    name: Option<&'a str>,
    /// By capability what it must be, as `>=4`, `a|b` or `true`.
    select: BTreeMap<&'a str, &'a str>,
}

/// What may keep a job from running.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CheckWarning")]
struct Doubted<'a> {
    /// `no_isolation`: this server takes no jobs; `no_matching_device`: none of the organisation can ever fit;
    /// `no_device_now`: each that fits is away or in quarantine.
    #[schemars(extend("enum" = DOUBTS.all()))]
    code: &'static str,
    /// Id of the run; null: the job as a whole.
    run: Option<&'a str>,
    /// What is in the way and what to do.
    message: &'a str,
}

impl<'a> From<&'a Checked> for Record<'a> {
    fn from(checked: &'a Checked) -> Self {
        Self {
            name: checked.name.as_deref(),
            runs: checked.runs.iter().map(Into::into).collect(),
            secrets: &checked.secrets,
            warnings: checked.warnings.iter().map(Into::into).collect(),
        }
    }
}

impl<'a> From<&'a CheckedRun> for Run<'a> {
    fn from(run: &'a CheckedRun) -> Self {
        Self {
            id: &run.id,
            is_bench: run.is_bench,
            needs: &run.needs,
            targets: &run.targets,
            device: run.device.as_ref().map(Into::into),
        }
    }
}

impl<'a> From<&'a Wish> for Wanted<'a> {
    fn from(wish: &'a Wish) -> Self {
        let select = wish.select.iter();
        Self {
            name: wish.name.as_deref(),
            select: select.map(|(key, value)| (&**key, &**value)).collect(),
        }
    }
}

impl<'a> From<&'a Warning> for Doubted<'a> {
    fn from(warning: &'a Warning) -> Self {
        Self {
            code: DOUBTS.word(warning.doubt),
            run: warning.run.as_deref(),
            message: &warning.message,
        }
    }
}

fn describe(operation: &mut Operation) {
    operation
        .description(DESCRIPTION)
        .refusals(&[
            Refusal::InvalidDefinition,
            Refusal::TooManyJobs,
            Refusal::Stopping,
        ])
        .body::<Body>(json!({
            "definition": "version: 1\nbuilds:\n  - id: hello\n    steps:\n      - run: echo hello\n",
            "ref": "main"
        }))
        .reply(200, "The pipeline is right.", &Record::from(&example()));
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let Body { definition, r#ref } = parse(request)?;
    let checked = jobs::check(&definition, r#ref.as_deref());
    let checked = checked.map_err(|error| refusal::of(error, "job", ""))?;
    Ok(Response::json(200, &Record::from(&checked)))
}

/// CI systems have a `ref` that is empty at times.
fn parse(request: &Request) -> Result<Body, ApiError> {
    let body: Body = request.json()?.read()?;
    Ok(Body {
        r#ref: body.r#ref.filter(|text| !text.is_empty()),
        ..body
    })
}

/// For the documentation.
fn example() -> Checked {
    let run = |id: &str| CheckedRun {
        id: id.into(),
        is_bench: false,
        needs: Vec::new(),
        targets: vec!["stm32f030f4".into()],
        device: None,
    };
    Checked {
        name: Some("blinky".into()),
        runs: vec![
            run("fw.f0"),
            CheckedRun {
                is_bench: true,
                needs: vec!["fw.f0".into()],
                targets: Vec::new(),
                device: Some(Wish {
                    name: None,
                    select: vec![("target".into(), "stm32f030f4".into())],
                }),
                ..run("smoke.f0")
            },
        ],
        secrets: vec!["CAL".into()],
        warnings: vec![Warning {
            doubt: Doubt::NoDeviceNow,
            run: Some("smoke.f0".into()),
            message: "The run would wait for a device: bench-1 cannot be reached.".into(),
        }],
    }
}

#[cfg(test)]
mod tests {
    use guest::testing::request;
    use serde_json::json;

    use super::{Doubt, Record, example, parse};

    #[test]
    fn a_pipeline_and_its_ref_are_taken_and_nothing_else() {
        let body = parse(&request(r#"{"definition":"version: 1\n","ref":"main"}"#)).unwrap();
        assert_eq!(body.definition, "version: 1\n");
        assert_eq!(body.r#ref.as_deref(), Some("main"));
        let empty = parse(&request(r#"{"definition":"x","ref":""}"#)).unwrap();
        assert_eq!(empty.r#ref, None);
        let long = format!(r#"{{"definition":"{}"}}"#, "x".repeat((256 << 10) + 1));
        for (text, field) in [
            ("{}", "definition"),
            (r#"{"definition":""}"#, "definition"),
            (&long, "definition"),
            (r#"{"definition":"x","ref":"a\nb"}"#, "ref"),
            (r#"{"definition":"x","name":"n"}"#, "name"),
        ] {
            let error = parse(&request(text)).unwrap_err();
            assert_eq!((error.status, &*error.fields[0].field), (400, field));
        }
    }

    #[test]
    fn records() {
        let mut checked = example();
        assert_eq!(
            json!(Record::from(&checked)),
            json!({
                "name": "blinky",
                "runs": [
                    {
                        "id": "fw.f0", "is_bench": false, "needs": [], "targets": ["stm32f030f4"],
                        "device": null
                    },
                    {
                        "id": "smoke.f0", "is_bench": true, "needs": ["fw.f0"], "targets": [],
                        "device": {"name": null, "select": {"target": "stm32f030f4"}}
                    }
                ],
                "secrets": ["CAL"],
                "warnings": [{
                    "code": "no_device_now", "run": "smoke.f0",
                    "message": "The run would wait for a device: bench-1 cannot be reached."
                }]
            })
        );
        checked.warnings[0].run = None;
        for (doubt, code) in [
            (Doubt::NoIsolation, "no_isolation"),
            (Doubt::NoMatchingDevice, "no_matching_device"),
        ] {
            checked.warnings[0].doubt = doubt;
            let told = json!(Record::from(&checked))["warnings"][0].clone();
            assert_eq!((&told["code"], &told["run"]), (&json!(code), &json!(null)));
        }
    }
}
