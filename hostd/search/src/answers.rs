//! Addresses on an I²C bus, and how they are answered.

use decode::Annotation;

use crate::query::Address;
use crate::run::Done;
use crate::seen::{Places, Seen, Take, number};

/// Looks for an address.
pub(crate) struct Answers {
    wanted: Address,
    /// An address that waits for its answer.
    open: Option<Open>,
}

struct Open {
    from: u64,
    to: u64,
    address: u64,
    is_read: bool,
}

impl Answers {
    pub(crate) fn new(wanted: Address) -> Self {
        Self { wanted, open: None }
    }

    /// The address that waited has this answer, or none.
    fn close(&mut self, answer: Option<(bool, u64)>, out: &mut Places<'_, '_>) -> Done {
        let Some(open) = self.open.take() else {
            return Ok(());
        };
        let is_answered = answer.map(|(is_answered, _)| is_answered);
        let is_it = self.wanted.is_answered.is_none() || self.wanted.is_answered == is_answered;
        if !is_it || !is_meant(self.wanted, open.address, open.is_read) {
            return Ok(());
        }
        let direction = if open.is_read { "read" } else { "write" };
        let said = match is_answered {
            Some(true) => "ACK",
            Some(false) => "NACK",
            None => "no answer",
        };
        let to = answer.map_or(open.to, |(_, end)| end);
        let text = format!("i2c 0x{:02X} {direction}, {said}", open.address);
        out.hit(open.from, to, text)
    }
}

/// Whether an address and its direction are those that are wanted.
pub(crate) fn is_meant(wanted: Address, address: u64, is_read: bool) -> bool {
    wanted
        .address
        .is_none_or(|wanted| u64::from(wanted) == address)
        && wanted.is_read.is_none_or(|wanted| wanted == is_read)
}

impl Take for Answers {
    fn take(&mut self, seen: Seen, note: &Annotation, out: &mut Places<'_, '_>) -> Done {
        match seen {
            Seen::Address { is_read } => {
                // Its direction comes as an annotation of its own.
                let Some(address) = number(note) else {
                    return Ok(());
                };
                self.close(None, out)?;
                self.open = Some(Open {
                    from: note.start,
                    to: note.end,
                    address,
                    is_read,
                });
                Ok(())
            }
            Seen::Ack(is_ack) => self.close(Some((is_ack, note.end)), out),
            Seen::Start | Seen::RepeatedStart | Seen::Stop => self.close(None, out),
            Seen::Word(_) | Seen::Deselected(_) | Seen::Mark(_) | Seen::Other => Ok(()),
        }
    }

    fn end(&mut self, out: &mut Places<'_, '_>) -> Done {
        self.close(None, out)
    }
}
