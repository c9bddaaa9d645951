//! Nets: a table of numbers and names up to KiCad 9, names alone from KiCad 10.

use std::collections::HashMap;

use crate::board::{Net, NetId, NetTable};
use crate::refusal::Refusal;
use crate::sexp::Expr;

/// The nets of a board that is being read.
pub(super) struct Nets {
    nets: NetTable,
    by_number: HashMap<u32, NetId>,
}

impl Nets {
    /// Reads the table, if there is one.
    pub(super) fn read(root: Expr<'_>) -> Result<Self, Refusal> {
        let mut nets = Self {
            nets: NetTable::new(),
            by_number: HashMap::new(),
        };
        // Copper without a net has the empty name and number 0.
        let none = nets.nets.named("");
        nets.by_number.insert(0, none);
        for entry in root.all("net") {
            let number = entry.word(1).and_then(|word| word.parse::<u32>().ok());
            let Some(number) = number else {
                return Err(entry.refuse("a net needs a number and a name"));
            };
            let name = entry
                .children()
                .nth(2)
                .and_then(Expr::text)
                .unwrap_or_default();
            let id = nets.nets.named(&name);
            nets.by_number.insert(number, id);
        }
        Ok(nets)
    }

    /// The net of an item; the one without a name if it says nothing.
    pub(super) fn of(&mut self, item: Expr<'_>) -> Result<NetId, Refusal> {
        let Some(list) = item.find("net") else {
            return Ok(self.nets.named(""));
        };
        let Some(value) = list.children().nth(1) else {
            return Ok(self.nets.named(""));
        };
        let number = value.raw().and_then(|word| word.parse::<u32>().ok());
        match number {
            Some(number) if !value.is_quoted() => match self.by_number.get(&number) {
                Some(id) => Ok(*id),
                None => {
                    Err(value.refuse(format!("net {number} is not in the board's table of nets")))
                }
            },
            _ => Ok(self.nets.named(&value.text().unwrap_or_default())),
        }
    }

    pub(super) fn into_nets(self) -> Vec<Net> {
        self.nets.into_nets()
    }
}
