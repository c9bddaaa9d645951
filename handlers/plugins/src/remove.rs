//! `DELETE /plugins/{id}`: remove a plugin.

use guest::plugins::Error;
use guest::{ApiError, Openapi, Refusal, Request, Response, Route, flag, members, plugins};

use crate::{notes, plugin};

pub(crate) const ROUTE: Route = Route {
    name: "plugins.remove",
    method: "DELETE",
    pattern: "/plugins/{id}",
    credentials: plugin::CREDENTIALS,
    scope: plugin::SCOPE,
    body_limit: 0,
    summary: "Remove a plugin",
    openapi: Openapi::of(|operation| {
        plugin::describe_id(operation);
        notes::describe_later(operation);
        operation
            .refusals(&[Refusal::Forbidden, Refusal::PluginRefused])
            .query::<Asked>()
            .reply_empty(204, "Removed.");
    }),
    handle,
};

members! {
    #[derive(Debug)]
    struct Asked {
        /// Also what it has stored, what it was granted, and its configuration.
        data: bool = or(flag(), false),
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = plugin::id(request);
    let Asked { data } = request.query()?.read()?;
    reply(plugins::remove(id, data), id)
}

fn reply(done: Result<(), Error>, id: &str) -> Result<Response, ApiError> {
    match done {
        Ok(()) => Ok(Response::no_content()),
        Err(error) => notes::reply(Err(error), id),
    }
}

#[cfg(test)]
mod tests {
    use guest::plugins::Error;
    use guest::testing::get;

    use super::{Asked, reply};

    #[test]
    fn what_is_gone_and_what_goes_on() {
        assert_eq!(reply(Ok(()), "x").unwrap().status, 204);
        let later = reply(Err(Error::Later("it goes on".into())), "x").unwrap();
        assert_eq!(later.status, 202);
        let refused = reply(Err(Error::Refused("no".into())), "x").unwrap_err();
        assert_eq!(refused.status, 422);
    }

    #[test]
    fn query() {
        let read = |query: &str| get(&["acme.x"], query).query().unwrap().read::<Asked>();
        assert!(!read("").unwrap().data);
        assert!(read("data=true").unwrap().data);
        assert_eq!(read("data=yes").unwrap_err().fields[0].field, "data");
    }
}
