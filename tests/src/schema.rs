//! Whether a JSON value fits a schema, for the part of JSON Schema 2020-12 that the OpenAPI document
//! uses. A keyword that is not known here fails, so that none is silently ignored.

use serde_json::{Map, Value};

/// Deepest nesting of schemas; the document's are flat.
const DEPTH_MAX: usize = 32;

/// Keywords that say nothing about whether a value fits.
const NOTES: [&str; 7] = [
    "default",
    "deprecated",
    "description",
    "example",
    "examples",
    "readOnly",
    "title",
];

/// A document whose schemas refer to each other.
#[derive(Debug, Clone, Copy)]
pub struct Schemas<'a>(pub &'a Value);

impl Schemas<'_> {
    /// Check a value against a schema of the document.
    ///
    /// # Errors
    /// Path and reason of the first misfit, or of what is wrong with the schema.
    pub fn fits(&self, value: &Value, schema: &Value) -> Result<(), String> {
        self.check(value, schema, "$", 0)
    }

    fn check(&self, value: &Value, schema: &Value, at: &str, depth: usize) -> Result<(), String> {
        if depth > DEPTH_MAX {
            return Err(format!("{at}: the schema is nested too deeply"));
        }
        let keywords = match schema {
            Value::Bool(true) => return Ok(()),
            Value::Bool(false) => return Err(format!("{at}: nothing may stand here")),
            Value::Object(keywords) => keywords,
            other => return Err(format!("{at}: {other} is no schema")),
        };
        for (keyword, rule) in keywords {
            if NOTES.contains(&keyword.as_str()) {
                continue;
            }
            let said = |why: String| format!("{at}: {why}");
            match keyword.as_str() {
                "$ref" => self.check(value, self.resolve(rule)?, at, depth + 1)?,
                "allOf" | "anyOf" | "oneOf" => self.check_some(value, keyword, rule, at, depth)?,
                "items" => {
                    for (i, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.check(item, rule, &format!("{at}[{i}]"), depth + 1)?;
                    }
                }
                "properties" => {
                    for (name, rule) in rule.as_object().into_iter().flatten() {
                        if let Some(member) = value.get(name) {
                            self.check(member, rule, &format!("{at}.{name}"), depth + 1)?;
                        }
                    }
                }
                "additionalProperties" => {
                    for (name, member) in further(value, keywords) {
                        self.check(member, rule, &format!("{at}.{name}"), depth + 1)?;
                    }
                }
                _ => check_plain(value, keyword, rule).map_err(said)?,
            }
        }
        Ok(())
    }

    fn check_some(
        &self,
        value: &Value,
        keyword: &str,
        rule: &Value,
        at: &str,
        depth: usize,
    ) -> Result<(), String> {
        let schemas = rule.as_array().ok_or("a list of schemas is none")?;
        let misfits: Vec<String> = schemas
            .iter()
            .filter_map(|schema| self.check(value, schema, at, depth + 1).err())
            .collect();
        let fitting = schemas.len() - misfits.len();
        let fits = match keyword {
            "allOf" => misfits.is_empty(),
            "anyOf" => fitting > 0,
            _ => fitting == 1,
        };
        if fits {
            return Ok(());
        }
        let why = misfits.join("; ");
        Err(format!("{at}: fits {fitting} of {keyword}: {why}"))
    }

    fn resolve(&self, reference: &Value) -> Result<&Value, String> {
        let pointer = reference.as_str().and_then(|text| text.strip_prefix('#'));
        let target = pointer.and_then(|pointer| self.0.pointer(pointer));
        target.ok_or_else(|| format!("{reference} leads nowhere"))
    }
}

/// Members that `properties` does not list.
fn further<'v>(
    value: &'v Value,
    keywords: &'v Map<String, Value>,
) -> impl Iterator<Item = (&'v String, &'v Value)> {
    let known = keywords.get("properties");
    let members = value.as_object().into_iter().flatten();
    members.filter(move |(name, _)| known.is_none_or(|known| known.get(name.as_str()).is_none()))
}

