//! Every route is described completely, and its examples match its description.

use guest::Route;
use serde_json::{Map, Value, json};

use super::GROUPS;

#[test]
fn descriptions_are_whole_and_their_examples_fit() {
    let all = super::all();
    let mut checked = 0;
    for (group, routes) in GROUPS {
        for route in *routes {
            let members = &all[group]["routes"][route.name];
            let problem = check(route, members, &all[group]["schemas"]);
            assert_eq!(problem, Ok(()), "{}", route.name);
            checked += 1;
        }
    }
    assert!(checked > 60, "{checked} routes");
}

#[test]
fn no_route_is_declared_twice() {
    let all: Vec<&Route> = GROUPS.iter().flat_map(|(_, routes)| *routes).collect();
    for (index, route) in all.iter().enumerate() {
        let same = |other: &&Route| {
            other.name == route.name
                || (other.method, other.pattern) == (route.method, route.pattern)
        };
        assert!(!all[index + 1..].iter().any(same), "{}", route.name);
    }
}

#[test]
fn what_is_missing_is_told() {
    let route = Route {
        name: "things.get",
        pattern: "/things/{id}",
        ..handler_updates::ROUTES[1]
    };
    let id = json!([{"name": "id", "in": "path", "required": true, "description": "d", "schema": {"type": "string"}}]);
    let told = |mut members: Value| {
        members["parameters"] = id.clone();
        check(&route, &members, &json!({})).unwrap_err()
    };
    let bare = check(&route, &json!({}), &json!({})).unwrap_err();
    assert_eq!(bare, "has other path parameters than []");
    assert_eq!(told(json!({})), "has no responses");
    assert_eq!(
        told(json!({"responses": {"404": {}}})),
        "404 is the host's to document"
    );
    let reply = |content: Value| json!({"responses": {"200": {"description": "d", "content": {"application/json": content}}}});
    assert_eq!(
        told(reply(json!({"schema": {}}))),
        "200 application/json lacks schema or example"
    );
    let wrong = told(reply(json!({"schema": {"type": "string"}, "example": 1})));
    assert!(
        wrong.starts_with("200 application/json example: 1 is not"),
        "{wrong}"
    );
    assert_eq!(
        told(json!({"requestBody": {}})),
        "requestBody and body_limit disagree"
    );
}

fn check(route: &Route, members: &Value, schemas: &Value) -> Result<(), String> {
    check_parameters(route, members)?;
    let body = members.get("requestBody");
    if body.is_some() != (route.body_limit > 0) {
        return Err("requestBody and body_limit disagree".into());
    }
    if let Some(body) = body {
        check_content(body, schemas).map_err(|e| format!("requestBody {e}"))?;
    }
    let responses = members["responses"].as_object();
    let responses = responses.filter(|responses| !responses.is_empty());
    for (status, response) in responses.ok_or("has no responses")? {
        let is_own = match status.as_str() {
            "101" => route.method == "WS",
            "303" => route.method == "POST",
            "304" => route.method == "GET",
            status => status.starts_with('2'),
        };
        if !is_own {
            return Err(format!("{status} is the host's to document"));
        }
        if !response["description"].is_string() {
            return Err(format!("{status} has no description"));
        }
        if !matches!(status.as_str(), "101" | "204" | "303" | "304") {
            check_content(response, schemas).map_err(|e| format!("{status} {e}"))?;
        }
    }
    Ok(())
}

fn check_parameters(route: &Route, members: &Value) -> Result<(), String> {
    let mut in_path = Vec::new();
    for parameter in members["parameters"].as_array().into_iter().flatten() {
        let name = parameter["name"]
            .as_str()
            .ok_or("a parameter has no name")?;
        let said = parameter["description"].as_str().unwrap_or_default();
        if !parameter["schema"].is_object() || said.is_empty() {
            return Err(format!("parameter {name} lacks schema or description"));
        }
        if parameter["in"] == "path" {
            in_path.push(name);
        }
    }
    let placeholders: Vec<&str> = route
        .pattern
        .split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
        .map(|name| name.strip_suffix("...").unwrap_or(name))
        .collect();
    if in_path == placeholders {
        Ok(())
    } else {
        Err(format!("has other path parameters than {in_path:?}"))
    }
}

fn check_content(body: &Value, schemas: &Value) -> Result<(), String> {
    for (media_type, content) in body["content"].as_object().unwrap_or(&Map::new()) {
        if !content["schema"].is_object() || content.get("example").is_none() {
            return Err(format!("{media_type} lacks schema or example"));
        }
        let whole = json!({"components": {"schemas": schemas}, "allOf": [content["schema"]]});
        let whole = jsonschema::draft202012::new(&whole).map_err(|e| e.to_string())?;
        whole
            .validate(&content["example"])
            .map_err(|e| format!("{media_type} example: {e}"))?;
    }
    let content = body["content"].as_object();
    content.map_or(Err("has no content".into()), |_| Ok(()))
}
