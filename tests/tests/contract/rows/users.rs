//! People.

use crate::call::{Rows, call, rows};

pub(super) fn all() -> Vec<Rows> {
    vec![
        rows("users.list").success(200, call("/users")).refusal(
            403,
            "forbidden",
            call("/users").header("authorization", "Bearer <new-session>"),
        ),
        rows("users.create")
            .success(
                201,
                call("/users").json(r#"{"login":"<new-name>","role":"member"}"#),
            )
            .refusal(
                409,
                "login_taken",
                call("/users").json(r#"{"login":"owner"}"#),
            )
            .refusal(
                400,
                "invalid_request",
                call("/users").json(r#"{"login":"a b"}"#),
            )
            .refusal(
                403,
                "forbidden",
                call("/users")
                    .header("authorization", "Bearer <new-session>")
                    .json(r#"{"login":"x"}"#),
            ),
        rows("users.update")
            .success(200, call("/users/<user>").json(r#"{"role":"admin"}"#))
            .refusal(
                409,
                "last_owner",
                call("/users/<owner>").json(r#"{"role":"member"}"#),
            )
            .refusal(
                404,
                "not_found",
                call("/users/<missing>").json(r#"{"role":"admin"}"#),
            ),
        rows("users.remove")
            .success(204, call("/users/<new-user>"))
            .refusal(409, "last_owner", call("/users/<owner>"))
            .refusal(404, "not_found", call("/users/<missing>")),
        rows("users.code")
            .success(201, call("/users/<user>/code"))
            .refusal(404, "not_found", call("/users/<missing>/code")),
    ]
}
