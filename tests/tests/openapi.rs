//! The OpenAPI document as it was last accepted, a file for each group of endpoints: `cargo xtask test
//! tests openapi --accept` rewrites them, and their diff shows how the API changes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use pod_protocol::{CAPTURE_SECONDS_MAX, LA_CHANNELS, UART_BAUD_MAX, UART_BAUD_MIN};
use serde_json::{Map, Value, json};
use tests::Server;

/// Beside this file.
const FOLDER: &str = "snapshots/openapi";

/// The file for everything that belongs to no group.
const REST: &str = "document";

/// Operations by path and method.
type Paths = BTreeMap<String, Map<String, Value>>;

/// Takes the operations out of the document, each under its tag.
fn groups(document: &mut Value) -> BTreeMap<String, Paths> {
    let paths = document["paths"].take();
    let mut groups: BTreeMap<String, Paths> = BTreeMap::new();
    for (path, methods) in paths.as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let tag = operation["tags"][0].as_str().unwrap().to_owned();
            let methods = groups.entry(tag).or_default().entry(path.clone());
            methods
                .or_default()
                .insert(method.clone(), operation.clone());
        }
    }
    groups
}

#[test]
fn the_openapi_document_is_the_snapshots() {
    let server = Server::demo().unwrap();
    let reply = server.anonymous().get("/api/openapi.json").unwrap();
    let mut document = reply.expect(200);
    let groups = groups(&mut document);
    let mut known = BTreeSet::from([REST]);
    insta::with_settings!({prepend_module_to_snapshot => false, snapshot_path => FOLDER}, {
        insta::assert_json_snapshot!(REST, document);
        for (tag, paths) in &groups {
            known.insert(tag);
            insta::assert_json_snapshot!(tag.as_str(), paths);
        }
    });
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(FOLDER);
    for entry in fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let is_known = name
            .strip_suffix(".snap")
            .is_none_or(|name| known.contains(name));
        assert!(is_known, "{name} is of a group that is gone; delete it");
    }
}

/// Each schema of the document with the name of its field or parameter.
fn fields<'a>(name: &'a str, value: &'a Value, visit: &mut impl FnMut(&'a str, &'a Value)) {
    let Some(object) = value.as_object() else {
        let items = value.as_array().into_iter().flatten();
        items.for_each(|item| fields(name, item, visit));
        return;
    };
    visit(name, value);
    if let (Some(name), Some(schema)) = (value["name"].as_str(), object.get("schema")) {
        fields(name, schema, visit);
    }
    for (key, inner) in object {
        match (key.as_str(), inner.as_object()) {
            ("example" | "examples" | "schema", _) if value["name"].is_string() => {}
            ("properties", Some(properties)) => {
                properties
                    .iter()
                    .for_each(|(name, inner)| fields(name, inner, visit));
            }
            _ => fields(name, inner, visit),
        }
    }
}

/// Handlers know no pod, so they have these bounds of their own.
#[test]
fn what_is_asked_of_pods_is_within_their_bounds() {
    let rates = (Some(UART_BAUD_MIN.into()), UART_BAUD_MAX.into());
    let channels = (Some(1.0), LA_CHANNELS.into());
    #[expect(clippy::cast_precision_loss, reason = "an hour")]
    let durations = (None, (CAPTURE_SECONDS_MAX * 1000) as f64);
    let mut bounds = BTreeMap::from([
        ("baud", rates),
        ("uart_baud", rates),
        ("duration_ms", durations),
    ]);
    for role in [
        "rx",
        "tx",
        "sda",
        "scl",
        "swclk",
        "swdio",
        "uart_rx",
        "uart_tx",
        "i2c_sda",
        "i2c_scl",
        "swd_swclk",
        "swd_swdio",
        "spi_sclk",
        "spi_mosi",
        "spi_miso",
        "spi_cs",
    ] {
        bounds.insert(role, channels);
    }
    let server = Server::demo().unwrap();
    let reply = server.anonymous().get("/api/openapi.json").unwrap();
    let document = reply.expect(200);
    let mut found = BTreeSet::new();
    fields("", &document, &mut |name, schema| {
        let (Some(max), Some(bounds)) = (schema["maximum"].as_f64(), bounds.get(name)) else {
            return;
        };
        assert_eq!((schema["minimum"].as_f64(), max), *bounds, "{name}");
        found.insert(name);
    });
    assert!(found.iter().eq(bounds.keys()), "{found:?}");
}

#[test]
fn operations_are_grouped_by_their_tag() {
    let operation = |tag| json!({"tags": [tag]});
    let mut document = json!({"info": 1, "paths": {
        "/a": {"get": operation("x"), "post": operation("y")},
        "/b": {"get": operation("x")},
    }});
    let groups = groups(&mut document);
    assert_eq!(document, json!({"info": 1, "paths": null}));
    let expected = json!({
        "x": {"/a": {"get": operation("x")}, "/b": {"get": operation("x")}},
        "y": {"/a": {"post": operation("y")}},
    });
    assert_eq!(json!(groups), expected);
}
