//! Reads the query of a request into a struct.

use serde::de::value::{Error as ValueError, MapDeserializer};
use serde::de::{DeserializeOwned, Deserializer, Error as _, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

use crate::Error;

/// Read the parameters of a query string.
///
/// # Errors
/// It is badly encoded, or not of this shape.
pub(crate) fn read<T: DeserializeOwned>(query: &str) -> Result<T, Error> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let pairs = pairs.map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (name, value) = (decode(name)?, decode(value)?);
        let text = Text {
            name: name.clone(),
            value,
        };
        Ok((name, text))
    });
    let pairs: Vec<(String, Text)> = pairs.collect::<Result<_, Error>>()?;
    let read = T::deserialize(MapDeserializer::<_, ValueError>::new(pairs.into_iter()));
    read.map_err(|error| Error::invalid(format!("the query cannot be read: {error}")))
}

/// Undo percent-encoding as HTML forms and every HTTP client write it (`+` is a space).
fn decode(text: &str) -> Result<String, Error> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = rest.next().zip(rest.next());
                let byte = digits.and_then(|(high, low)| Some(hex(high)? << 4 | hex(low)?));
                byte.ok_or_else(|| {
                    Error::invalid("the query has a % that two hex digits do not follow")
                })?
            }
            other => other,
        });
    }
    String::from_utf8(bytes).map_err(|_| Error::invalid("the query is not UTF-8 once decoded"))
}

fn hex(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

/// A value, which is whatever its reader takes it for.
struct Text {
    /// For messages.
    name: String,
    value: String,
}

impl<'de> IntoDeserializer<'de, ValueError> for Text {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// Methods that read what Rust's own types parse.
macro_rules! parsed {
    ($($method:ident $visit:ident $type:ty,)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
            match self.value.parse::<$type>() {
                Ok(value) => visitor.$visit(value),
                Err(error) => Err(ValueError::custom(format_args!("{}: {error}", self.name))),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for Text {
    type Error = ValueError;

    parsed! {
        deserialize_bool visit_bool bool,
        deserialize_i8 visit_i8 i8,
        deserialize_i16 visit_i16 i16,
        deserialize_i32 visit_i32 i32,
        deserialize_i64 visit_i64 i64,
        deserialize_u8 visit_u8 u8,
        deserialize_u16 visit_u16 u16,
        deserialize_u32 visit_u32 u32,
        deserialize_u64 visit_u64 u64,
        deserialize_f32 visit_f32 f32,
        deserialize_f64 visit_f64 f64,
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        visitor.visit_string(self.value)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        visitor.visit_enum(self.value.into_deserializer())
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::read;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Order {
        NewestFirst,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Millis(i64);

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Asked {
        name: String,
        since: Option<Millis>,
        #[serde(default)]
        open: bool,
        order: Option<Order>,
        above: Option<f64>,
        page: Option<u8>,
    }

    #[test]
    fn values_are_what_their_members_take() {
        let query = "name=a%20b+%C3%A9&since=-5&open=true&order=newest_first&above=1.5&&page=7";
        let asked: Asked = read(query).unwrap();
        let expected = Asked {
            name: "a b é".to_owned(),
            since: Some(Millis(-5)),
            open: true,
            order: Some(Order::NewestFirst),
            above: Some(1.5),
            page: Some(7),
        };
        assert_eq!(asked, expected);
    }

    #[test]
    fn what_is_left_out_is_none_and_a_number_may_be_a_text() {
        let asked: Asked = read("name=12").unwrap();
        assert_eq!(asked.name, "12");
        assert_eq!((asked.since, asked.open, asked.page), (None, false, None));
    }

    #[test]
    fn what_does_not_fit_is_told() {
        for (query, told) in [
            ("", "missing field `name`"),
            ("name=a&name=b", "duplicate field `name`"),
            ("name=a&nam=b", "unknown field `nam`"),
            ("name=a&page=256", "page: number too large"),
            ("name=a&page=", "page: cannot parse integer"),
            ("name=a&open=yes", "open: provided string was not"),
            ("name=a&order=oldest", "unknown variant `oldest`"),
            ("name=%4", "two hex digits"),
            ("name=%g0", "two hex digits"),
            ("name=%ff", "not UTF-8"),
        ] {
            let error = read::<Asked>(query).unwrap_err();
            assert_eq!(error.status(), 400);
            assert!(error.message.contains(told), "{query}: {error}");
        }
    }
}
