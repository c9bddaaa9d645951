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
                    summary: one(example::COMPARED),
                    new: Value::Array(vec![one(example::NEW_FINDING)]),
                    gone: Value::Array(Vec::new()),
                    kept: Value::Array(Vec::new()),
                    cut: Value::Array(Vec::new()),
                    notes: &[],
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
struct Told<'a> {
    /// How many of each.
    #[schemars(with = "Summary")]
    summary: Value,
    /// Those that only the board has.
    #[schemars(with = "Vec<Change>")]
    new: Value,
    /// Those that only the older board has.
    #[schemars(with = "Vec<Change>")]
    gone: Value,
    /// Those of both, as the board has them.
    #[schemars(with = "Vec<Kept>")]
    kept: Value,
    /// Rules of which not everything is listed, so that nobody knows what of theirs is new or gone.
    #[schemars(with = "Vec<Cut>")]
    cut: Value,
    /// What may look like a change of the board and is none.
    notes: &'a [String],
}

/// How much changed.
#[derive(JsonSchema)]
#[schemars(rename = "DiffSummary")]
#[allow(dead_code, reason = "only what the document says of it is used")]
struct Summary {
    /// New for certain.
    new: Counts,
    /// New in the list, but perhaps there before.
    perhaps_new: Counts,
    /// Gone for certain.
    gone: Counts,
    /// Gone from the list, but perhaps still there.
    perhaps_gone: Counts,
    /// In both.
    kept: Counts,
    /// Of these, those that became worse, by what they are now.
    worse: Counts,
}

/// How many of each severity.
#[derive(JsonSchema)]
#[schemars(rename = "PerSeverity")]
#[allow(dead_code, reason = "only what the document says of it is used")]
struct Counts {
    critical: u64,
    warning: u64,
    info: u64,
}

/// A finding that one of the boards has.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "only what the document says of it is used")]
struct Change {
    #[serde(flatten)]
    finding: Finding,
    /// `false` if the other report does not list everything of this rule.
    certain: bool,
}

/// A finding that both boards have.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "only what the document says of it is used")]
struct Kept {
    #[serde(flatten)]
    finding: Finding,
    /// Its severity before, if it was another.
    #[serde(skip_serializing_if = "Option::is_none")]
    was: Option<String>,
}

/// A rule of which not everything is listed.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "only what the document says of it is used")]
struct Cut {
    /// Its id.
    rule: String,
    found_before: u64,
    listed_before: u64,
    found_now: u64,
    listed_now: u64,
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = board::id(request);
    let asked: Asked = request.query()?.read()?;
    let diff = emi::compare(id, &asked.against).map_err(|error| refusal::of(error, "board", id))?;
    Ok(Response::json(200, &told(&diff)?))
}

fn told(diff: &Diff) -> Result<Told<'_>, ApiError> {
    Ok(Told {
        summary: parsed(&diff.summary)?,
        new: parsed(&diff.new)?,
        gone: parsed(&diff.gone)?,
        kept: parsed(&diff.kept)?,
        cut: parsed(&diff.cut)?,
        notes: &diff.notes,
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
            summary: example::COMPARED.into(),
            new: format!("[{}]", example::NEW_FINDING),
            gone: "[]".into(),
            kept: "[]".into(),
            cut: "[]".into(),
            notes: vec!["a rule was off".into()],
        };
        let told = json!(told(&diff).unwrap());
        assert_eq!(told["new"][0]["fingerprint"], "9f2c1b7a04d3e6aa");
        assert_eq!((&told["gone"], &told["kept"]), (&json!([]), &json!([])));
        assert_eq!(told["new"][0]["certain"], true);
        assert_eq!(told["summary"]["new"]["critical"], 1);
        assert_eq!(told["notes"], json!(["a rule was off"]));
    }
}
