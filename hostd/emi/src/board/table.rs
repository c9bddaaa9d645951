//! The nets of a board that is being read: they are numbered as their names come.

use std::collections::HashMap;

use super::{Net, NetId};

/// Each name once. The net without a name is the first: what nobody says the net of is on that.
pub(crate) struct NetTable {
    nets: Vec<Net>,
    by_name: HashMap<String, NetId>,
}

impl NetTable {
    pub(crate) fn new() -> Self {
        let mut table = Self {
            nets: Vec::new(),
            by_name: HashMap::new(),
        };
        table.named("");
        table
    }

    /// The net of this name.
    pub(crate) fn named(&mut self, name: &str) -> NetId {
        if let Some(id) = self.by_name.get(name) {
            return *id;
        }
        let id = self.nets.len();
        self.nets.push(Net {
            name: name.to_owned(),
            ..Net::default()
        });
        self.by_name.insert(name.to_owned(), id);
        id
    }

    /// All nets, by their numbers.
    pub(crate) fn all(&self) -> &[Net] {
        &self.nets
    }

    pub(crate) fn into_nets(self) -> Vec<Net> {
        self.nets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_number() {
        let mut table = NetTable::new();
        assert_eq!(table.named(""), NetId::default());
        let ground = table.named("GND");
        assert_ne!(table.named("VCC"), ground);
        assert_eq!(table.named("GND"), ground);
        assert_eq!(table.all()[ground].name, "GND");
        let names = table.into_nets().into_iter().map(|net| net.name);
        assert_eq!(names.collect::<Vec<_>>(), ["", "GND", "VCC"]);
    }
}
