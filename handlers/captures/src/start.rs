//! Starting a capture, of whatever kind: what is answered, and how it can be refused.

use guest::captures::{self, Started, Status};
use guest::{ApiError, Operation, Refusal, Response};
use schemars::JsonSchema;
use serde::Serialize;

use crate::capture::STATES;
use crate::refusal;

/// A capture that is to come.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Started")]
struct StartedRecord<'a> {
    capture_id: &'a str,
    #[schemars(extend("enum" = started_states()))]
    status: &'static str,
    /// A sentence for each number of the order that the device will change, such as a rate that it
    /// does not have. Absent when there is none.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: &'a [String],
}

/// The states that a capture can be in when its start is answered.
fn started_states() -> [&'static str; 4] {
    let states = [
        Status::Pending,
        Status::Armed,
        Status::Running,
        Status::Done,
    ];
    states.map(|state| STATES.word(state))
}

/// Document what starting a capture answers and how it can be refused.
pub(crate) fn describe(operation: &mut Operation) {
    let example = StartedRecord {
        capture_id: "01JGZ5V9T3N8W2K4Q7R6D1M0XC",
        status: STATES.word(Status::Pending),
        warnings: &[],
    };
    operation
        .refusals(&[
            Refusal::DeviceOffline,
            Refusal::DeviceBusy,
            Refusal::LeaseHeld,
            Refusal::NotCapable,
            Refusal::QuotaExceeded,
        ])
        .reply(
            202,
            "Accepted and stored; watch it with `GET /capture/{id}`.",
            &example,
        );
}

/// The same for the logic analyzer, whose input bank needs a level.
pub(crate) fn describe_logic(operation: &mut Operation) {
    describe(operation);
    operation.refusals(&[Refusal::WrongState]);
}

/// Start a capture and return its id; the caller watches it with `GET /capture/{id}`.
pub(crate) fn start(order: &captures::Order) -> Result<Response, ApiError> {
    captures::start(order)
        .map(|capture| started(&capture))
        .map_err(|error| refusal::of(error, "device", &order.device))
}

fn started(capture: &Started) -> Response {
    let record = StartedRecord {
        capture_id: &capture.info.id,
        status: STATES.word(capture.info.status),
        warnings: &capture.warnings,
    };
    Response::json(202, &record)
}

#[cfg(test)]
mod tests {
    use guest::captures::{Started, Status};
    use guest::testing::json;
    use serde_json::json;

    use super::started;
    use crate::capture::example;

    #[test]
    fn started_is_202_with_the_id() {
        let mut info = example();
        info.status = Status::Pending;
        let mut capture = Started {
            info,
            warnings: Vec::new(),
        };
        let response = started(&capture);
        assert_eq!(response.status, 202);
        assert_eq!(
            json(&response),
            json!({"capture_id": "01JGZ5V9T3N8W2K4Q7R6D1M0XC", "status": "pending"})
        );
        capture.warnings.push("slower".into());
        assert_eq!(json(&started(&capture))["warnings"], json!(["slower"]));
    }
}
