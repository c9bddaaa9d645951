//! `POST /plugins`: install a package, or another version of a plugin. Its bytes go from the connection to disk without
//! passing through here.

use guest::{
    ApiError, Openapi, Refusal, Request, Response, Route, form, plugins, streamed, uploads,
};
use schemars::json_schema;
use serde_json::json;

use crate::notes::{self, Notes};
use crate::plugin;

/// Largest package: a component of 32 MiB, its manifest and its signature. The host knows the bounds of each.
const BYTES_MAX: u32 = 33 << 20;

const TAR: &str = "application/x-tar";

pub(crate) const ROUTE: Route = Route {
    name: "plugins.install",
    method: "POST",
    pattern: "/plugins",
    credentials: plugin::CREDENTIALS,
    scope: plugin::SCOPE,
    body_limit: streamed(BYTES_MAX),
    summary: "Install a plugin",
    openapi: Openapi::of(|operation| {
        operation
            .description(
                "For operators: administrators of an organisation that the server's `plugins.operator_orgs` names. The \
                 body is the file that `hostd plugin pack` makes.",
            )
            .refusals(&[Refusal::Forbidden, Refusal::PluginRefused])
            .content(
                TAR,
                json_schema!({"type": "string", "contentMediaType": TAR}),
                json!("plugin.toml"),
            )
            .reply(
                200,
                "It serves, or waits until what it asks for is granted.",
                &Notes::example("acme.x 1.0.0  not signed"),
            )
            .reply(
                202,
                "It is still being compiled; `GET /plugins` tells what became of it.",
                &Notes::example("the package is still being compiled"),
            );
    }),
    handle,
};

fn handle(_: &Request) -> Result<Response, ApiError> {
    // Nothing is received from those who may not.
    plugins::may_install().map_err(|error| plugin::refusal(error, ""))?;
    let package = uploads::receive(BYTES_MAX.into()).map_err(form::refusal)?;
    notes::reply(plugins::install(package), "")
}
