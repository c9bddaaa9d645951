//! `POST /bench/devices`: make a pod that dials in a device. The pod is known by its public key, so that registering it
//! again changes nothing.

use guest::{
    ApiError, JSON_BODY_BYTES_MAX, Openapi, Refusal, Request, Response, Route, Shape, devices,
    members, spelled,
};
use schemars::{JsonSchema, Schema, json_schema};
use serde::Serialize;
use serde_json::{Value, json};

use crate::device::{self, Record};

/// Characters of a public key.
const KEY_CHARS: usize = 43;

pub(crate) const ROUTE: Route = Route {
    name: "devices.register",
    method: "POST",
    pattern: "/bench/devices",
    credentials: device::CREDENTIALS,
    scope: device::SCOPE,
    body_limit: JSON_BODY_BYTES_MAX,
    summary: "Register a pod that dials in",
    openapi: Openapi::of(|operation| {
        operation
            .refusals(&[Refusal::Forbidden, Refusal::NameTaken, Refusal::WrongState])
            .body::<Body>(json!({
                "name": "bench-7",
                "public_key": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"
            }))
            .reply(
                201,
                "The device, for whose `id` the pod dials in from now on. For administrators, with a credential \
                 that is not restricted to devices.",
                &example(),
            )
            .reply(
                200,
                "The pod's device, which there was before: as it is, or admitted again.",
                &example(),
            );
    }),
    handle,
};

members! {
    struct Body {
        name: String = required(device::name()),
        /// The pod's own, as its command `identity_public` tells it.
        public_key: String = required(spelled(KEY_CHARS..=KEY_CHARS, "A-Za-z0-9_-")),
        /// Taken as published clients send it. The pod itself says what it can.
        parameters: () = or(Anything, ()),
    }
}

/// An object that means nothing.
struct Anything;

impl Shape for Anything {
    type Value = ();

    fn read(&self, value: &Value) -> Result<(), String> {
        match value {
            Value::Object(_) => Ok(()),
            _ => Err("must be an object".to_owned()),
        }
    }

    fn schema(&self) -> Schema {
        json_schema!({"type": "object", "additionalProperties": true})
    }
}

/// A device that was registered.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RegisteredDevice")]
struct Registered<'a> {
    #[serde(flatten)]
    device: Record<'a>,
    /// Id of the user who registered it; empty if it came otherwise.
    owner_user_id: &'a str,
    organization_id: &'a str,
}

fn example() -> Registered<'static> {
    Registered {
        device: device::example(),
        owner_user_id: "01JGZ5V9T3N8W2K4Q7R6D1M0XB",
        organization_id: "01JGZ5V9T3N8W2K4Q7R6D1M0XC",
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let Body {
        name,
        public_key,
        parameters: (),
    } = parse(request)?;
    let registered = devices::register(&name, &public_key);
    let registered = registered.map_err(|error| device::refusal(error, &name))?;
    let reply = Registered {
        device: Record::from(&registered.device),
        owner_user_id: &registered.owner,
        organization_id: &registered.org,
    };
    let status = if registered.is_new { 201 } else { 200 };
    Ok(Response::json(status, &reply))
}

fn parse(request: &Request) -> Result<Body, ApiError> {
    request.json()?.read()
}

#[cfg(test)]
mod tests {
    use guest::testing::request;

    use super::{KEY_CHARS, parse};

    #[test]
    fn a_pod_is_its_key() {
        let key = "k".repeat(KEY_CHARS);
        let body = format!(r#"{{"name":"a","public_key":"{key}","parameters":{{"board":"b"}}}}"#);
        let read = parse(&request(&body)).unwrap();
        assert_eq!((read.name.as_str(), read.public_key), ("a", key.clone()));
        for body in [
            "{}".to_owned(),
            r#"{"name":"a"}"#.to_owned(),
            format!(r#"{{"name":"a b","public_key":"{key}"}}"#),
            format!(r#"{{"name":"a","public_key":"{key}k"}}"#),
            format!(r#"{{"name":"a","public_key":"{}="}}"#, &key[1..]),
            format!(r#"{{"name":"a","public_key":"{key}","parameters":1}}"#),
            format!(r#"{{"name":"a","public_key":"{key}","device_id":"x"}}"#),
        ] {
            let refused = parse(&request(&body)).err();
            assert_eq!(refused.map(|refused| refused.status), Some(400), "{body}");
        }
    }

    #[test]
    fn the_example_is_accepted() {
        let mut request = request("");
        request.body = guest::testing::request_example(&super::ROUTE);
        assert!(parse(&request).is_ok());
    }
}
