//! Sign-in, renewal and exchange.

use crate::call::{Rows, call, rows};

const FORM: &str = "application/x-www-form-urlencoded";

pub(super) fn all() -> Vec<Rows> {
    vec![
        rows("auth.token")
            .success(
                200,
                call("/auth/token").json(r#"{"devices":["<name.demo>"],"ttl_seconds":900}"#),
            )
            .success(200, call("/auth/token"))
            .refusal(
                404,
                "not_found",
                call("/auth/token").json(r#"{"devices":["nobody"]}"#),
            )
            .refusal(
                400,
                "invalid_request",
                call("/auth/token").json(r#"{"ttl_seconds":59}"#),
            ),
        rows("auth.github")
            .success(
                200,
                call("/github/oidc/token").json(r#"{"token":"<id-token>"}"#),
            )
            .refusal(
                401,
                "invalid_credential",
                call("/github/oidc/token").json(r#"{"token":"a.b.c"}"#),
            )
            .refusal(
                403,
                "not_trusted",
                call("/github/oidc/token").json(r#"{"token":"<id-token.untrusted>"}"#),
            ),
        rows("auth.session")
            .success(200, call("/auth/session").json(r#"{"code":"<new-code>"}"#))
            .success(
                200,
                call("/auth/session").json(r#"{"code":"<new-code>","keep":true}"#),
            )
            .refusal(
                401,
                "invalid_credential",
                call("/auth/session").json(r#"{"code":"ABCD-EFGH"}"#),
            )
            .refusal(
                401,
                "invalid_credential",
                call("/auth/session")
                    .json(r#"{"login":"nobody","password":"correct horse battery"}"#),
            ),
        rows("auth.sign_in")
            .success(200, call("/auth/sign-in"))
            .success(200, call("/auth/sign-in?to=/api/jobs"))
            .refusal(400, "invalid_request", call("/auth/sign-in?to=")),
        rows("auth.sign_in_form")
            .success(
                303,
                call("/auth/sign-in").bytes(FORM, b"code=<new-code>&to=/api/jobs"),
            )
            .refusal(
                401,
                "invalid_credential",
                call("/auth/sign-in").bytes(FORM, b"login=nobody&password=correct+horse+battery"),
            )
            .refusal(
                400,
                "invalid_request",
                call("/auth/sign-in").bytes(FORM, b"login=nobody"),
            )
            .refusal(
                403,
                "forbidden",
                call("/auth/sign-in")
                    .bytes(FORM, b"code=ABCD-EFGH")
                    .header("origin", "https://elsewhere.example"),
            )
            .refusal(
                415,
                "unsupported_media_type",
                call("/auth/sign-in").json(r#"{"code":"ABCD-EFGH"}"#),
            ),
        rows("auth.sign_out").success(
            303,
            call("/auth/sign-out").header("authorization", "Bearer <new-session>"),
        ),
        rows("auth.session.current").success(200, call("/auth/session")),
        rows("auth.session.end").success(
            204,
            call("/auth/session").header("authorization", "Bearer <new-session>"),
        ),
        rows("auth.refresh")
            .success(
                200,
                call("/auth/guest/refresh").json(r#"{"refresh_token":"<new-refresh>"}"#),
            )
            .refusal(
                401,
                "invalid_credential",
                call("/auth/guest/refresh").json(r#"{"refresh_token":"rt_none"}"#),
            ),
        rows("auth.password")
            .success(
                200,
                call("/auth/password")
                    .header("authorization", "Bearer <new-session>")
                    .json(r#"{"new":"correct horse battery staple"}"#),
            )
            .refusal(
                400,
                "invalid_request",
                call("/auth/password").json(r#"{"new":"short"}"#),
            ),
    ]
}
