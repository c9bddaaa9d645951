//! Values at the bounds of a schema, and the nearest ones beyond them.
//!
//! A keyword that bounds a value but is not known here is an error, so that no bound is left
//! untried.

use serde_json::{Map, Value, json};

/// Keywords that this file handles, or that bound nothing.
const KNOWN: [&str; 23] = [
    "additionalProperties",
    "anyOf",
    "contentMediaType",
    "default",
    "description",
    "enum",
    "examples",
    "exclusiveMinimum",
    "items",
    "maxItems",
    "maxLength",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "oneOf",
    "pattern",
    "properties",
    "required",
    "title",
    "type",
    "uniqueItems",
    "writeOnly",
];

/// The pattern of texts that may have any characters but those that control.
const NO_CONTROL: &str = r"^[^\u0000-\u001f\u007f-\u009f]*$";

/// Texts that paths, names, patterns, base64 and other forms may not be.
const UNLIKELY: [&str; 8] = ["/", "..", "a/../b", "a**", "[a]", "A===", "AB==", "\\\":"];

/// The letter of texts: more bytes than characters, so that a bound in bytes shows.
const LETTER: &str = "é";

/// A text of this many characters or more is made of plain letters: it has to fit in a body.
const LONG_CHARS: usize = 4 << 10;

/// Values to try.
#[derive(Debug, Default)]
pub(crate) struct Edges {
    /// At a bound, and allowed.
    pub(crate) inside: Vec<Value>,
    /// Just beyond a bound, or of another type.
    pub(crate) outside: Vec<Value>,
}

impl Edges {
    pub(crate) fn of(schema: &Value) -> Self {
        let mut edges = Self::default();
        edges.add(schema);
        edges
    }

    fn add(&mut self, schema: &Value) {
        let keywords = schema.as_object().expect("a schema is an object");
        for keyword in keywords.keys() {
            let known = KNOWN.contains(&&**keyword);
            assert!(known, "edges.rs does not know the keyword {keyword}");
        }
        for one in alternatives(schema) {
            self.add(one);
        }
        if let Some(Value::Array(words)) = keywords.get("enum") {
            self.inside.extend(words.iter().cloned());
            self.outside.push("no-such-word".into());
            return;
        }
        for kind in types(schema) {
            match kind {
                "integer" | "number" => self.number(keywords, kind == "integer"),
                "string" => self.text(keywords),
                "array" => self.list(keywords),
                "boolean" => {
                    self.inside.extend([true.into(), false.into()]);
                    self.outside.push("perhaps".into());
                }
                "object" => self.outside.push("no object".into()),
                // `null` counts as absent.
                "null" => {}
                other => panic!("edges.rs does not know the type {other}"),
            }
        }
    }

    fn number(&mut self, keywords: &Map<String, Value>, whole: bool) {
        self.outside.push("many".into());
        if whole {
            let bound = |keyword: &str| {
                let bound = keywords.get(keyword)?.as_number()?;
                bound.as_i128()
            };
            self.outside.push(json!(0.5));
            let number = |number| serde_json::Number::from_i128(number).map(Value::Number);
            for (keyword, beyond) in [("minimum", -1), ("maximum", 1)] {
                if let Some(bound) = bound(keyword) {
                    self.inside.extend(number(bound));
                    self.outside.extend(number(bound + beyond));
                }
            }
            return;
        }
        let bound = |keyword: &str| keywords.get(keyword).and_then(Value::as_f64);
        if let Some(least) = bound("minimum") {
            self.inside.push(least.into());
            self.outside.push((least - step(least)).into());
        }
        if let Some(least) = bound("exclusiveMinimum") {
            self.inside.push((least + step(least)).into());
            self.outside.push(least.into());
        }
        if let Some(most) = bound("maximum") {
            self.inside.push(most.into());
            self.outside.push((most + step(most)).into());
        }
    }

    fn text(&mut self, keywords: &Map<String, Value>) {
        self.outside.push(7.into());
        // A pattern that is not made of classes alone comes with texts that fit.
        if let Some(Value::Array(examples)) = keywords.get("examples") {
            self.inside.extend(examples.iter().cloned());
            let fits = examples[0].as_str().expect("a text");
            self.outside
                .extend([json!(""), json!(format!("{fits}\u{1}"))]);
            // Of which each pattern excludes some.
            self.outside.extend(UNLIKELY.map(Value::from));
            return;
        }
        let pattern = keywords.get("pattern");
        if pattern.is_some_and(|pattern| pattern == NO_CONTROL) {
            self.outside.push("\u{1}".into());
        } else if let Some(pattern) = pattern {
            let classes = classes(pattern.as_str().expect("a pattern is a text"));
            let all = |count: fn(&Class) -> usize| -> String {
                let each = classes.iter();
                each.map(|class| class.letter.to_string().repeat(count(class)))
                    .collect()
            };
            let (least, most) = (all(|class| class.least), all(|class| class.most));
            let long = format!("{most}{}", classes.last().expect("a class").letter);
            self.outside.extend([least[1..].into(), long.into()]);
            self.outside.push(format!("{}\u{20ac}", &least[1..]).into());
            self.inside.extend([least.into(), most.into()]);
            return;
        }
        let length = |keyword: &str| {
            let length = keywords.get(keyword).and_then(Value::as_u64);
            length.map(|length| usize::try_from(length).expect("a length"))
        };
        if let Some(least) = length("minLength") {
            self.inside.push(LETTER.repeat(least).into());
            let short = least.checked_sub(1).map(|short| LETTER.repeat(short));
            self.outside.extend(short.map(Value::from));
        }
        if let Some(most) = length("maxLength") {
            let letter = if most < LONG_CHARS { LETTER } else { "x" };
            self.inside.push(letter.repeat(most).into());
            self.outside.push("x".repeat(most + 1).into());
        }
    }

