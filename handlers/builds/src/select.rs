//! `GET /bench/builds/artifact`: the one file that is meant by build, repository, branch and name.

use guest::{ApiError, Object, Query, Request, Response, Route, builds};

use crate::{artifact, build};

pub(crate) const ROUTE: Route = Route {
    name: "builds.artifact",
    method: "GET",
    pattern: "/bench/builds/artifact",
    credentials: build::READ,
    scope: build::SCOPE,
    body_limit: 0,
    summary: "Find a file of a build",
    openapi: guest::compact_json!(
        r#"{"refusals":["ambiguous"],"parameters":"#,
        include_str!("select.parameters.json"),
        r#","responses":{"200":{"description":"The one file that fits.","content":{"application/json":{"schema":{"type":"object","required":["artifact"],"properties":{"artifact":"#,
        include_str!("artifact.schema.json"),
        r#"}},"example":{"artifact":"#,
        include_str!("artifact.example.json"),
        "}}}}}}",
    ),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let selector = parse(request)?;
    let found = builds::select(&selector).map_err(|error| build::refusal(error, ""))?;
    Ok(reply(&found))
}

fn parse(request: &Request) -> Result<builds::Selector, ApiError> {
    let mut query = request.query()?;
    // An empty one is one that was left out.
    let given = |query: &mut Query, name: &str| {
        let text = query.optional(name, build::short_text());
        text.filter(|text| !text.is_empty())
    };
    let selector = builds::Selector {
        build: given(&mut query, "build"),
        repo: given(&mut query, "repo"),
        ref_: given(&mut query, "ref"),
        artifact: given(&mut query, "artifact"),
    };
    query.finish()?;
    Ok(selector)
}

fn reply(found: &builds::Artifact) -> Response {
    let mut body = Object::new();
    body.object("artifact", |object| artifact::record(found, object));
    body.reply(200)
}

#[cfg(test)]
mod tests {
    use guest::testing::{json, request};

    use super::{parse, reply};

    #[test]
    fn empty_parameters_are_left_out() {
        let mut request = request("");
        request.query = "build=latest&repo=acme%2Fblinky&ref=&artifact=".into();
        let selector = parse(&request).unwrap();
        assert_eq!(selector.build.as_deref(), Some("latest"));
        assert_eq!(selector.repo.as_deref(), Some("acme/blinky"));
        assert!(selector.ref_.is_none() && selector.artifact.is_none());
        request.query = "job=1".into();
        assert_eq!(parse(&request).unwrap_err().status, 400);
    }

    #[test]
    fn reply_has_what_clients_read() {
        let body = json(&reply(&crate::artifact::example()));
        let artifact = &body["artifact"];
        assert_eq!(artifact["repo"], "acme/blinky");
        assert_eq!(artifact["wiring_defaults"]["swclk"], 1);
        assert_eq!(artifact["pack_id"], "external");
    }
}
