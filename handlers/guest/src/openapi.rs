//! Checks that a route's OpenAPI members are complete and that their examples fit their schemas, for
//! the unit tests of handlers. Knows the part of JSON Schema that the handlers use.

use serde_json::{Map, Value};

use crate::Route;

/// # Panics
/// When the members of a route are incomplete; the message says which and what is missing.
pub fn check(routes: &[Route]) {
    for route in routes {
        if let Err(problem) = check_route(route) {
            panic!("{}: {problem}", route.name);
        }
    }
    for (index, route) in routes.iter().enumerate() {
        let same = |other: &Route| {
            other.name == route.name
                || (other.method, other.pattern) == (route.method, route.pattern)
        };
        assert!(
            !routes[index + 1..].iter().any(same),
            "{} is declared twice",
            route.name
        );
    }
}

/// The example body of a route's request.
///
/// # Panics
/// When there is none.
#[must_use]
pub fn request_example(route: &Route) -> Vec<u8> {
    let document: Value = serde_json::from_str(route.openapi).expect("the members are JSON");
    let example = &document["requestBody"]["content"]["application/json"]["example"];
    assert!(example.is_object(), "{} has no example", route.name);
    example.to_string().into_bytes()
}

fn check_route(route: &Route) -> Result<(), String> {
    let document: Map<String, Value> =
        serde_json::from_str(route.openapi).map_err(|e| format!("not a JSON object: {e}"))?;
    for member in document.keys() {
        if ![
            "parameters",
            "requestBody",
            "responses",
            "description",
            "refusals",
        ]
        .contains(&member.as_str())
        {
            return Err(format!("unexpected member {member}"));
        }
    }
    if let Some(refusals) = document.get("refusals") {
        let words = refusals.as_array().ok_or("refusals is not a list")?;
        if !words.iter().all(Value::is_string) {
            return Err("refusals are codes of docs/http-status.md".into());
        }
    }
    check_parameters(route, &document)?;
    let body = document.get("requestBody");
    if body.is_some() != (route.body_limit > 0) {
        return Err("requestBody and body_limit disagree".into());
    }
    if let Some(body) = body {
        check_content(body).map_err(|e| format!("requestBody {e}"))?;
    }
    let responses = document
        .get("responses")
        .and_then(Value::as_object)
        .filter(|responses| !responses.is_empty())
        .ok_or("has no responses")?;
    for (status, response) in responses {
        let upgrades = route.method == "WS" && status == "101";
        if !status.starts_with('2') && !upgrades {
            return Err(format!("{status} is the host's to document"));
        }
        if !response["description"].is_string() {
            return Err(format!("{status} has no description"));
        }
        if status != "204" && !upgrades {
            check_content(response).map_err(|e| format!("{status} {e}"))?;
        }
    }
    Ok(())
}

fn check_parameters(route: &Route, document: &Map<String, Value>) -> Result<(), String> {
    let none = Vec::new();
    let parameters = document
        .get("parameters")
        .map_or(Some(&none), Value::as_array)
        .ok_or("parameters is not a list")?;
    let mut in_path = Vec::new();
    for parameter in parameters {
        let name = parameter["name"]
            .as_str()
            .ok_or("a parameter has no name")?;
        if !parameter["schema"].is_object() || !parameter["description"].is_string() {
            return Err(format!("parameter {name} lacks schema or description"));
        }
        if parameter["in"] == "path" {
            if parameter["required"] != true {
                return Err(format!("path parameter {name} must be required"));
            }
            in_path.push(name);
        } else if parameter["in"] != "query" && parameter["in"] != "header" {
            return Err(format!("parameter {name} is in no place there is"));
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
        Err(format!(
            "{} has other path parameters than {in_path:?}",
            route.pattern
        ))
    }
}

fn check_content(body: &Value) -> Result<(), String> {
    let content = body["content"].as_object().ok_or("has no content")?;
    for (media_type, content) in content {
        if !content["schema"].is_object() || content.get("example").is_none() {
            return Err(format!("{media_type} lacks schema or example"));
        }
        fits(&content["example"], &content["schema"])
            .map_err(|e| format!("{media_type} example {e}"))?;
    }
    Ok(())
}

/// Whether a value fits a schema.
///
/// # Errors
/// Path and reason of the first misfit.
pub fn fits(value: &Value, schema: &Value) -> Result<(), String> {
    fits_type(value, &schema["type"])?;
    if let Some(words) = schema["enum"].as_array()
        && !words.contains(value)
    {
        return Err(format!("{value} is not in enum"));
    }
    if let Some(schemas) = schema["oneOf"].as_array() {
        let fitting = schemas.iter().filter(|s| fits(value, s).is_ok()).count();
        if fitting != 1 {
            return Err(format!("{value} fits {fitting} schemas of oneOf"));
        }
    }
    if let Some(number) = value.as_f64() {
        let bound = |name: &str| schema[name].as_f64();
        if bound("minimum").is_some_and(|min| number < min)
            || bound("maximum").is_some_and(|max| number > max)
        {
            return Err(format!("{number} is out of bounds"));
        }
    }
    if let Some(items) = value.as_array() {
        for item in items {
            fits(item, &schema["items"]).map_err(|e| format!("[] {e}"))?;
        }
    }
    value
        .as_object()
        .map_or(Ok(()), |members| fits_object(members, schema))
}

fn fits_object(members: &Map<String, Value>, schema: &Value) -> Result<(), String> {
    for name in schema["required"].as_array().into_iter().flatten() {
        if !name.as_str().is_some_and(|name| members.contains_key(name)) {
            return Err(format!("lacks {name}"));
        }
    }
    for (name, value) in members {
        let known = schema["properties"].get(name);
        if known.is_none() && schema["additionalProperties"] == false {
            return Err(format!("has {name}, which the schema does not"));
        }
        let schema = known.unwrap_or(&schema["additionalProperties"]);
        fits(value, schema).map_err(|e| format!(".{name} {e}"))?;
    }
    Ok(())
}

fn fits_type(value: &Value, types: &Value) -> Result<(), String> {
    let is = |name: &str| match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    };
    let fits = match types {
        Value::String(name) => is(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(is),
        _ => true,
    };
    if fits {
        Ok(())
    } else {
        Err(format!("{value} is not of type {types}"))
    }
}

#[cfg(test)]
mod tests;
