//! `GET /jobs/{id}/why`: why a job does not run yet, or how it ended.

use guest::jobs::{self, Blocked, Obstacle, Why, WhyRun};
use guest::{ApiError, Openapi, Request, Response, Route, Time, words};
use schemars::JsonSchema;
use serde::Serialize;

use crate::job::{self, Record};
use crate::{example, refusal};

pub(crate) const ROUTE: Route = Route {
    name: "jobs.why",
    method: "GET",
    pattern: "/jobs/{id}/why",
    credentials: job::CREDENTIALS,
    scope: job::SCOPE,
    body_limit: 0,
    summary: "Why a job does not run, or how it ended",
    openapi: Openapi::of(|operation| {
        operation.path(job::ID.0, job::ID.1).reply(
            200,
            "The job and each of its runs, with what stands between it and the devices.",
            &Explained::from(&queued()),
        );
    }),
    handle,
};

words! {
    const OBSTACLES: Obstacle = {
        Misfit = "misfit",
        Quarantined = "quarantined",
        Offline = "offline",
        Busy = "busy",
        Held = "held",
        Free = "free",
    };
}

/// A job, explained.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Why")]
struct Explained<'a> {
    job: Record<'a>,
    runs: Vec<Run<'a>>,
}

/// A run, explained.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "WhyRun")]
struct Run<'a> {
    /// Id of the run.
    run: &'a str,
    /// Runs for the same kind of place whose turn comes before; null unless it waits for one.
    ahead: Option<u32>,
    /// Each device of the organisation, for a run that waits for one.
    devices: Vec<Device<'a>>,
    /// When it gives up, or is ended for taking too long.
    #[schemars(with = "Option<Time>")]
    until: Option<&'a str>,
    /// What has to happen next, or what happened and what to do.
    message: &'a str,
}

/// What stands between a run and a device.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Blocked")]
struct Device<'a> {
    /// Name of the device.
    device: &'a str,
    /// `misfit`: it lacks something; `quarantined`: somebody has to re-admit it; `busy`: a job runs on it;
    /// `held`: somebody has its lease; `free`: nothing, a limit of the server is in the way.
    #[schemars(extend("enum" = OBSTACLES.all()))]
    obstacle: &'static str,
    /// What it lacks, who has it, or why it is quarantined.
    detail: Option<&'a str>,
    /// When that ends at the latest, if it is known.
    #[schemars(with = "Option<Time>")]
    until: Option<&'a str>,
}

impl<'a> From<&'a Why> for Explained<'a> {
    fn from(why: &'a Why) -> Self {
        Self {
            job: Record::head(&why.job),
            runs: why.runs.iter().map(Into::into).collect(),
        }
    }
}

impl<'a> From<&'a WhyRun> for Run<'a> {
    fn from(run: &'a WhyRun) -> Self {
        Self {
            run: &run.run,
            ahead: run.ahead,
            devices: run.devices.iter().map(Into::into).collect(),
            until: run.until.as_deref(),
            message: &run.message,
        }
    }
}

impl<'a> From<&'a Blocked> for Device<'a> {
    fn from(blocked: &'a Blocked) -> Self {
        Self {
            device: &blocked.device,
            obstacle: OBSTACLES.word(blocked.obstacle),
            detail: blocked.detail.as_deref(),
            until: blocked.until.as_deref(),
        }
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = job::id(request);
    let why = jobs::explain(id).map_err(|error| refusal::of(error, "job", id))?;
    Ok(Response::json(200, &Explained::from(&why)))
}

/// A job that waits, for the documentation.
fn queued() -> Why {
    Why {
        job: example::queued(),
        runs: vec![WhyRun {
            run: "smoke.f0".into(),
            ahead: Some(1),
            devices: vec![Blocked {
                device: "bench-1".into(),
                obstacle: Obstacle::Held,
                detail: Some("ada".into()),
                until: Some("2026-01-02T03:14:05Z".into()),
            }],
            until: Some("2026-01-02T03:34:05Z".into()),
            message: "One task is before it. It starts when bench-1 becomes free.".into(),
        }],
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Explained, Obstacle, queued};

    #[test]
    fn records() {
        let mut why = queued();
        assert_eq!(
            json!(Explained::from(&why))["runs"],
            json!([{
                "run": "smoke.f0",
                "ahead": 1,
                "devices": [{
                    "device": "bench-1", "obstacle": "held", "detail": "ada",
                    "until": "2026-01-02T03:14:05Z"
                }],
                "until": "2026-01-02T03:34:05Z",
                "message": "One task is before it. It starts when bench-1 becomes free."
            }])
        );
        let run = &mut why.runs[0];
        (run.ahead, run.until) = (None, None);
        run.devices[0].obstacle = Obstacle::Misfit;
        (run.devices[0].detail, run.devices[0].until) = (None, None);
        let told = json!(Explained::from(&why));
        assert_eq!(told["job"]["state"], "queued");
        assert_eq!(told["runs"][0]["ahead"], json!(null));
        assert_eq!(
            told["runs"][0]["devices"],
            json!([{
                "device": "bench-1", "obstacle": "misfit", "detail": null,
                "until": null
            }])
        );
    }
}
