//! What the OpenAPI document says of an endpoint, made from the types that the endpoint reads and answers.

use std::io::{self, Write};
use std::path::Path;
use std::{env, fs};

use schemars::JsonSchema;
use serde_json::{Map, Value, json};

mod error;
mod schema;

pub use error::OperationError;

/// The media type of most bodies.
const JSON: &str = "application/json";

/// The OpenAPI members `parameters`, `requestBody` and `responses` of one endpoint.
///
/// A build script makes it, on the machine that builds the plugin, so that the component carries the finished text and
/// nothing that made it. The types are in a file of their own, which the plugin and its build script both compile:
///
/// ```ignore
/// // build.rs
/// use hostd_plugin::{Operation, OperationError};
///
/// #[path = "src/wire.rs"]
/// mod wire;
///
/// fn main() -> Result<(), OperationError> {
///     Operation::new()
///         .query::<wire::Asked>()
///         .reply::<wire::Names>(200, "Names of the devices.")
///         .write("names")
/// }
/// ```
///
/// The route takes it as `.openapi(hostd_plugin::operation!("names"))`. Whatever a type has that cannot be described is told
/// at the end, by [`finish`](Self::finish) or [`write`](Self::write).
#[derive(Debug, Default)]
#[must_use]
pub struct Operation {
    parameters: Vec<Value>,
    body: Option<Value>,
    replies: Map<String, Value>,
    /// The first.
    refusal: Option<OperationError>,
}

impl Operation {
    /// Of an endpoint of which nothing is known yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A placeholder of the pattern.
    pub fn path(mut self, name: &str, about: &str) -> Self {
        self.parameters.push(json!({
            "name": name,
            "in": "path",
            "required": true,
            "description": about,
            "schema": {"type": "string"},
        }));
        self
    }

    /// The parameters of the query, which [`Request::query_as`](crate::Request::query_as) reads: a struct whose members
    /// are texts, numbers, booleans or words of an enum. Their doc comments become descriptions.
    pub fn query<Q: JsonSchema>(mut self) -> Self {
        match schema::parameters::<Q>() {
            Ok(parameters) => self.parameters.extend(parameters),
            Err(error) => self.refuse(error),
        }
        self
    }

    /// The JSON body, which [`Request::json`](crate::Request::json) reads.
    pub fn body<B: JsonSchema>(mut self) -> Self {
        match schema::read::<B>() {
            Ok(schema) => {
                let content = json!({(JSON): {"schema": schema}});
                self.body = Some(json!({"required": true, "content": content}));
            }
            Err(error) => self.refuse(error),
        }
        self
    }

    /// A JSON answer. Its schema promises no more than its author wrote: neither the bounds of Rust's integers, nor that
    /// members which may be `null` are there.
    pub fn reply<A: JsonSchema>(mut self, status: u16, about: &str) -> Self {
        match schema::answered::<A>() {
            Ok(schema) => self.content(status, about, JSON, &schema),
            Err(error) => self.refuse(error),
        }
        self
    }

    /// An answer that is text of some media type, such as `text/csv`.
    pub fn reply_text(mut self, status: u16, about: &str, media_type: &str) -> Self {
        self.content(status, about, media_type, &json!({"type": "string"}));
        self
    }

    /// An answer without a body.
    pub fn reply_empty(mut self, status: u16, about: &str) -> Self {
        self.response(status, about);
        self
    }

    /// A JSON object for [`Route::openapi`](crate::Route::openapi).
    ///
    /// # Errors
    /// There is no answer, or the first type that cannot be described.
    pub fn finish(self) -> Result<Value, OperationError> {
        if let Some(error) = self.refusal {
            return Err(error);
        }
        if self.replies.is_empty() {
            return Err(OperationError::NoReply);
        }
        let mut members = json!({"responses": self.replies});
        if !self.parameters.is_empty() {
            members["parameters"] = self.parameters.into();
        }
        if let Some(body) = self.body {
            members["requestBody"] = body;
        }
        Ok(members)
    }

    /// Finish it for `operation!(name)`. For build scripts alone.
    ///
    /// # Errors
    /// As [`finish`](Self::finish), or it cannot be written to the folder that cargo gives a build script.
    pub fn write(self, name: &str) -> Result<(), OperationError> {
        let text = self.finish()?.to_string();
        let folder = env::var_os("OUT_DIR").ok_or(OperationError::NoFolder)?;
        let path = Path::new(&folder).join(format!("{name}.json"));
        fs::write(path, text).map_err(OperationError::Write)?;
        // The types are compiled into the script, and cargo runs a script that it compiled.
        writeln!(io::stdout(), "cargo::rerun-if-changed=build.rs").map_err(OperationError::Write)
    }

    fn refuse(&mut self, error: OperationError) {
        self.refusal.get_or_insert(error);
    }

    fn content(&mut self, status: u16, about: &str, media_type: &str, schema: &Value) {
        self.response(status, about)["content"][media_type] = json!({"schema": schema});
    }

    fn response(&mut self, status: u16, about: &str) -> &mut Value {
        let replies = self.replies.entry(status.to_string());
        replies.or_insert_with(|| json!({"description": about}))
    }
}

#[cfg(test)]
mod tests;
