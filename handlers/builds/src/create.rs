//! `POST /cloud/builds`: a build that was made elsewhere.

use guest::{ApiError, Openapi, Refusal, Request, Response, Route, builds, members, nested};
use serde_json::json;

use crate::build::{self, short_text};
use crate::wiring::Wiring;

pub(crate) const ROUTE: Route = Route {
    name: "builds.create",
    method: "POST",
    pattern: "/cloud/builds",
    credentials: build::REPORT,
    scope: build::SCOPE,
    body_limit: 64 << 10,
    summary: "Report a build",
    openapi: Openapi::of(|operation| {
        operation
            .refusals(&[Refusal::QuotaExceeded])
            .body::<Ask>(json!({
                "repo_owner": "acme",
                "repo": "blinky",
                "ref": "main",
                "sha": "0a1b2c3",
                "event": "push",
                "workflow": "ci",
                "actor": "ada",
                "run_id": "1",
                "run_attempt": "1",
                "wiring": {"target": "target/stm32f0x.cfg", "swclk": 1, "swdio": 2}
            }))
            .reply(
                201,
                "The build. It takes files until it has its result.",
                &build::Record::from(&build::example()),
            );
    }),
    handle,
};

members! {
    struct Ask {
        /// Owner of the repository.
        repo_owner: String = or(short_text(), String::new()),
        /// Name of the repository.
        repo: String = or(short_text(), String::new()),
        /// Branch or tag.
        r#ref: String = or(short_text(), String::new()),
        /// Commit.
        sha: String = or(short_text(), String::new()),
        /// What started the run.
        event: String = or(short_text(), String::new()),
        /// Name of the workflow.
        workflow: String = or(short_text(), String::new()),
        /// Who started the run.
        actor: String = or(short_text(), String::new()),
        /// Id of the run.
        run_id: String = or(short_text(), String::new()),
        /// Number of the attempt.
        run_attempt: String = or(short_text(), String::new()),
        /// Platform that the build is for.
        target: String = or(short_text(), String::new()),
        /// Name of the build.
        name: String = or(short_text(), String::new()),
        /// How the target is wired, for who flashes it later.
        wiring: Option<Wiring> = optional(nested()),
    }
}

#[derive(Debug)]
struct Body {
    source: builds::Source,
    target: String,
    name: String,
    wiring: String,
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let order = parse(request)?;
    let made = builds::create(&order.source, &order.target, &order.name, &order.wiring)
        .map_err(|error| build::refusal(error, ""))?;
    Ok(Response::json(201, &build::Record::from(&made)))
}

fn parse(request: &Request) -> Result<Body, ApiError> {
    let ask: Ask = request.json()?.read()?;
    let wiring = ask.wiring.map(|wiring| wiring.text());
    Ok(Body {
        source: builds::Source {
            repo_owner: ask.repo_owner,
            repo: ask.repo,
            ref_: ask.r#ref,
            sha: ask.sha,
            event: ask.event,
            workflow: ask.workflow,
            actor: ask.actor,
            run_id: ask.run_id,
            run_attempt: ask.run_attempt,
        },
        target: ask.target,
        name: ask.name,
        wiring: wiring.unwrap_or_else(|| "{}".to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use guest::testing::request_example;
    use guest::testing::{mutations, request};

    use super::{ROUTE, parse};

    #[test]
    fn everything_may_be_missing() {
        let order = parse(&request("{}")).unwrap();
        assert_eq!(
            (order.source.repo.as_str(), order.wiring.as_str()),
            ("", "{}")
        );
        let order = parse(&request(
            r#"{"repo":"r","ref":"main","wiring":{"swclk":1}}"#,
        ))
        .unwrap();
        assert_eq!(order.source.ref_, "main");
        assert_eq!(order.wiring, r#"{"swclk":1}"#);
        for body in ["", r#"{"repo":1}"#, r#"{"repos":"x"}"#, r#"{"sha":"a\nb"}"#] {
            assert_eq!(parse(&request(body)).unwrap_err().status, 400, "{body}");
        }
    }

    #[test]
    fn mutated_bodies_never_panic() {
        mutations(0xB01D, &request_example(&ROUTE), 3000, |body| {
            let mut request = request("");
            request.body = body.to_vec();
            if let Ok(order) = parse(&request) {
                assert!(order.wiring.starts_with('{'));
            }
        });
    }
}
