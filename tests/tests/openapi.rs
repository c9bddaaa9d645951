//! The OpenAPI document as it was last accepted, a file for each group of endpoints: `cargo xtask test
//! tests openapi --accept` rewrites them, and their diff shows how the API changes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

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