/// The keywords that need no other schema. Each concerns one type and lets others pass.
fn check_plain(value: &Value, keyword: &str, rule: &Value) -> Result<(), String> {
    let bound = || {
        rule.as_f64()
            .ok_or_else(|| format!("{keyword} {rule} is no number"))
    };
    let number =
        |fits: fn(f64, f64) -> bool| Ok(value.as_f64().is_none_or(|n| fits(n, bound_of(rule))));
    let chars = || value.as_str().map(|text| count(text.chars().count()));
    let items = || value.as_array().map(|items| count(items.len()));
    let members = || value.as_object().map(|members| count(members.len()));
    let fits: Result<bool, String> = match keyword {
        "type" => Ok(is_of(value, rule)),
        "const" => Ok(value == rule),
        "enum" => Ok(rule.as_array().is_some_and(|words| words.contains(value))),
        "minimum" => number(|n, bound| n >= bound),
        "maximum" => number(|n, bound| n <= bound),
        "exclusiveMinimum" => number(|n, bound| n > bound),
        "exclusiveMaximum" => number(|n, bound| n < bound),
        "minLength" => bound().map(|min| chars().is_none_or(|n| n >= min)),
        "maxLength" => bound().map(|max| chars().is_none_or(|n| n <= max)),
        "minItems" => bound().map(|min| items().is_none_or(|n| n >= min)),
        "maxItems" => bound().map(|max| items().is_none_or(|n| n <= max)),
        "minProperties" => bound().map(|min| members().is_none_or(|n| n >= min)),
        "maxProperties" => bound().map(|max| members().is_none_or(|n| n <= max)),
        "uniqueItems" => Ok(value.as_array().is_none_or(|items| are_distinct(items))),
        "required" => return has_all(value, rule),
        "pattern" => return fits_pattern(value, rule),
        "format" => has_format(value, rule),
        _ => Err(format!("the keyword {keyword} is not known to these tests")),
    };
    if fits? {
        Ok(())
    } else {
        Err(format!("{value} breaks {keyword} {rule}"))
    }
}

fn bound_of(rule: &Value) -> f64 {
    rule.as_f64().unwrap_or(f64::NAN)
}

/// Far below where a double would round it.
fn count(n: usize) -> f64 {
    f64::from(u32::try_from(n).unwrap_or(u32::MAX))
}

fn are_distinct(items: &[Value]) -> bool {
    let mut rest = items;
    while let [first, others @ ..] = rest {
        if others.contains(first) {
            return false;
        }
        rest = others;
    }
    true
}

fn has_all(value: &Value, names: &Value) -> Result<(), String> {
    let Some(members) = value.as_object() else {
        return Ok(());
    };
    let names = names.as_array().ok_or("required is no list")?;
    let missing = names
        .iter()
        .find(|name| name.as_str().is_none_or(|name| !members.contains_key(name)));
    missing.map_or(Ok(()), |name| Err(format!("lacks {name}")))
}

fn is_of(value: &Value, types: &Value) -> bool {
    let is = |name: &str| match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    };
    match types {
        Value::String(name) => is(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(is),
        _ => false,
    }
}

/// `^[classes]{m,n}$`, one class with one count, as all patterns of the document are.
fn fits_pattern(value: &Value, pattern: &Value) -> Result<(), String> {
    let Some(text) = value.as_str() else {
        return Ok(());
    };
    let unknown = || format!("the pattern {pattern} is not of a kind that these tests know");
    let whole = pattern
        .as_str()
        .and_then(|p| p.strip_prefix("^[")?.strip_suffix('$'));
    let (class, counts) = whole.and_then(|p| p.rsplit_once(']')).ok_or_else(unknown)?;
    let (least, most) = match counts {
        "+" => (1, usize::MAX),
        "*" => (0, usize::MAX),
        counts => {
            let inner = counts.strip_prefix('{').and_then(|c| c.strip_suffix('}'));
            let inner = inner.ok_or_else(unknown)?;
            let (least, most) = inner.split_once(',').unwrap_or((inner, inner));
            let read = |text: &str| text.parse().map_err(|_| unknown());
            (read(least)?, read(most)?)
        }
    };
    let chars = text.chars().count();
    let allowed = ranges(class);
    let fits = (least..=most).contains(&chars)
        && text.chars().all(|c| {
            allowed
                .iter()
                .any(|(low, high)| (*low..=*high).contains(&c))
        });
    if fits {
        Ok(())
    } else {
        Err(format!("{value} does not match {pattern}"))
    }
}

/// The ranges of a character class: `A-Za-z0-9._-`.
fn ranges(class: &str) -> Vec<(char, char)> {
    let chars: Vec<char> = class.chars().filter(|c| *c != '\\').collect();
    let mut ranges = Vec::new();
    let mut rest = &chars[..];
    while let [low, others @ ..] = rest {
        rest = match others {
            ['-', high, after @ ..] => {
                ranges.push((*low, *high));
                after
            }
            _ => {
                ranges.push((*low, *low));
                others
            }
        };
    }
    ranges
}

fn has_format(value: &Value, format: &Value) -> Result<bool, String> {
    let Some(text) = value.as_str() else {
        return Ok(true);
    };
    match format.as_str() {
        // Whole seconds or with a fraction, in UTC, as all times of the API are.
        Some("date-time") => Ok(is_utc_time(text)),
        Some("binary" | "password") => Ok(true),
        Some("uri") => Ok(text.contains("://")),
        _ => Err(format!("the format {format} is not known to these tests")),
    }
}

