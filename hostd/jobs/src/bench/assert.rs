//! Judges what was decoded of a bus.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use pipeline::plan::Assertion;

use super::{Transfer, TransferPart};
use crate::judge::failed;
use crate::outcome::Outcome;

/// Transfers that a failed assertion tells as examples, each different.
const TOLD_MAX: usize = 3;

/// Addresses that a failed assertion tells.
const ADDRESSES_MAX: usize = 8;

/// Bytes of a transfer that a failed assertion tells.
const TOLD_BYTES_MAX: usize = 16;

/// Transfers on a bus, as an assertion wants them, counted.
#[derive(Debug)]
pub(super) struct Count<'a> {
    wanted: &'a Assertion,
    found: u64,
    all: u64,
    /// Transfers by their first address.
    addresses: BTreeMap<u8, u64>,
    /// The first ones to the wanted address, each different.
    near: Vec<Transfer>,
    /// The first other ones, each different.
    other: Vec<Transfer>,
}

impl<'a> Count<'a> {
    pub(super) fn new(wanted: &'a Assertion) -> Self {
        Self {
            wanted,
            found: 0,
            all: 0,
            addresses: BTreeMap::new(),
            near: Vec::new(),
            other: Vec::new(),
        }
    }

    pub(super) fn take(&mut self, transfer: Transfer) {
        self.all += 1;
        if self.is_wanted(&transfer) {
            self.found += 1;
        }
        if let Some(first) = transfer.parts.first() {
            *self.addresses.entry(first.address).or_default() += 1;
        }
        let told = match self.is_near(&transfer) {
            true => &mut self.near,
            false => &mut self.other,
        };
        if told.len() < TOLD_MAX && !told.contains(&transfer) {
            told.push(transfer);
        }
    }

    fn is_near(&self, transfer: &Transfer) -> bool {
        let Assertion::Bus {
            address: Some(address),
            ..
        } = self.wanted
        else {
            return false;
        };
        transfer.parts.iter().any(|part| part.address == *address)
    }

    /// A transfer is wanted if what it has for the address, its repeated starts included, is acknowledged as is asked
    /// for and has the bytes, one after the other.
    fn is_wanted(&self, transfer: &Transfer) -> bool {
        let Assertion::Bus {
            address,
            bytes,
            ack,
            ..
        } = self.wanted
        else {
            return false;
        };
        let is_meant = |part: &&TransferPart| address.is_none_or(|address| part.address == address);
        let parts: Vec<&TransferPart> = transfer.parts.iter().filter(is_meant).collect();
        let is_acknowledged = parts.iter().all(|part| part.is_acknowledged);
        let has: Vec<u8> = parts.iter().flat_map(|part| part.bytes.clone()).collect();
        !parts.is_empty()
            && ack.is_none_or(|ack| ack == is_acknowledged)
            && (bytes.is_empty() || has.windows(bytes.len()).any(|window| window == bytes))
    }

    /// What the assertion about the step `on` comes to.
    pub(super) fn judged(&self, on: &str) -> Outcome {
        let Assertion::Bus { min_count, .. } = self.wanted else {
            return Outcome::Passed;
        };
        if *min_count <= self.found {
            return Outcome::Passed;
        }
        failed(self.wish(on, *min_count), self.sight())
    }

    fn wish(&self, on: &str, count: u64) -> String {
        let Assertion::Bus {
            address,
            bytes,
            ack,
            ..
        } = self.wanted
        else {
            return String::new();
        };
        let mut wish = match count {
            1 => "a transfer".to_owned(),
            count => format!("{count} transfers"),
        };
        if let Some(address) = address {
            let _ = write!(wish, " to {address:#04x}");
        }
        match ack {
            Some(true) => wish.push_str(", acknowledged"),
            Some(false) => wish.push_str(", not acknowledged"),
            None => {}
        }
        if !bytes.is_empty() {
            let _ = write!(wish, ", with {}", hex(bytes));
        }
        let comma = if wish.contains(',') { "," } else { "" };
        let _ = write!(wish, "{comma} on the bus of {on}");
        wish
    }

