//! What serde walks through of lists and maps. A value that does not fit gets its place here.

use serde::de::value::{MapDeserializer, StrDeserializer};
use serde::de::{DeserializeSeed, MapAccess, SeqAccess};

use super::{Fault, Reader, Session};
use crate::yaml::{Key, Node};

/// The entries of a list, but for those that are left out.
pub(super) struct List<'de> {
    rest: std::slice::Iter<'de, Node>,
    session: &'de Session,
}

impl<'de> List<'de> {
    pub(super) fn new(list: &'de [Node], session: &'de Session) -> Self {
        Self {
            rest: list.iter(),
            session,
        }
    }
}

impl<'de> SeqAccess<'de> for List<'de> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Fault> {
        for node in self.rest.by_ref() {
            if self.session.skips(node) {
                self.session.has_holes.replace(true);
                continue;
            }
            let read = seed.deserialize(Reader::new(node, self.session));
            return read.map(Some).map_err(|fault| fault.or_at(node.id));
        }
        Ok(None)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

/// The entries of a map, but for those that are left out.
pub(super) struct Map<'de> {
    rest: std::slice::Iter<'de, (Key, Node)>,
    value: Option<&'de Node>,
    session: &'de Session,
}

impl<'de> Map<'de> {
    pub(super) fn new(entries: &'de [(Key, Node)], session: &'de Session) -> Self {
        Self {
            rest: entries.iter(),
            value: None,
            session,
        }
    }
}

impl<'de> MapAccess<'de> for Map<'de> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Fault> {
        let Some((key, node)) = self
            .rest
            .by_ref()
            .find(|(_, node)| !self.session.skips(node))
        else {
            return Ok(None);
        };
        self.value = Some(node);
        let read = seed.deserialize(StrDeserializer::<Fault>::new(&key.name));
        read.map(Some).map_err(|fault| {
            Fault {
                span: Some(key.span),
                ..fault
            }
            .or_at(node.id)
        })
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        match self.value.take() {
            Some(node) => {
                let read = seed.deserialize(Reader::new(node, self.session));
                read.map_err(|fault| fault.or_at(node.id))
            }
            // serde asks for a value only after a key.
            None => seed.deserialize(MapDeserializer::new(std::iter::empty::<(&str, &str)>())),
        }
    }
}
