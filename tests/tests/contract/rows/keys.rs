//! API keys.

use crate::call::{Rows, call, rows};

pub(super) fn all() -> Vec<Rows> {
    vec![
        rows("keys.list").success(200, call("/keys")),
        rows("keys.create")
            .success(
                201,
                call("/keys")
                    .json(r#"{"name":"ci","scopes":["bench:control"],"ttl_seconds":3600}"#),
            )
            .success(
                201,
                call("/keys").json(
                    r#"{"name":"later","scopes":["jobs:submit","emi:analyze","benchpod:control"]}"#,
                ),
            )
            .refusal(
                400,
                "invalid_request",
                call("/keys").json(r#"{"name":"x","scopes":["root"]}"#),
            ),
        rows("keys.update")
            .success(
                200,
                call("/keys/<key>").json(r#"{"name":"nightly","scopes":["bench:control"]}"#),
            )
            .refusal(
                404,
                "not_found",
                call("/keys/<missing>").json(r#"{"name":"x"}"#),
            ),
        rows("keys.revoke")
            .success(204, call("/keys/<new-key>"))
            .refusal(404, "not_found", call("/keys/<missing>")),
    ]
}