    fn sight(&self) -> String {
        let found = match (self.all, self.found) {
            (0, _) => {
                return "there was no transfer at all: look at the channels and the rate"
                    .to_owned();
            }
            (all, 0) => format!("there was none such among {all}"),
            (all, 1) => format!("there was one such among {all}"),
            (all, found) => format!("there were {found} such among {all}"),
        };
        let examples = match self.near.is_empty() {
            true => &self.other,
            false => &self.near,
        };
        let examples: Vec<String> = examples.iter().map(shown).collect();
        format!(
            "{found}; addressed were {}; for example {}",
            self.addressed(),
            examples.join("; ")
        )
    }

    /// Which addresses there were, those with the most transfers first.
    fn addressed(&self) -> String {
        let mut counts: Vec<(u8, u64)> = self.addresses.iter().map(|(a, n)| (*a, *n)).collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let told = counts.iter().take(ADDRESSES_MAX);
        let mut told: Vec<String> = told
            .map(|(address, count)| match count {
                1 => format!("{address:#04x} once"),
                count => format!("{address:#04x} {count} times"),
            })
            .collect();
        if let more @ 1.. = counts.len().saturating_sub(ADDRESSES_MAX) {
            told.push(format!("{more} more"));
        }
        told.join(", ")
    }
}

fn shown(transfer: &Transfer) -> String {
    let parts = transfer.parts.iter().map(|part| {
        let word = if part.is_acknowledged { "" } else { " refused" };
        let told = &part.bytes[..part.bytes.len().min(TOLD_BYTES_MAX)];
        let more = if told.len() < part.bytes.len() {
            " …"
        } else {
            ""
        };
        format!("{:#04x}{word} [{}{more}]", part.address, hex(told))
    });
    parts.collect::<Vec<_>>().join(" ")
}

fn hex(bytes: &[u8]) -> String {
    let bytes = bytes.iter().map(|byte| format!("{byte:#04x}"));
    bytes.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(address: u8, is_acknowledged: bool, bytes: &[u8]) -> TransferPart {
        TransferPart {
            address,
            is_acknowledged,
            bytes: bytes.to_vec(),
        }
    }

    fn wanted(address: Option<u8>, bytes: &[u8], ack: Option<bool>, min_count: u64) -> Assertion {
        Assertion::Bus {
            decoder: pipeline::BusDecoder::I2c,
            address,
            bytes: bytes.to_vec(),
            ack,
            min_count,
        }
    }

    fn judged(wanted: &Assertion) -> Outcome {
        let mut count = Count::new(wanted);
        // A register is read after a repeated start; then somebody is not there.
        let read = vec![part(0x76, true, &[0xd0]), part(0x76, true, &[0x60])];
        count.take(Transfer {
            parts: read.clone(),
        });
        count.take(Transfer { parts: read });
        count.take(Transfer {
            parts: vec![part(0x50, false, &[])],
        });
        count.judged("boot")
    }

    #[test]
    fn transfers_are_counted_that_have_all_that_is_asked() {
        let passes = |address, bytes: &[u8], ack, min| {
            judged(&wanted(address, bytes, ack, min)).has_passed()
        };
        assert!(passes(Some(0x76), &[], Some(true), 1));
        assert!(passes(Some(0x76), &[0xd0, 0x60], Some(true), 2));
        assert!(!passes(Some(0x76), &[0xd0, 0x60], None, 3));
        assert!(!passes(Some(0x76), &[0x60, 0xd0], None, 1));
        assert!(!passes(Some(0x76), &[], Some(false), 1));
        assert!(passes(Some(0x50), &[], Some(false), 1));
        assert!(!passes(Some(0x50), &[0], None, 1));
        assert!(passes(None, &[], None, 3));
        assert!(!passes(None, &[], None, 4));
    }

    #[test]
    fn a_failed_assertion_tells_what_was_there() {
        let told = judged(&wanted(Some(0x50), &[], Some(true), 1)).to_string();
        assert_eq!(
            told,
            "wanted a transfer to 0x50, acknowledged, on the bus of boot, but there was none such among 3; addressed were 0x76 2 times, 0x50 once; for example 0x50 refused []"
        );
        let told = judged(&wanted(Some(0x51), &[7], None, 1)).to_string();
        assert_eq!(
            told,
            "wanted a transfer to 0x51, with 0x07, on the bus of boot, but there was none such among 3; addressed were 0x76 2 times, 0x50 once; for example 0x76 [0xd0] 0x76 [0x60]; 0x50 refused []"
        );
        let none = wanted(None, &[], None, 1);
        let told = Count::new(&none).judged("boot").to_string();
        assert!(told.ends_with("there was no transfer at all: look at the channels and the rate"));
    }
}
