//! Route patterns and matching.

use super::*;

fn route(name: &str, method: &str, pattern: &str) -> Route {
    Route {
        name: name.into(),
        method: method.into(),
        pattern: pattern.into(),
        credentials: Credentials::API_KEY,
        scope: None,
        body_limit: 0,
        streamed_body: false,
        summary: String::new(),
        openapi: "{}".into(),
    }
}

fn table() -> RouteTable {
    let mut table = RouteTable::default();
    table
        .add(
            0,
            &[
                route("any", "GET", "/bench/devices/{id}"),
                route("drop", "DELETE", "/bench/devices/{id}"),
                route("fixed", "GET", "/bench/devices/all"),
                route("file", "GET", "/builds/{job}/artifacts/{name...}"),
            ],
        )
        .unwrap();
    table
}

fn found(method: &str, path: &str) -> Option<(String, Vec<String>)> {
    match table().find(method, path) {
        Match::Found { entry, params } => Some((entry.declared.name.clone(), params)),
        _ => None,
    }
}

#[test]
fn a_mount_takes_what_nobody_else_takes_below_it() {
    let mut table = RouteTable::default();
    table.add(0, &[route("own", "GET", "/x/a/own")]).unwrap();
    let all = [
        route("get", "GET", "/x/a/{path...}"),
        route("put", "PUT", "/x/a/{path...}"),
    ];
    table.mount(2, &all).unwrap();
    let found = |method: &str, path: &str| match table.find(method, path) {
        Match::Found { entry, params } => {
            assert!(params.is_empty(), "{params:?}");
            Some((entry.group, entry.declared.name.clone()))
        }
        _ => None,
    };
    let mounted = |name: &str| Some((2, name.to_owned()));
    for path in ["", "/", "/b", "/b/", "//", "/b//c", "/%ff", "/own/"] {
        let path = format!("/api/x/a{path}");
        assert_eq!(found("GET", &path), mounted("get"), "{path}");
        assert_eq!(found("PUT", &path), mounted("put"), "{path}");
        assert!(matches!(table.find("POST", &path), Match::OtherMethod(_)));
    }
    assert_eq!(found("GET", "/api/x/a/own"), Some((0, "own".to_owned())));
    for path in ["/api/x", "/api/x/b", "/api/x/ab"] {
        assert_eq!(found("GET", path), None, "{path}");
    }
    assert!(table.mount(2, &all).is_err());
}

#[test]
fn placeholders_literals_rest_and_alias() {
    let hit = |name: &str, params: &[&str]| {
        Some((
            name.to_owned(),
            params.iter().map(|p| (*p).to_owned()).collect(),
        ))
    };
    for (method, path, expected) in [
        ("GET", "/api/bench/devices/x1", hit("any", &["x1"])),
        ("HEAD", "/api/bench/devices/x1", hit("any", &["x1"])),
        ("GET", "/api/bench/devices/all", hit("fixed", &[])),
        ("GET", "/api/benchpod/devices/x1", hit("any", &["x1"])),
        ("GET", "/api/bench/devices/a%20b", hit("any", &["a b"])),
        (
            "GET",
            "/api/builds/7/artifacts/out/fw.elf",
            hit("file", &["7", "out/fw.elf"]),
        ),
        ("GET", "/api/bench/devices/", None),
        ("GET", "/api/bench/devices/%ff", None),
        ("GET", "/api/bench/devices/%2", None),
        ("GET", "/api/builds/7/artifacts", None),
        ("GET", "/bench/devices/x1", None),
        ("GET", "/apiary/bench/devices/x1", None),
        ("GET", "/api", None),
    ] {
        assert_eq!(found(method, path), expected, "{method} {path}");
    }
}

#[test]
fn other_method_lists_what_is_allowed() {
    match table().find("PUT", "/api/bench/devices/x1") {
        Match::OtherMethod(allow) => assert_eq!(allow, "DELETE, GET, HEAD"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_path_has_the_methods_of_its_own_pattern_alone() {
    let mut table = RouteTable::default();
    let routes = [
        route("get", "GET", "/captures/{id}"),
        route("delete", "DELETE", "/captures/{id}"),
        route("start", "POST", "/captures/start"),
        route("file", "GET", "/captures/{name...}"),
    ];
    table.add(0, &routes).unwrap();
    for (method, path, allowed) in [
        ("PUT", "/api/captures/start", "POST"),
        ("GET", "/api/captures/start", "POST"),
        ("POST", "/api/captures/x1", "DELETE, GET, HEAD"),
        ("DELETE", "/api/captures/x1/y", "GET, HEAD"),
    ] {
        match table.find(method, path) {
            Match::OtherMethod(allow) => assert_eq!(allow, allowed, "{method} {path}"),
            other => panic!("{method} {path}: {other:?}"),
        }
    }
}

#[test]
fn bad_tables_are_refused() {
    for (pattern, reason) in [
        ("devices", "start with /"),
        ("/a//b", "empty"),
        ("/a/{id", "not closed"),
        ("/a/x{id}", "misplaced"),
        ("/a/{rest...}/b", "follow"),
    ] {
        let error = RouteTable::default()
            .add(0, &[route("r", "GET", pattern)])
            .unwrap_err();
        assert!(error.to_string().contains(reason), "{pattern}: {error}");
    }
    let twice = [route("a", "GET", "/x/{id}"), route("b", "GET", "/x/{name}")];
    assert!(matches!(
        RouteTable::default().add(0, &twice),
        Err(RouteError::Twice { .. })
    ));
    assert!(matches!(
        RouteTable::default().add(0, &[route("a", "FETCH", "/x")]),
        Err(RouteError::Method { .. })
    ));
}
