//! What the OpenAPI document says about a route, built from the types that the route works with.
//!
//! The crate `describe` asks for it on the machine that builds the handlers; a component carries
//! none of it.
//!
//! ```
//! # #[derive(serde::Serialize, schemars::JsonSchema)]
//! # struct Thing { name: &'static str }
//! use guest::Openapi;
//!
//! const THING: Openapi = Openapi::of(|operation| {
//!     operation.path("id", "Thing id.");
//!     operation.reply(200, "The thing.", &Thing { name: "x" });
//! });
//! ```

use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::{Member, Members, Refusal};

mod schemas;

pub use schemas::{Schemas, Time};

/// The description of a route.
#[derive(Debug, Clone, Copy)]
pub struct Openapi {
    /// The members as JSON; empty when they are made from types.
    text: &'static str,
    #[cfg(not(target_arch = "wasm32"))]
    types: Option<fn(&mut Operation)>,
}

impl Openapi {
    /// Built from types when the handlers are built.
    #[must_use]
    pub const fn of(types: fn(&mut Operation)) -> Self {
        // So that code that is only called from there is not linked into the component.
        #[cfg(target_arch = "wasm32")]
        let _ = types;
        Self {
            text: "",
            #[cfg(not(target_arch = "wasm32"))]
            types: Some(types),
        }
    }

    /// A JSON object with the OpenAPI members `parameters`, `requestBody`, `responses`, `description`,
    /// and with `refusals`.
    #[must_use]
    pub const fn text(text: &'static str) -> Self {
        Self {
            text,
            #[cfg(not(target_arch = "wasm32"))]
            types: None,
        }
    }

    /// The text that the component itself carries.
    pub(crate) fn declared(&self) -> &'static str {
        self.text
    }

    /// The members; schemas of records are collected in `schemas`.
    ///
    /// # Panics
    /// When a text is not a JSON object.
    #[cfg(not(target_arch = "wasm32"))]
    #[must_use]
    pub fn members(&self, schemas: &mut Schemas) -> Map<String, Value> {
        match self.types {
            Some(types) => {
                let mut operation = Operation::new(schemas);
                types(&mut operation);
                operation.finish()
            }
            None => serde_json::from_str(self.text).expect("the members are a JSON object"),
        }
    }
}

/// The media type of most bodies.
const JSON: &str = "application/json";

/// Records what a route says about itself.
#[derive(Debug)]
pub struct Operation<'s> {
    schemas: &'s mut Schemas,
    description: Option<&'static str>,
    refusals: Vec<&'static str>,
    parameters: Vec<Value>,
    request: Map<String, Value>,
    body_may_be_absent: bool,
    replies: Map<String, Value>,
}

#[cfg(not(target_arch = "wasm32"))]
impl<'s> Operation<'s> {
    fn new(schemas: &'s mut Schemas) -> Self {
        Self {
            schemas,
            description: None,
            refusals: Vec::new(),
            parameters: Vec::new(),
            request: Map::new(),
            body_may_be_absent: false,
            replies: Map::new(),
        }
    }

    fn finish(self) -> Map<String, Value> {
        let mut members = Map::new();
        if let Some(description) = self.description {
            members.insert("description".to_owned(), description.into());
        }
        if !self.refusals.is_empty() {
            members.insert("refusals".to_owned(), self.refusals.into());
        }
        if !self.parameters.is_empty() {
            members.insert("parameters".to_owned(), self.parameters.into());
        }
        if !self.request.is_empty() {
            let body = json!({"required": !self.body_may_be_absent, "content": self.request});
            members.insert("requestBody".to_owned(), body);
        }
        members.insert("responses".to_owned(), self.replies.into());
        members
    }
}

