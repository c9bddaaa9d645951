//! Trust rules for CI runs.

use crate::call::{Rows, call, rows};

pub(super) fn all() -> Vec<Rows> {
    vec![
        rows("trust.list").success(200, call("/github/trust")),
        rows("trust.create")
            .success(
                201,
                call("/github/trust").json(r#"{"repository":"acme/other","ref":"refs/heads/main","devices":["<name.demo>"],"ttl_seconds":3600}"#),
            )
            .refusal(400, "invalid_request", call("/github/trust").json(r#"{"repository":"*/*"}"#))
            .refusal(404, "not_found", call("/github/trust").json(r#"{"repository":"acme/x","devices":["nobody"]}"#)),
        rows("trust.update")
            .success(200, call("/github/trust/<new-rule>").json(r#"{"enabled":false}"#))
            .refusal(404, "not_found", call("/github/trust/<missing>").json(r#"{"enabled":false}"#)),
        rows("trust.remove")
            .success(204, call("/github/trust/<new-rule>"))
            .refusal(404, "not_found", call("/github/trust/<missing>")),
    ]
}
