//! Transactions, put together from what the decoder finds: each begins with a start condition and ends with the next one,
//! with a stop condition, or where the capture ends.

use hostd_plugin::captures::Decoded;

/// How a transaction ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Stop,
    Repeat,
    /// The capture ended first.
    Open,
}

/// What went over the bus after one start condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Transaction {
    /// Sample of the start condition.
    pub(crate) start: u64,
    /// Sample of what ended it, or the last one that is known of it.
    pub(crate) last: u64,
    /// Seven bits; none if the address was cut off.
    pub(crate) address: Option<u64>,
    pub(crate) is_read: bool,
    pub(crate) address_acknowledged: Option<bool>,
    /// Bytes and whether each was acknowledged; none if that was cut off.
    pub(crate) data: Vec<(u64, Option<bool>)>,
    pub(crate) end: End,
}

/// Takes annotations in their order.
#[derive(Debug, Default)]
pub(crate) struct Transactions {
    current: Option<Transaction>,
}

impl Transactions {
    /// Take the next annotation; a transaction, if it ends one.
    pub(crate) fn take(&mut self, found: &Decoded) -> Option<Transaction> {
        match found.class.as_str() {
            "start" => {
                let cut = self.end(found.start, End::Open);
                self.begin(found.start);
                cut
            }
            "repeat-start" => {
                let ended = self.end(found.start, End::Repeat);
                self.begin(found.start);
                ended
            }
            "stop" => self.end(found.start, End::Stop),
            class => {
                if let Some(current) = &mut self.current {
                    current.add(class, found);
                }
                None
            }
        }
    }

    /// The last transaction, if the capture ended in it.
    pub(crate) fn rest(self) -> Option<Transaction> {
        self.current
    }

    fn begin(&mut self, sample: u64) {
        self.current = Some(Transaction {
            start: sample,
            last: sample,
            address: None,
            is_read: false,
            address_acknowledged: None,
            data: Vec::new(),
            end: End::Open,
        });
    }

    fn end(&mut self, sample: u64, end: End) -> Option<Transaction> {
        let mut ended = self.current.take()?;
        ended.end = end;
        if end != End::Open {
            ended.last = sample;
        }
        Some(ended)
    }
}

impl Transaction {
    fn add(&mut self, class: &str, found: &Decoded) {
        self.last = self.last.max(found.end);
        let number = found.numbers.first().copied();
        match (class, number) {
            ("address-read", Some(address)) => (self.address, self.is_read) = (Some(address), true),
            ("address-write", Some(address)) => self.address = Some(address),
            ("data-read" | "data-write", Some(byte)) => self.data.push((byte, None)),
            ("ack" | "nack", _) => {
                let was = Some(class == "ack");
                match self.data.last_mut() {
                    Some((_, acknowledged)) => *acknowledged = was,
                    None => self.address_acknowledged = was,
                }
            }
            _ => {}
        }
    }
}