fn is_utc_time(text: &str) -> bool {
    let mask: Vec<u8> = text
        .bytes()
        .map(|b| if b.is_ascii_digit() { b'0' } else { b })
        .collect();
    let Some(rest) = mask.strip_prefix(b"0000-00-00T00:00:00") else {
        return false;
    };
    match rest {
        b"Z" => true,
        [b'.', fraction @ .., b'Z'] => !fraction.is_empty() && fraction.iter().all(|b| *b == b'0'),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Schemas;

    fn fits(value: &Value, schema: &Value) -> bool {
        Schemas(&json!({"of": {"text": {"type": "string"}}}))
            .fits(value, schema)
            .is_ok()
    }

    /// Schema, a value that fits, a value that does not.
    fn enforce(rows: impl IntoIterator<Item = (Value, Value, Value)>) {
        for (schema, good, bad) in rows {
            assert!(fits(&good, &schema), "{schema} {good}");
            assert!(!fits(&bad, &schema), "{schema} {bad}");
        }
    }

    #[test]
    fn every_keyword_for_a_value_is_enforced() {
        enforce([
            (json!({"type": "integer"}), json!(1.0), json!(1.5)),
            (json!({"type": ["string", "null"]}), json!(null), json!(1)),
            (json!({"$ref": "#/of/text"}), json!("a"), json!(1)),
            (json!({"enum": ["a"]}), json!("a"), json!("b")),
            (json!({"const": 1}), json!(1), json!(2)),
            (json!({"minimum": 1, "maximum": 2}), json!(2), json!(3)),
            (json!({"exclusiveMinimum": 0}), json!(0.1), json!(0)),
            (json!({"exclusiveMaximum": 1}), json!(0.1), json!(1)),
            (json!({"minLength": 2}), json!("éé"), json!("é")),
            (json!({"maxLength": 2}), json!("éé"), json!("aaa")),
            (
                json!({"pattern": "^[A-Za-z0-9._-]{1,3}$"}),
                json!("a-9"),
                json!("a b"),
            ),
            (json!({"pattern": "^[a-f0-9]{2}$"}), json!("0a"), json!("0")),
            (
                json!({"format": "date-time"}),
                json!("2026-01-02T03:04:05Z"),
                json!("2026-01-02"),
            ),
            (
                json!({"format": "date-time"}),
                json!("2026-01-02T03:04:05.123Z"),
                json!("2026-01-02T03:04:05.Z"),
            ),
        ]);
    }

    #[test]
    fn every_keyword_for_members_is_enforced() {
        enforce([
            (json!({"minItems": 1}), json!([1]), json!([])),
            (json!({"maxItems": 1}), json!([1]), json!([1, 2])),
            (json!({"minProperties": 1}), json!({"a": 1}), json!({})),
            (json!({"maxProperties": 0}), json!({}), json!({"a": 1})),
            (
                json!({"uniqueItems": true}),
                json!([1, 2]),
                json!([1, 2, 1]),
            ),
            (json!({"required": ["a"]}), json!({"a": 1}), json!({"b": 1})),
            (
                json!({"items": {"type": "string"}}),
                json!(["a"]),
                json!([1]),
            ),
            (
                json!({"properties": {"a": {"type": "string"}}}),
                json!({"a": "x"}),
                json!({"a": 1}),
            ),
            (
                json!({"additionalProperties": false}),
                json!({}),
                json!({"a": 1}),
            ),
            (
                json!({"properties": {"a": {}}, "additionalProperties": false}),
                json!({"a": 1}),
                json!({"b": 1}),
            ),
            (
                json!({"allOf": [{"type": "string"}, {"minLength": 1}]}),
                json!("a"),
                json!(""),
            ),
            (
                json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
                json!("a"),
                json!(1),
            ),
            (
                json!({"oneOf": [{"type": "number"}, {"type": "integer"}]}),
                json!(1.5),
                json!(1),
            ),
        ]);
    }

    #[test]
    fn what_is_not_known_fails() {
        for schema in [
            json!({"if": {}}),
            json!({"format": "colour"}),
            json!({"pattern": "a|b"}),
            json!({"$ref": "#/nowhere"}),
            json!(3),
        ] {
            assert!(!fits(&json!("a"), &schema), "{schema}");
        }
        let endless = json!({"a": {"$ref": "#/a"}});
        assert!(Schemas(&endless).fits(&json!(1), &endless["a"]).is_err());
    }
}
