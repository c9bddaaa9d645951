//! `GET /emi/boards/{id}/diff?against=`: what one version of a board has that another has not.

use guest::emi::{self, Diff};
use guest::{ApiError, Openapi, Refusal, Request, Response, Route, id, members};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::findings::Finding;
use crate::{access, board, example, parsed, refusal};

pub(crate) const ROUTE: Route = Route {
    name: "emi.diff",
    method: "GET",
    pattern: "/emi/boards/{id}/diff",
    credentials: access::CREDENTIALS,
    scope: access::SCOPE,
    body_limit: 0,
    summary: "Compare the findings of two boards",
    openapi: Openapi::of(|operation| {
        let one = |text: &str| serde_json::from_str(text).expect("the example is JSON");
        operation
            .description(
                "Findings are the same if their `fingerprint` is: rule, net, layer and square millimetre. Each board has \
                 those of its newest `ingest` that is done.",
            )
            .path(board::ID.0, board::ID.1)
            .refusals(&[Refusal::Unfinished])
            .query::<Asked>()
            .reply(
                200,
                "The findings of both.",
                &Told {
                    new: Value::Array(vec![one(example::FINDING)]),
                    gone: Value::Array(Vec::new()),
                    kept: Value::Array(Vec::new()),
                },
            );
    }),
    handle,
};

members! {
    #[derive(Debug)]
    struct Asked {
        /// Id of the older board.
        against: String = required(id()),
    }
}

/// The findings of two boards.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Diff")]
struct Told {
    /// Those that only the board has.
    #[schemars(with = "Vec<Finding>")]
    new: Value,
    /// Those that only the older board has.
    #[schemars(with = "Vec<Finding>")]
    gone: Value,
    /// Those of both, as the board has them.
    #[schemars(with = "Vec<Finding>")]
    kept: Value,
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = board::id(request);
    let asked: Asked = request.query()?.read()?;
    let diff = emi::compare(id, &asked.against).map_err(|error| refusal::of(error, "board", id))?;
    Ok(Response::json(200, &told(&diff)?))
}

fn told(diff: &Diff) -> Result<Told, ApiError> {
    Ok(Told {
        new: parsed(&diff.new)?,
        gone: parsed(&diff.gone)?,
        kept: parsed(&diff.kept)?,
    })
}

#[cfg(test)]
mod tests {
    use guest::emi::Diff;
    use serde_json::json;

    use super::told;
    use crate::example;

    #[test]
    fn all_three_lists() {
        let diff = Diff {
            new: format!("[{}]", example::FINDING),
            gone: "[]".into(),
            kept: "[]".into(),
        };
        let told = json!(told(&diff).unwrap());
        assert_eq!(told["new"][0]["fingerprint"], "9f2c1b7a04d3e6aa");
        assert_eq!((&told["gone"], &told["kept"]), (&json!([]), &json!([])));
    }
}
