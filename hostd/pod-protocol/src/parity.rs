//! The parity bit of a UART. Pods have none; a serial port on a bench of parts may have one.

use serde::{Deserialize, Serialize};

/// Field of the status of a device whose UART can have a parity bit: the [`Parity`] that it has if nothing else is
/// asked for. The command `uart_proxy_start` of such a device has a field `parity`.
pub const UART_PARITY: &str = "uart_parity";

/// What the parity bit makes of the number of ones in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Parity {
    /// There is no such bit.
    None,
    /// An even number.
    Even,
    /// An odd number.
    Odd,
}

impl Parity {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::None, Self::Even, Self::Odd];

    /// Its name in requests and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Even => "even",
            Self::Odd => "odd",
        }
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|parity| parity.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_what_messages_say() {
        for parity in Parity::ALL {
            assert_eq!(
                serde_json::to_value(parity).unwrap().as_str(),
                Some(parity.name())
            );
            assert_eq!(Parity::named(parity.name()), Some(parity));
        }
        assert_eq!(Parity::named("mark"), None);
    }
}
