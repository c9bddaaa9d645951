//! Describes the endpoints in the server's OpenAPI document, by the types of their bodies and answers.

use hostd_plugin::{Operation, OperationError};

#[path = "src/wire.rs"]
mod wire;

fn main() -> Result<(), OperationError> {
    Operation::new()
        .reply::<wire::Report>(200, "Every rail that could be read, and the devices that could not be asked.")
        .write("rails")?;
    Operation::new()
        .body::<wire::Warning>()
        .reply::<wire::Warning>(200, "What is stored now.")
        .write("warning")
}
