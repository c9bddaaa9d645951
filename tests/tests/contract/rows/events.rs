//! What happens, as it happens.

use crate::call::{Rows, call, rows};

pub(super) fn all() -> Vec<Rows> {
    vec![
        rows("events.follow")
            .success(200, call("/events?seconds=0"))
            .success(200, call("/events?seconds=0&after=4fGk2mXyW0-17"))
            .success(
                200,
                call("/events?seconds=0").header("last-event-id", "no place"),
            )
            .refusal(400, "invalid_request", call("/events?after=")),
    ]
}
