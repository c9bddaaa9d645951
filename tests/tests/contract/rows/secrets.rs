//! Secrets of the organisation.

use crate::call::{Rows, call, rows};

const VALUE: &str = r#"{"value":"correct horse battery staple","refs":["main","release/*"]}"#;

pub(super) fn all() -> Vec<Rows> {
    vec![
        rows("secrets.list").success(200, call("/secrets")),
        rows("secrets.put")
            .success(201, call("/secrets/<new-name.secret>").json(VALUE))
            .success(200, call("/secrets/<org-secret>").json(VALUE))
            .refusal(400, "invalid_request", call("/secrets/lower").json(VALUE))
            .refusal(
                400,
                "invalid_request",
                call("/secrets/A").json(r#"{"value":"        "}"#),
            )
            .refusal(
                400,
                "invalid_request",
                call("/secrets/A").json(r#"{"value":"12345678","refs":["/main"]}"#),
            ),
        rows("secrets.remove")
            .success(204, call("/secrets/<new-org-secret>"))
            .refusal(404, "not_found", call("/secrets/<missing>")),
    ]
}
