//! Writes a JSON object straight into the bytes of a response.
//!
//! A handler mostly passes on what the host gave it, some of it as finished JSON text, so there is
//! no tree to build first.

use serde::Serialize;

use crate::{Body, Response};

/// A JSON object under construction. Members appear in the order of the calls.
#[derive(Debug)]
pub struct Object {
    bytes: Vec<u8>,
}

impl Default for Object {
    fn default() -> Self {
        Self::new()
    }
}

impl Object {
    #[must_use]
    pub fn new() -> Self {
        Self::over(Vec::with_capacity(256))
    }

    /// An object appended to what `bytes` already holds.
    fn over(mut bytes: Vec<u8>) -> Self {
        bytes.push(b'{');
        Self { bytes }
    }

    /// A string, number, boolean, list of these, or an option (`null` when none).
    pub fn field<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> &mut Self {
        self.name(name);
        write(&mut self.bytes, value);
        self
    }

    /// Like [`Object::field`], but absent when none.
    pub fn some<T: Serialize>(&mut self, name: &str, value: Option<&T>) -> &mut Self {
        if let Some(value) = value {
            self.field(name, value);
        }
        self
    }

    /// JSON text from the host, as it is.
    pub fn raw(&mut self, name: &str, json: &str) -> &mut Self {
        self.name(name);
        self.bytes.extend_from_slice(json.as_bytes());
        self
    }

    /// A nested object.
    pub fn object(&mut self, name: &str, fill: impl FnOnce(&mut Object)) -> &mut Self {
        self.name(name);
        self.nested(fill);
        self
    }

    /// A list of objects.
    pub fn array<T>(
        &mut self,
        name: &str,
        items: &[T],
        mut fill: impl FnMut(&T, &mut Object),
    ) -> &mut Self {
        self.name(name);
        self.bytes.push(b'[');
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.bytes.push(b',');
            }
            self.nested(|object| fill(item, object));
        }
        self.bytes.push(b']');
        self
    }

    /// A string that needs no escapes, written by `fill` into the bytes of the body. For large
    /// ASCII payloads such as base64, which must not be copied once more.
    pub fn plain_text(&mut self, name: &str, fill: impl FnOnce(&mut Vec<u8>)) -> &mut Self {
        self.name(name);
        self.bytes.push(b'"');
        let from = self.bytes.len();
        fill(&mut self.bytes);
        debug_assert!(
            self.bytes[from..]
                .iter()
                .all(|&b| b.is_ascii_graphic() && b != b'"' && b != b'\\')
        );
        self.bytes.push(b'"');
        self
    }

    /// The finished text.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        self.bytes.push(b'}');
        self.bytes
    }

    /// The finished object as the body of a response.
    #[must_use]
    pub fn reply(self, status: u16) -> Response {
        Response {
            status,
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            body: Body::Bytes(self.finish()),
        }
    }

    fn nested(&mut self, fill: impl FnOnce(&mut Object)) {
        let mut inner = Object::over(std::mem::take(&mut self.bytes));
        fill(&mut inner);
        self.bytes = inner.finish();
    }

    fn name(&mut self, name: &str) {
        if self.bytes.last() != Some(&b'{') {
            self.bytes.push(b',');
        }
        write(&mut self.bytes, name);
        self.bytes.push(b':');
    }
}

fn write<T: Serialize + ?Sized>(bytes: &mut Vec<u8>, value: &T) {
    serde_json::to_writer(bytes, value).expect("memory takes every byte, and map keys are strings");
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Object;

    #[test]
    fn writes_what_a_parser_reads_back() {
        let mut object = Object::new();
        object
            .field("text", "a \"quoted\"\nline \u{1}")
            .field("number", &-1.5)
            .field("none", &None::<u8>)
            .some("absent", None::<&u8>)
            .some("present", Some(&7))
            .raw("raw", "[1,{\"a\":null}]")
            .object("empty", |_| {})
            .object("nested", |o| {
                o.field("list", &[1, 2]).object("deep", |_| {});
            })
            .array("items", &[1, 2], |n, o| {
                o.field("n", n);
            })
            .array("nothing", &[] as &[u8], |_, _| {})
            .plain_text("plain", |bytes| bytes.extend_from_slice(b"AQI="));
        let value: Value = serde_json::from_slice(&object.finish()).unwrap();
        assert_eq!(
            value,
            json!({
                "text": "a \"quoted\"\nline \u{1}",
                "number": -1.5,
                "none": null,
                "present": 7,
                "raw": [1, {"a": null}],
                "empty": {},
                "nested": {"list": [1, 2], "deep": {}},
                "items": [{"n": 1}, {"n": 2}],
                "nothing": [],
                "plain": "AQI="
            })
        );
        assert_eq!(Object::new().finish(), b"{}");
    }
}
