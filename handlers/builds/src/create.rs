//! `POST /cloud/builds`: a build that was made elsewhere.

use guest::{ApiError, Fields, Object, Request, Response, Route, builds};

use crate::{build, wiring};

pub(crate) const ROUTE: Route = Route {
    name: "builds.create",
    method: "POST",
    pattern: "/cloud/builds",
    credentials: build::REPORT,
    scope: build::SCOPE,
    body_limit: 64 << 10,
    summary: "Report a build",
    openapi: guest::compact_json!(include_str!("create.json")),
    handle,
};

#[derive(Debug)]
struct Order {
    source: builds::Source,
    target: String,
    name: String,
    wiring: String,
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let order = parse(request)?;
    let made = builds::create(&order.source, &order.target, &order.name, &order.wiring)
        .map_err(|error| build::refusal(error, ""))?;
    let mut body = Object::new();
    build::record(&made, &mut body);
    Ok(body.reply(201))
}

fn parse(request: &Request) -> Result<Order, ApiError> {
    let mut body = request.json()?;
    let text = |body: &mut Fields, name: &str| body.or(name, build::short_text(), String::new());
    let source = builds::Source {
        repo_owner: text(&mut body, "repo_owner"),
        repo: text(&mut body, "repo"),
        ref_: text(&mut body, "ref"),
        sha: text(&mut body, "sha"),
        event: text(&mut body, "event"),
        workflow: text(&mut body, "workflow"),
        actor: text(&mut body, "actor"),
        run_id: text(&mut body, "run_id"),
        run_attempt: text(&mut body, "run_attempt"),
    };
    let order = Order {
        source,
        target: text(&mut body, "target"),
        name: text(&mut body, "name"),
        wiring: wiring::read(&mut body).unwrap_or_else(|| "{}".to_owned()),
    };
    body.finish()?;
    Ok(order)
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
