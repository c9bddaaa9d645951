//! `GET /decoders`: the protocol decoders, with their channels, options and annotation classes.

use guest::decode::{self, Class, Decoder, OptionInfo, Role, Row};
use guest::{ApiError, Openapi, Request, Response, Route, members, text};
use schemars::JsonSchema;
use serde::Serialize;

use crate::capture;
use crate::decode::{ENGINE_REFUSALS, ENGINES, Engine, PROTOCOL_CHARS_MAX, refusal};

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
            decoders: example.iter().map(|one| Shown::new(one, HOSTD)).collect(),
        };
        operation.refusals(&ENGINE_REFUSALS).query::<Asked>().reply(
            200,
            "The built-in ones first, then those of plugins; or those of sigrok-cli.",
            &listed,
        );
    }),
    handle,
};

/// The engines of decoders, as they are listed.
const HOSTD: &str = "hostd";
const PLUGIN: &str = "plugin";
const SIGROK: &str = "sigrok";

members! {
    #[derive(Debug)]
    struct Asked {
        /// `sigrok`: those of an installed sigrok-cli, with ids and names alone.
        engine: Engine = or(ENGINES.shape(), Engine::Hostd),
        /// With `engine=sigrok`: all of this decoder, or of several on top of each other (`i2c,ds1307`).
        protocol: Option<String> = optional(text(1..=PROTOCOL_CHARS_MAX)),
    }
}

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
    /// Whose it is: `hostd`, `plugin` or `sigrok`.
    engine: &'a str,
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
    fn new(decoder: &'a Decoder, engine: &'a str) -> Self {
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
            engine,
            name: &decoder.name,
            channels: decoder.channels.iter().map(role).collect(),
            options: decoder.options.iter().map(option).collect(),
            classes: decoder.classes.iter().map(class).collect(),
            rows: decoder.rows.iter().map(row).collect(),
        }
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let asked = parse(request)?;
    let decoders = match asked.engine {
        Engine::Hostd => decode::decoders(),
        Engine::Sigrok => {
            let decoders = decode::sigrok_decoders(asked.protocol.as_deref());
            decoders.map_err(|error| refusal(error, ""))?
        }
    };
    let engine = |decoder: &Decoder| match asked.engine {
        Engine::Sigrok => SIGROK,
        Engine::Hostd if decoder.id.contains('/') => PLUGIN,
        Engine::Hostd => HOSTD,
    };
    let decoders = decoders.iter().map(|one| Shown::new(one, engine(one)));
    let decoders = decoders.collect();
    Ok(Response::json(200, &Listed { decoders }))
}

fn parse(request: &Request) -> Result<Asked, ApiError> {
    let asked: Asked = request.query()?.read()?;
    match (asked.engine, &asked.protocol) {
        (Engine::Hostd, Some(_)) => Err(ApiError::field("protocol", "needs engine=sigrok")),
        _ => Ok(asked),
    }
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

    use guest::testing::get;

    use super::{Shown, example, parse};

    #[test]
    fn values_are_left_out_where_they_cannot_be_listed() {
        let mut decoder = example();
        let shown = serde_json::to_value(Shown::new(&decoder, "hostd")).unwrap();
        assert_eq!(shown["engine"], "hostd");
        assert_eq!(
            shown["options"][0]["values"],
            json!(["none", "odd", "even"])
        );
        assert_eq!(shown["rows"][0]["classes"], json!(["rx-data"]));
        decoder.options[0].values.clear();
        let shown = serde_json::to_value(Shown::new(&decoder, "hostd")).unwrap();
        assert_eq!(shown["options"][0].get("values"), None);
    }

    #[test]
    fn one_decoder_is_described_where_not_all_are() {
        let asked = parse(&get(&[], "engine=sigrok&protocol=i2c%2Cds1307")).unwrap();
        assert_eq!(asked.protocol.as_deref(), Some("i2c,ds1307"));
        assert!(parse(&get(&[], "")).unwrap().protocol.is_none());
        for (query, field) in [
            ("protocol=i2c", "protocol"),
            ("engine=other", "engine"),
            ("engine=sigrok&protocol=", "protocol"),
        ] {
            let error = parse(&get(&[], query)).unwrap_err();
            assert_eq!((error.status, &*error.fields[0].field), (400, field));
        }
    }
}
