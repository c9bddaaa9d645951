//! Header fields, of a guest or shown to it.

use std::sync::Arc;

use wasmtime::bail;
use wasmtime::component::Resource;

use super::Headers;
use crate::bindings::wasi::http::types::{self, HeaderError};
use crate::{View, WasiData};

/// Fields that a guest may put together.
pub const FIELDS_MAX: usize = 128;

/// Bytes of their names and values.
pub const FIELD_BYTES_MAX: usize = 32 << 10;

/// About the connection, which is the embedder's.
const FORBIDDEN: [&str; 10] = [
    "connection",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "transfer-encoding",
    "upgrade",
];

/// Shared until somebody changes them.
#[allow(unreachable_pub, reason = "generated code re-exports it")]
#[derive(Debug, Clone, Default)]
pub struct Fields {
    entries: Arc<Headers>,
    is_fixed: bool,
}

impl Fields {
    /// Those of a message, which nobody changes.
    pub(crate) fn fixed(entries: Arc<Headers>) -> Self {
        let is_fixed = true;
        Self { entries, is_fixed }
    }

    /// What is in them.
    pub(crate) fn into_entries(self) -> Headers {
        Arc::unwrap_or_clone(self.entries)
    }

    pub(crate) fn entries(&self) -> &Arc<Headers> {
        &self.entries
    }

    /// Add one, unless there would be too many.
    fn append(&mut self, name: String, value: Vec<u8>) -> wasmtime::Result<()> {
        let held: usize = self.entries.iter().map(|(n, v)| n.len() + v.len()).sum();
        if self.entries.len() >= FIELDS_MAX || held + name.len() + value.len() > FIELD_BYTES_MAX {
            bail!("add a header: the limit is {FIELDS_MAX} and {FIELD_BYTES_MAX} bytes");
        }
        Arc::make_mut(&mut self.entries).push((name, value));
        Ok(())
    }

    fn remove(&mut self, name: &str) {
        Arc::make_mut(&mut self.entries).retain(|(held, _)| held != name);
    }
}

/// Whether a header, in lower case, is the embedder's to say.
#[must_use]
pub fn is_forbidden(name: &str) -> bool {
    FORBIDDEN.contains(&name)
}

/// A name as it is kept, if a guest may say it.
fn name(text: &str) -> Result<String, HeaderError> {
    let is_token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    if text.is_empty() || !text.bytes().all(is_token) {
        return Err(HeaderError::InvalidSyntax);
    }
    let name = text.to_ascii_lowercase();
    match is_forbidden(&name) {
        true => Err(HeaderError::Forbidden),
        false => Ok(name),
    }
}

/// Text without control characters.
fn is_value(value: &[u8]) -> bool {
    let text = std::str::from_utf8(value);
    text.is_ok_and(|text| text.bytes().all(|b| b == b'\t' || !b.is_ascii_control()))
}

type Outcome = wasmtime::Result<Result<(), HeaderError>>;

impl<W: WasiData> View<'_, W> {
    /// Fields that the guest may change.
    fn own(
        &mut self,
        fields: &Resource<Fields>,
    ) -> wasmtime::Result<Result<&mut Fields, HeaderError>> {
        let fields = self.http().table.get_mut(fields)?;
        Ok(match fields.is_fixed {
            true => Err(HeaderError::Immutable),
            false => Ok(fields),
        })
    }
}

