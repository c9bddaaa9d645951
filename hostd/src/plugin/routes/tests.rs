//! Routes of strangers.

use super::*;
use crate::http::routes::Match;

fn route(name: &str, pattern: &str) -> wit::Route {
    wit::Route {
        name: name.to_owned(),
        method: "GET".to_owned(),
        pattern: pattern.to_owned(),
        scope: None,
        public: false,
        body_limit: 0,
        summary: "One".to_owned(),
        openapi: String::new(),
        extra: Vec::new(),
    }
}

fn id() -> PluginId {
    "acme.rails".parse().unwrap()
}

#[test]
fn a_route_is_found_below_the_plugin_and_nowhere_else() {
    let table = table(&id(), vec![route("one", "/devices/{id}/report")], false).unwrap();
    let Match::Found { entry, params } = table.find("GET", "/api/x/acme.rails/devices/d1/report")
    else {
        panic!("not found");
    };
    assert_eq!(
        (entry.declared.name.as_str(), params),
        ("x.acme.rails.one", vec!["d1".to_owned()])
    );
    assert!(matches!(
        table.find("GET", "/api/devices/d1/report"),
        Match::None
    ));
}

/// Breaks a rule.
type Change = fn(&mut wit::Route);

#[test]
fn each_rule_is_told() {
    let broken: [(&str, Change); 15] = [
        ("name", |r| r.name = "a\"b".to_owned()),
        ("name", |r| r.name = "x\ny".to_owned()),
        ("name", |r| r.name = String::new()),
        ("method", |r| r.method = "WS".to_owned()),
        ("pattern", |r| r.pattern = "devices".to_owned()),
        ("pattern", |r| r.pattern = "/a b".to_owned()),
        ("pattern", |r| r.pattern = format!("/{}", "a".repeat(256))),
        ("reports", |r| r.pattern = "/reports/job/{id}".to_owned()),
        ("reports", |r| r.name = "reports.job".to_owned()),
        ("scope", |r| r.scope = Some("bench:everything".to_owned())),
        ("public", |r| r.public = true),
        ("body-limit", |r| r.body_limit = BODY_BYTES_MAX + 1),
        ("summary", |r| r.summary = "a\u{1b}[2J".to_owned()),
        ("openapi", |r| r.openapi = "[]".to_owned()),
        ("openapi", |r| {
            r.openapi = format!("{{\"a\":\"{}\"}}", "x".repeat(OPENAPI_BYTES_MAX))
        }),
    ];
    for (word, change) in broken {
        let mut one = route("one", "/a");
        change(&mut one);
        let error = table(&id(), vec![one], false).unwrap_err().to_string();
        assert!(error.contains(word), "{word}: {error}");
    }
}

#[test]
fn routes_may_neither_be_many_nor_twins() {
    let many = (0..=ROUTES_MAX).map(|n| route(&format!("r{n}"), &format!("/{n}")));
    assert_eq!(
        table(&id(), many.collect(), false).unwrap_err(),
        RoutesError::Many(257)
    );
    let same = vec![route("a", "/a"), route("a", "/b")];
    let same = table(&id(), same, false).unwrap();
    let twice = check_names(&same).unwrap_err().to_string();
    assert!(twice.contains("its name is taken"), "{twice}");
    let different = vec![route("a", "/a"), route("b", "/b")];
    assert_eq!(
        check_names(&table(&id(), different, false).unwrap()),
        Ok(())
    );
    let hidden = vec![route("a", "/{x}"), route("b", "/{x}")];
    assert!(table(&id(), hidden, false).is_err());
    assert!(table(&id(), vec![route("a", "/{x"),], false).is_err());
}

#[test]
fn public_routes_need_the_manifests_word() {
    let mut hook = route("hook", "/hook");
    hook.public = true;
    assert!(table(&id(), vec![hook.clone()], false).is_err());
    assert!(table(&id(), vec![hook], true).is_ok());
}