impl Operation<'_> {
    /// What the summary does not say.
    pub fn description(&mut self, text: &'static str) -> &mut Self {
        self.description = Some(text);
        self
    }

    /// Refusals of the route itself, besides those that any route may answer with.
    pub fn refusals(&mut self, refusals: &[Refusal]) -> &mut Self {
        self.refusals.extend(refusals.iter().map(|r| r.word()));
        if refusals.contains(&Refusal::LeaseHeld) {
            // Whatever a lease can keep from a caller, it can have kept with one that is over.
            self.refusals.push(Refusal::LeaseLost.word());
        }
        self
    }

    /// A placeholder of the pattern.
    pub fn path(&mut self, name: &str, description: &str) -> &mut Self {
        self.parameters.push(json!({
            "name": name,
            "in": "path",
            "required": true,
            "description": description,
            "schema": {"type": "string"}
        }));
        self
    }

    /// A placeholder that takes texts of this many characters at most, and of this pattern alone.
    pub fn path_like(
        &mut self,
        name: &str,
        description: &str,
        chars_max: usize,
        pattern: &str,
    ) -> &mut Self {
        self.path(name, description);
        if let Some(parameter) = self.parameters.last_mut() {
            parameter["schema"]["maxLength"] = chars_max.into();
            parameter["schema"]["pattern"] = pattern.into();
        }
        self
    }

    /// The parameters of the query.
    pub fn query<T: Members>(&mut self) -> &mut Self {
        self.parameters
            .extend(T::members().into_iter().map(|m| parameter("query", m)));
        self
    }

    /// All parameters of the query that the route does not name.
    pub fn other_queries(&mut self, name: &str, description: &str) -> &mut Self {
        self.parameters.push(json!({
            "name": name,
            "in": "query",
            "description": description,
            "schema": {"type": "object", "additionalProperties": {"type": "string"}},
            "style": "form",
            "explode": true
        }));
        self
    }

    /// A parameter of the query that the host takes before the route is entered.
    pub fn host_query(&mut self, name: &str, description: &str) -> &mut Self {
        self.optional_text("query", name, description)
    }

    /// A header that the route, or the host on its behalf, looks at.
    pub fn header(&mut self, name: &str, description: &str) -> &mut Self {
        self.optional_text("header", name, description)
    }

    fn optional_text(&mut self, place: &str, name: &str, description: &str) -> &mut Self {
        self.parameters.push(json!({
            "name": name,
            "in": place,
            "description": description,
            "schema": {"type": "string"}
        }));
        self
    }

    /// The JSON body. The example is what a client sends.
    pub fn body<T: Members>(&mut self, example: Value) -> &mut Self {
        self.content(JSON, T::schema(), example)
    }

    /// The body may be left out: the route reads it with [`crate::Request::json_or_empty`].
    pub fn body_may_be_absent(&mut self) -> &mut Self {
        self.body_may_be_absent = true;
        self
    }

    /// The JSON body, in one of several forms.
    pub fn body_of(
        &mut self,
        choices: impl IntoIterator<Item = Schema>,
        example: Value,
    ) -> &mut Self {
        let choices: Vec<Schema> = choices.into_iter().collect();
        self.content(JSON, schemars::json_schema!({"oneOf": choices}), example)
    }

    /// The body as a form: a file, and the parts of `T`, which are text.
    pub fn form<T: Members>(&mut self, file: &str, description: &str, example: Value) -> &mut Self {
        let mut members = Map::new();
        let content = json!({
            "type": "string",
            "contentMediaType": "application/octet-stream",
            "description": description
        });
        members.insert(file.to_owned(), content);
        let parts = T::members();
        let mut required = vec![file.to_owned()];
        required.extend(parts.iter().filter(|m| m.required).map(|m| m.name.clone()));
        members.extend(
            parts
                .into_iter()
                .map(|m| (m.name.clone(), m.documented().into())),
        );
        let schema = schemars::json_schema!({
            "type": "object",
            "required": required,
            "properties": members,
            "additionalProperties": false
        });
        self.content("multipart/form-data", schema, example)
    }

    /// A body of some media type.
    pub fn content(&mut self, media_type: &str, schema: Schema, example: Value) -> &mut Self {
        let content = json!({"schema": schema, "example": example});
        self.request.insert(media_type.to_owned(), content);
        self
    }

    /// An answer with a record, and an example of that record.
    pub fn reply<T: JsonSchema + Serialize>(
        &mut self,
        status: u16,
        description: &str,
        example: &T,
    ) -> &mut Self {
        let schema = self.schemas.of::<T>();
        self.reply_content(status, description, JSON, schema, json!(example))
    }

    /// An answer of some media type.
    pub fn reply_content(
        &mut self,
        status: u16,
        description: &str,
        media_type: &str,
        schema: Value,
        example: Value,
    ) -> &mut Self {
        let response = self.response(status, description);
        response["content"][media_type] = json!({"schema": schema, "example": example});
        self
    }

    /// An answer without a body.
    pub fn reply_empty(&mut self, status: u16, description: &str) -> &mut Self {
        self.response(status, description);
        self
    }

    fn response(&mut self, status: u16, description: &str) -> &mut Value {
        self.replies
            .entry(status.to_string())
            .or_insert_with(|| json!({"description": description}))
    }
}

fn parameter(place: &str, member: Member) -> Value {
    let Member {
        name,
        description,
        required,
        schema,
        default,
    } = member;
    let schema = Member {
        name: String::new(),
        description: String::new(),
        required,
        schema,
        default,
    };
    let mut parameter = json!({
        "name": name,
        "in": place,
        "description": description,
        "schema": schema.documented()
    });
    if required {
        parameter["required"] = true.into();
    }
    parameter
}

#[cfg(test)]
mod tests;
