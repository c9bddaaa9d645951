//! `GET /decoders`: the protocol decoders, with their channels, options and annotation classes.

use guest::decode::{self, Class, Decoder, OptionInfo, Role, Row};
use guest::{ApiError, Openapi, Request, Response, Route};
use schemars::JsonSchema;
use serde::Serialize;

use crate::capture;

pub(crate) const ROUTE: Route = Route {
    name: "captures.decoders",
    method: "GET",
    pattern: "/decoders",
    credentials: capture::CREDENTIALS,
    scope: capture::SCOPE,
    body_limit: 0,
    summary: "List the protocol decoders",
    openapi: Openapi::of(|operation| {
        let example = [example()];
        let listed = Listed {
            decoders: example.iter().map(Shown::new).collect(),
        };
        operation.reply(
            200,
            "The built-in ones first, then those of plugins.",
            &listed,
        );
    }),
    handle,
};

/// All decoders.
#[derive(Serialize, JsonSchema)]
struct Listed<'a> {
    decoders: Vec<Shown<'a>>,
}

/// A decoder.
#[derive(Serialize, JsonSchema)]
struct Shown<'a> {
    /// The `protocol` of `GET /capture/{id}/decode`; of a plugin, `<plugin id>/<decoder id>`.
    id: &'a str,
    /// For people.
    name: &'a str,
    /// Roles of the capture's channels.
    channels: Vec<ShownRole<'a>>,
    options: Vec<ShownOption<'a>>,
    /// Annotation classes.
    classes: Vec<ShownClass<'a>>,
    /// Classes that are shown on one line.
    rows: Vec<ShownRow<'a>>,
}

/// A role that a channel of the capture plays.
#[derive(Serialize, JsonSchema)]
struct ShownRole<'a> {
    id: &'a str,
    name: &'a str,
    /// Decoding is impossible without it.
    required: bool,
}

/// An option of a decoder.
#[derive(Serialize, JsonSchema)]
struct ShownOption<'a> {
    id: &'a str,
    text: &'a str,
    default: &'a str,
    /// The values that it takes; absent for numbers and other texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<&'a [String]>,
}

/// A class of annotations.
#[derive(Serialize, JsonSchema)]
struct ShownClass<'a> {
    id: &'a str,
    text: &'a str,
}

/// A row.
#[derive(Serialize, JsonSchema)]
struct ShownRow<'a> {
    id: &'a str,
    text: &'a str,
    /// Ids of its classes.
    classes: &'a [String],
}

impl<'a> Shown<'a> {
    fn new(decoder: &'a Decoder) -> Self {
        let role = |role: &'a Role| ShownRole {
            id: &role.id,
            name: &role.name,
            required: role.required,
        };
        let option = |option: &'a OptionInfo| ShownOption {
            id: &option.id,
            text: &option.text,
            default: &option.default,
            values: (!option.values.is_empty()).then_some(option.values.as_slice()),
        };
        let class = |class: &'a Class| ShownClass {
            id: &class.id,
            text: &class.text,
        };
        let row = |row: &'a Row| ShownRow {
            id: &row.id,
            text: &row.text,
            classes: &row.classes,
        };
        Self {
            id: &decoder.id,
            name: &decoder.name,
            channels: decoder.channels.iter().map(role).collect(),
            options: decoder.options.iter().map(option).collect(),
            classes: decoder.classes.iter().map(class).collect(),
            rows: decoder.rows.iter().map(row).collect(),
        }
    }
}

fn handle(_: &Request) -> Result<Response, ApiError> {
    let decoders = decode::decoders();
    let decoders = decoders.iter().map(Shown::new).collect();
    Ok(Response::json(200, &Listed { decoders }))
}

fn example() -> Decoder {
    Decoder {
        id: "uart".to_owned(),
        name: "UART".to_owned(),
        channels: vec![Role {
            id: "rx".to_owned(),
            name: "UART receive line".to_owned(),
            required: false,
        }],
        options: vec![OptionInfo {
            id: "parity".to_owned(),
            text: "Parity".to_owned(),
            default: "none".to_owned(),
            values: vec!["none".to_owned(), "odd".to_owned(), "even".to_owned()],
        }],
        classes: vec![Class {
            id: "rx-data".to_owned(),
            text: "RX data".to_owned(),
        }],
        rows: vec![Row {
            id: "rx-data".to_owned(),
            text: "RX".to_owned(),
            classes: vec!["rx-data".to_owned()],
        }],
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Shown, example};

    #[test]
    fn values_are_left_out_where_they_cannot_be_listed() {
        let mut decoder = example();
        let shown = serde_json::to_value(Shown::new(&decoder)).unwrap();
        assert_eq!(
            shown["options"][0]["values"],
            json!(["none", "odd", "even"])
        );
        assert_eq!(shown["rows"][0]["classes"], json!(["rx-data"]));
        decoder.options[0].values.clear();
        let shown = serde_json::to_value(Shown::new(&decoder)).unwrap();
        assert_eq!(shown["options"][0].get("values"), None);
    }
}
