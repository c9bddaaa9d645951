//! What became of an order, as sentences.

use guest::plugins::Error;
use guest::{ApiError, Operation, Response};
use schemars::JsonSchema;
use serde::Serialize;

use crate::plugin;

/// What became of an order.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Notes {
    /// Sentences for people.
    notes: Vec<String>,
}

impl Notes {
    pub(crate) fn of(notes: Vec<String>) -> Self {
        Self { notes }
    }

    /// For the documentation.
    pub(crate) fn example(sentence: &str) -> Self {
        Self::of(vec![sentence.to_owned()])
    }
}

/// Document that an order may go on without its caller.
pub(crate) fn describe_later(operation: &mut Operation) {
    operation.reply(
        202,
        "It goes on; `GET /plugins` tells what became of it.",
        &Notes::example("it goes on; the list of plugins tells what became of it"),
    );
}

/// The answer to an order about the plugin `id`; what goes on without its caller is 202.
pub(crate) fn reply(done: Result<Vec<String>, Error>, id: &str) -> Result<Response, ApiError> {
    match done {
        Ok(notes) => Ok(Response::json(200, &Notes::of(notes))),
        Err(Error::Later(sentence)) => Ok(Response::json(202, &Notes::of(vec![sentence]))),
        Err(error) => Err(plugin::refusal(error, id)),
    }
}

#[cfg(test)]
mod tests {
    use guest::plugins::Error;
    use guest::testing::json;
    use serde_json::json;

    use super::reply;

    #[test]
    fn what_is_done_and_what_goes_on() {
        let done = reply(Ok(vec!["it serves".into()]), "x").unwrap();
        assert_eq!(
            (done.status, json(&done)),
            (200, json!({"notes": ["it serves"]}))
        );
        let later = reply(Err(Error::Later("it goes on".into())), "x").unwrap();
        assert_eq!(
            (later.status, json(&later)),
            (202, json!({"notes": ["it goes on"]}))
        );
        assert_eq!(reply(Err(Error::NotFound), "x").unwrap_err().status, 404);
    }
}
