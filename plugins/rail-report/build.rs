//! Describes the endpoints, by the types that they answer.

use hostd_plugin::{Operation, OperationError};

#[path = "src/answer.rs"]
mod answer;

fn main() -> Result<(), OperationError> {
    Operation::new()
        .reply::<answer::Report>(
            200,
            "Every rail that could be read, and the devices that could not be asked.",
        )
        .write("report")?;
    Operation::new()
        .reply_text(
            200,
            "A line for each rail, under a line of names.",
            "text/csv",
        )
        .write("csv")
}
