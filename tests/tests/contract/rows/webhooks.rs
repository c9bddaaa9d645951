//! Webhooks. Nobody listens where theirs lead.

use crate::call::{Rows, call, rows};

pub(super) fn all() -> Vec<Rows> {
    vec![
        rows("webhooks.list").success(200, call("/webhooks")),
        rows("webhooks.create")
            .success(
                201,
                call("/webhooks").json(r#"{"url":"https://receiver.invalid/hook","events":["job.finished"],"name":"blinky","ref":"main"}"#),
            )
            .refusal(400, "invalid_request", call("/webhooks").json(r#"{"url":"http://127.0.0.1/hook"}"#))
            .refusal(400, "invalid_request", call("/webhooks").json(r#"{"url":"https://u:p@receiver.invalid/"}"#)),
        rows("webhooks.get")
            .success(200, call("/webhooks/<webhook>"))
            .refusal(404, "not_found", call("/webhooks/<missing>")),
        rows("webhooks.update")
            .success(200, call("/webhooks/<webhook>").json(r#"{"enabled":true,"name":""}"#))
            .refusal(404, "not_found", call("/webhooks/<missing>").json(r#"{"enabled":false}"#)),
        rows("webhooks.rotate")
            .success(200, call("/webhooks/<webhook>/rotate"))
            .refusal(404, "not_found", call("/webhooks/<missing>/rotate")),
        rows("webhooks.remove")
            .success(204, call("/webhooks/<new-webhook>"))
            .refusal(404, "not_found", call("/webhooks/<missing>")),
        rows("webhooks.deliveries")
            .success(200, call("/webhooks/<webhook>/deliveries"))
            .refusal(404, "not_found", call("/webhooks/<missing>/deliveries")),
        rows("webhooks.test")
            .success(202, call("/webhooks/<webhook>/test"))
            .refusal(409, "wrong_state", call("/webhooks/<webhook.disabled>/test"))
            .refusal(404, "not_found", call("/webhooks/<missing>/test")),
        rows("webhooks.redeliver")
            .success(202, call("/webhooks/<webhook.tried>/deliveries/<delivery.failed>/redeliver"))
            .refusal(404, "not_found", call("/webhooks/<webhook>/deliveries/<missing>/redeliver"))
            .refusal(
                409,
                "wrong_state",
                call("/webhooks/<webhook.disabled>/deliveries/<missing>/redeliver"),
            ),
    ]
}
