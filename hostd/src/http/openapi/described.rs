//! The descriptions made when handlers were built: the OpenAPI members of each route, and the schemas
//! that they refer to.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use super::DocumentError;

/// The members of a JSON object, in whose values nobody has looked.
pub(super) type Members = BTreeMap<String, Box<RawValue>>;

/// A value as JSON text.
pub(super) fn text(value: &impl Serialize) -> Box<RawValue> {
    to_raw_value(value).expect("memory takes every byte, and all maps have text for keys")
}

/// `{"routes": {name: members}, "schemas": {name: schema}}`, of all groups together.
#[derive(Debug, Default, Deserialize)]
pub struct Descriptions {
    routes: BTreeMap<String, Members>,
    schemas: Members,
}

impl Descriptions {
    /// Add a group's descriptions, as JSON.
    ///
    /// # Errors
    /// It is not such an object.
    pub fn add(&mut self, group: &[u8]) -> Result<(), serde_json::Error> {
        let group: Self = serde_json::from_slice(group)?;
        self.routes.extend(group.routes);
        self.schemas.extend(group.schemas);
        Ok(())
    }

    /// The members of a route, if it has a description.
    pub(super) fn take(&mut self, route: &str) -> Option<Members> {
        self.routes.remove(route)
    }

    /// The schemas, once the members of all routes have been taken.
    pub(super) fn finish(self) -> Result<Members, DocumentError> {
        match self.routes.into_iter().next() {
            Some((name, _)) => Err(DocumentError::NoRoute { name }),
            None => Ok(self.schemas),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_described_and_what_there_is_must_agree() {
        let mut all = Descriptions::default();
        assert!(all.add(b"{}").is_err());
        all.add(br#"{"routes": {"a.get": {"responses": {}}}, "schemas": {"a.A": {}}}"#)
            .unwrap();
        all.add(br#"{"routes": {"b.get": {}}, "schemas": {}}"#)
            .unwrap();
        assert!(all.take("a.get").unwrap().contains_key("responses"));
        assert!(all.take("a.put").is_none());
        let stray = all.finish().unwrap_err().to_string();
        assert_eq!(stray, "there is no route b.get, which is described");
    }
}
