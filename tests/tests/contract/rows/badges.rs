//! Badges.

use crate::call::{Rows, call, rows};

pub(super) fn all() -> Vec<Rows> {
    vec![
        rows("badges.list").success(200, call("/badges")),
        rows("badges.create")
            .success(
                201,
                call("/badges").json(r#"{"name":"blinky","ref":"main","label":"bench"}"#),
            )
            .refusal(
                400,
                "invalid_request",
                call("/badges").json(r#"{"name":""}"#),
            ),
        rows("badges.image")
            .success(200, call("/badges/<badge>/badge.svg"))
            .success(
                304,
                call("/badges/<badge>/badge.svg").header("if-none-match", "*"),
            )
            .refusal(404, "not_found", call("/badges/<missing>/badge.svg")),
        rows("badges.remove")
            .success(204, call("/badges/<new-badge>"))
            .refusal(404, "not_found", call("/badges/<missing>")),
    ]
}