    fn list(&mut self, keywords: &Map<String, Value>) {
        self.outside.push("no list".into());
        let items = keywords.get("items").expect("a list has items");
        let length = |keyword: &str| {
            let length = keywords.get(keyword).and_then(Value::as_u64);
            length.map(|length| usize::try_from(length).expect("a length"))
        };
        let of = |length: usize| -> Value { (0..length).map(|i| sample(items, i)).collect() };
        let least = length("minItems").unwrap_or(0);
        let short = least.checked_sub(1);
        self.inside.push(of(least));
        self.outside.extend(short.map(of));
        if let Some(most) = length("maxItems") {
            self.inside.push(of(most));
            self.outside.push(of(most + 1));
        }
        // One item at a time at its own edges, beside as many others as there must be.
        let beside = |item: Value| -> Value {
            let others = (1..least).map(|i| sample(items, i));
            std::iter::once(item).chain(others).collect()
        };
        if items["type"] != "object" {
            let each = Self::of(items);
            self.inside.extend(each.inside.into_iter().map(beside));
            self.outside.extend(each.outside.into_iter().map(beside));
        }
    }
}

/// A step that no parser of numbers mistakes for a rounding error.
fn step(bound: f64) -> f64 {
    bound.abs().max(1.0) * 1e-9
}

/// The `index`th of several values that fit a schema.
pub(crate) fn sample(schema: &Value, index: usize) -> Value {
    if let Some(one) = alternatives(schema).next() {
        return sample(one, index);
    }
    if let Some(words) = schema["enum"].as_array() {
        return words[index % words.len()].clone();
    }
    match types(schema).next() {
        Some("integer") => {
            let least = schema["minimum"].as_u64().unwrap_or(0);
            (least + index as u64).into()
        }
        Some("number") => schema["maximum"].clone(),
        Some("string") if schema["examples"].is_array() => schema["examples"][0].clone(),
        Some("string") => {
            let pattern = schema["pattern"].as_str();
            let Some(pattern) = pattern.filter(|pattern| *pattern != NO_CONTROL) else {
                let least = schema["minLength"].as_u64().unwrap_or(1).max(1);
                let least = usize::try_from(least).expect("a length");
                return format!("{index}{}", "x".repeat(least - 1)).into();
            };
            let classes = classes(pattern);
            let least = classes.iter().map(|class| {
                let letter = class.letter.to_string();
                letter.repeat(class.least)
            });
            let least: String = least.collect();
            // Longer with each index where the length may vary.
            let last = classes.last().expect("a class");
            let more = index.min(last.most - last.least);
            format!("{least}{}", last.letter.to_string().repeat(more)).into()
        }
        Some("array") => {
            let least = schema["minItems"].as_u64().unwrap_or(0);
            (0..usize::try_from(least).expect("a length"))
                .map(|i| sample(&schema["items"], i))
                .collect()
        }
        Some("object") => {
            let required = schema["required"].as_array().into_iter().flatten();
            let names = required.map(|name| name.as_str().expect("a name"));
            let members = names.map(|name| {
                let member = &schema["properties"][name];
                (name.to_owned(), sample(member, index))
            });
            Value::Object(members.collect())
        }
        _ => true.into(),
    }
}

/// The schemas of which a value need fit only one.
pub(crate) fn alternatives(schema: &Value) -> impl Iterator<Item = &Value> {
    let lists = ["anyOf", "oneOf"].into_iter();
    lists.flat_map(|keyword| schema[keyword].as_array().into_iter().flatten())
}

/// The types that a value may have.
pub(crate) fn types(schema: &Value) -> impl Iterator<Item = &str> {
    let all = match &schema["type"] {
        Value::Array(all) => all.as_slice(),
        Value::Null => &[],
        one => std::slice::from_ref(one),
    };
    all.iter().filter_map(Value::as_str)
}

/// Part of a pattern: a number of characters of one class.
#[derive(Debug)]
struct Class {
    /// One character of the class.
    letter: char,
    least: usize,
    most: usize,
}

/// The parts of a pattern such as `^[A-Z][A-Z0-9]{0,31}$`.
fn classes(pattern: &str) -> Vec<Class> {
    fn unknown<T>(pattern: &str) -> T {
        panic!("edges.rs does not know the pattern {pattern}")
    }
    let mut rest = pattern
        .strip_prefix('^')
        .unwrap_or_else(|| unknown(pattern));
    let mut classes = Vec::new();
    while rest != "$" {
        let inner = rest.strip_prefix('[').unwrap_or_else(|| unknown(pattern));
        let (letters, after) = inner.split_once(']').unwrap_or_else(|| unknown(pattern));
        let letter = letters.chars().next().unwrap_or_else(|| unknown(pattern));
        let (mut least, mut most) = (1, 1);
        rest = after;
        if let Some(counted) = after.strip_prefix('{') {
            let (counts, after) = counted.split_once('}').unwrap_or_else(|| unknown(pattern));
            let (low, high) = counts.split_once(',').unwrap_or((counts, counts));
            let number = |text: &str| text.parse().unwrap_or_else(|_| unknown(pattern));
            (least, most, rest) = (number(low), number(high), after);
        }
        classes.push(Class {
            letter,
            least,
            most,
        });
    }
    classes
}
