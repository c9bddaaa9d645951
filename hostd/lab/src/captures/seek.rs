//! What is looked for on a bus: among what its decoder says.

use std::collections::VecDeque;

use decode::{Annotation, Spec, SpecError, Value};

use pods::protocol::LA_CHANNELS;

use super::order::Bus;

/// Looks for an address or for bytes.
#[derive(Debug)]
pub(super) enum Seeker {
    Address {
        /// Classes of the addresses that count.
        classes: Vec<u8>,
        address: u64,
    },
    Bytes {
        class: u8,
        pattern: Vec<Option<u8>>,
        /// The last ones, at most as many as are looked for.
        seen: VecDeque<u64>,
    },
}

/// The decoding that sees it, of words of a pod.
///
/// # Errors
/// A channel or an option cannot be.
pub(super) fn spec(bus: &Bus) -> Result<Spec, SpecError> {
    let names: Vec<String> = (1..=LA_CHANNELS).map(|la| format!("LA{la}")).collect();
    let name = |la: u8| format!("LA{la}");
    match bus {
        Bus::I2c { lines, .. } => {
            let (scl, sda) = lines.unwrap_or_default();
            let (scl, sda) = (name(scl), name(sda));
            let map = [("scl", scl.as_str()), ("sda", sda.as_str())];
            Spec::parse("i2c", &map, &[], Some("addr-data"), &names)
        }
        Bus::Uart { rx, options, .. } => {
            let rx = name(*rx);
            let options = options.iter();
            let options = options.map(|(name, value)| (name.as_str(), value.as_str()));
            let options: Vec<(&str, &str)> = options.collect();
            Spec::parse(
                "uart",
                &[("rx", rx.as_str())],
                &options,
                Some("rx-data"),
                &names,
            )
        }
    }
}

impl Seeker {
    pub(super) fn new(bus: &Bus, spec: &Spec) -> Self {
        let class = |wanted: &str| {
            let classes = spec.decoder().classes.iter();
            let found = { classes }.position(|class| class.id == wanted);
            let found = found.and_then(|class| u8::try_from(class).ok());
            found.expect("the decoders of the buses are built in")
        };
        match bus {
            Bus::I2c {
                address, is_read, ..
            } => {
                let kinds: &[&str] = match is_read {
                    Some(true) => &["address-read"],
                    Some(false) => &["address-write"],
                    None => &["address-read", "address-write"],
                };
                Self::Address {
                    classes: kinds.iter().map(|kind| class(kind)).collect(),
                    address: (*address).into(),
                }
            }
            Bus::Uart { bytes, .. } => Self::Bytes {
                class: class("rx-data"),
                pattern: bytes.clone(),
                seen: VecDeque::with_capacity(bytes.len()),
            },
        }
    }

    /// Whether it is there with this annotation: then the sample at which it ends.
    pub(super) fn see(&mut self, note: &Annotation) -> Option<u64> {
        let Value::Number(number) = note.value else {
            return None;
        };
        match self {
            Self::Address { classes, address } => {
                let is_it = classes.contains(&note.class) && number == *address;
                is_it.then_some(note.end)
            }
            Self::Bytes {
                class,
                pattern,
                seen,
            } => {
                if note.class != *class {
                    return None;
                }
                if seen.len() == pattern.len() {
                    seen.pop_front();
                }
                seen.push_back(number);
                let is_it = seen.len() == pattern.len()
                    && seen.iter().zip(pattern.iter()).all(|(seen, wanted)| {
                        wanted.is_none_or(|wanted| *seen == u64::from(wanted))
                    });
                is_it.then_some(note.end)
            }
        }
    }

    /// Samples were lost: what was seen does not go on.
    pub(super) fn lose(&mut self) {
        if let Self::Bytes { seen, .. } = self {
            seen.clear();
        }
    }
}