impl<W: WasiData> types::HostFields for View<'_, W> {
    async fn new(&mut self) -> wasmtime::Result<Resource<Fields>> {
        self.http().push(Fields::default())
    }

    async fn from_list(
        &mut self,
        entries: Vec<(String, Vec<u8>)>,
    ) -> wasmtime::Result<Result<Resource<Fields>, HeaderError>> {
        let mut fields = Fields::default();
        for (text, value) in entries {
            match name(&text) {
                Ok(_) if !is_value(&value) => return Ok(Err(HeaderError::InvalidSyntax)),
                Ok(name) => fields.append(name, value)?,
                Err(error) => return Ok(Err(error)),
            }
        }
        self.http().push(fields).map(Ok)
    }

    async fn get(
        &mut self,
        fields: Resource<Fields>,
        name: String,
    ) -> wasmtime::Result<Vec<Vec<u8>>> {
        let fields = self.http().table.get(&fields)?;
        let found = fields.entries.iter();
        let found = found.filter(|(held, _)| held.eq_ignore_ascii_case(&name));
        Ok(found.map(|(_, value)| value.clone()).collect())
    }

    async fn has(&mut self, fields: Resource<Fields>, name: String) -> wasmtime::Result<bool> {
        let fields = self.http().table.get(&fields)?;
        let mut names = fields.entries.iter().map(|(held, _)| held);
        Ok(names.any(|held| held.eq_ignore_ascii_case(&name)))
    }

    async fn set(
        &mut self,
        fields: Resource<Fields>,
        text: String,
        values: Vec<Vec<u8>>,
    ) -> Outcome {
        let fields = match self.own(&fields)? {
            Ok(fields) => fields,
            Err(error) => return Ok(Err(error)),
        };
        let name = match name(&text) {
            Ok(_) if !values.iter().all(|value| is_value(value)) => {
                return Ok(Err(HeaderError::InvalidSyntax));
            }
            Ok(name) => name,
            Err(error) => return Ok(Err(error)),
        };
        fields.remove(&name);
        for value in values {
            fields.append(name.clone(), value)?;
        }
        Ok(Ok(()))
    }

    async fn delete(&mut self, fields: Resource<Fields>, text: String) -> Outcome {
        let fields = match self.own(&fields)? {
            Ok(fields) => fields,
            Err(error) => return Ok(Err(error)),
        };
        Ok(name(&text).map(|name| fields.remove(&name)))
    }

    async fn append(&mut self, fields: Resource<Fields>, text: String, value: Vec<u8>) -> Outcome {
        let fields = match self.own(&fields)? {
            Ok(fields) => fields,
            Err(error) => return Ok(Err(error)),
        };
        match name(&text) {
            Ok(_) if !is_value(&value) => Ok(Err(HeaderError::InvalidSyntax)),
            Ok(name) => fields.append(name, value).map(Ok),
            Err(error) => Ok(Err(error)),
        }
    }

    async fn entries(&mut self, fields: Resource<Fields>) -> wasmtime::Result<Headers> {
        Ok(self.http().table.get(&fields)?.entries.to_vec())
    }

    async fn clone(&mut self, fields: Resource<Fields>) -> wasmtime::Result<Resource<Fields>> {
        let entries = self.http().table.get(&fields)?.entries.clone();
        let is_fixed = false;
        self.http().push(Fields { entries, is_fixed })
    }

    async fn drop(&mut self, fields: Resource<Fields>) -> wasmtime::Result<()> {
        self.http().table.delete(fields)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_tokens_that_are_the_guests_to_say() {
        assert_eq!(name("X-Own").unwrap(), "x-own");
        for bad in ["", "a b", "a:", "ü", "a\r\nb"] {
            assert!(
                matches!(name(bad), Err(HeaderError::InvalidSyntax)),
                "{bad}"
            );
        }
        for own in ["Host", "Connection", "transfer-encoding"] {
            assert!(matches!(name(own), Err(HeaderError::Forbidden)), "{own}");
        }
        assert!(is_value("grüße\t1".as_bytes()) && is_value(b""));
        assert!(!is_value(b"a\r\nb: c") && !is_value(b"\xff"));
    }

    #[test]
    fn there_are_not_endlessly_many() {
        let mut fields = Fields::default();
        for _ in 0..FIELDS_MAX {
            fields.append("a".to_owned(), Vec::new()).unwrap();
        }
        assert!(fields.append("a".to_owned(), Vec::new()).is_err());
        let mut fields = Fields::default();
        let large = vec![b'x'; FIELD_BYTES_MAX - 1];
        fields.append("a".to_owned(), large).unwrap();
        assert!(fields.append("b".to_owned(), Vec::new()).is_err());
        fields.remove("a");
        assert!(fields.append("b".to_owned(), Vec::new()).is_ok());
    }
}
