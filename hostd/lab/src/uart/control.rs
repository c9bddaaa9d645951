//! The text messages of a UART stream, as JSON objects with a `type`.

use pods::Parity;
use pods::protocol::{UART_BAUD_MAX, UART_BAUD_MIN, UART_BREAK_MS, UART_BREAK_MS_MAX};
use serde::{Deserialize, Serialize};

use super::{Setting, Stage, Work};
use base::ring::Piece;

/// Longest control message of a client, in bytes.
pub(super) const CONTROL_BYTES_MAX: usize = 1024;

/// What a client asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase", deny_unknown_fields)]
pub(super) enum Control {
    Baud {
        baud: u32,
    },
    Parity {
        parity: Parity,
    },
    Break {
        #[serde(default = "break_ms")]
        ms: u64,
    },
}

fn break_ms() -> u64 {
    UART_BREAK_MS
}

/// Why a control message is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum ControlError {
    #[error("a control message has at most {CONTROL_BYTES_MAX} bytes")]
    TooLong,
    #[error(
        r#"a control message is {{"type":"baud","baud":<rate>}}, {{"type":"parity","parity":<none, even or odd>}} or {{"type":"break","ms":<milliseconds>}}; bytes for the target go into binary messages"#
    )]
    Unknown,
    #[error("baud must be {UART_BAUD_MIN} to {UART_BAUD_MAX}")]
    Baud,
    #[error("ms must be 1 to {UART_BREAK_MS_MAX}")]
    BreakMs,
}

impl Control {
    /// # Errors
    /// It is not a known message.
    pub(super) fn parse(text: &str) -> Result<Self, ControlError> {
        if text.len() > CONTROL_BYTES_MAX {
            return Err(ControlError::TooLong);
        }
        match serde_json::from_str(text).map_err(|_| ControlError::Unknown)? {
            Self::Baud { baud } if !(UART_BAUD_MIN..=UART_BAUD_MAX).contains(&baud) => {
                Err(ControlError::Baud)
            }
            Self::Break { ms } if !(1..=UART_BREAK_MS_MAX).contains(&ms) => {
                Err(ControlError::BreakMs)
            }
            control => Ok(control),
        }
    }
}

/// Why a line is open, or open again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Because {
    /// The client has connected.
    Connected,
    /// The pod is back.
    DeviceBack,
    /// A client's bytes would have ended the pod's session, which was restarted.
    Escape,
    /// The client was too slow for the messages in between.
    Overrun,
}

/// Stable words of [`Notice::Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Code {
    DeviceOffline,
    DeviceRefused,
    InvalidMessage,
    ReadOnly,
    SettingRefused,
}

/// Messages to all clients of a line. `offset` is the position of the target's next byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Notice {
    Open {
        because: Because,
        offset: u64,
    },
    Baud {
        baud: u32,
        offset: u64,
    },
    Parity {
        parity: Parity,
        offset: u64,
    },
    Break {
        ms: u64,
        offset: u64,
    },
    Work {
        work: Work,
        id: String,
        stage: Stage,
        offset: u64,
    },
    Error {
        code: Code,
        message: String,
    },
}

impl Piece for Notice {
    fn positions(&self) -> u64 {
        1
    }

    fn weight(&self) -> usize {
        size_of::<Self>()
    }

    fn after(&self, _positions: u64) -> Self {
        self.clone()
    }
}

/// A message to one client.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Told<'a> {
    Open {
        device_id: &'a str,
        rx: u8,
        tx: u8,
        baud: u32,
        /// None: there is no parity bit, ever.
        #[serde(skip_serializing_if = "Option::is_none")]
        parity: Option<Parity>,
        /// Whether this client may write.
        writable: bool,
        offset: u64,
        because: Because,
    },
    Baud {
        baud: u32,
        offset: u64,
    },
    Parity {
        parity: Parity,
        offset: u64,
    },
    Break {
        ms: u64,
        offset: u64,
    },
    /// The device's target is being flashed.
    Flash {
        id: &'a str,
        state: Stage,
        offset: u64,
    },
    /// The pod's own firmware is being updated.
    Update {
        id: &'a str,
        state: Stage,
        offset: u64,
    },
    /// Bytes from position `from` up to, but not including, `to` are missing.
    Overrun {
        from: u64,
        to: u64,
    },
    LeaseLost,
    Error {
        code: Code,
        message: &'a str,
    },
}

impl Told<'_> {
    pub(super) fn text(&self) -> String {
        serde_json::to_string(self).expect("plain members are JSON")
    }
}

/// The `open` message for one client.
pub(super) fn open(
    device_id: &str,
    setting: Setting,
    writable: bool,
    offset: u64,
    because: Because,
) -> String {
    let Setting {
        rx,
        tx,
        baud,
        parity,
    } = setting;
    Told::Open {
        device_id,
        rx,
        tx,
        baud,
        parity,
        writable,
        offset,
        because,
    }
    .text()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls() {
        assert_eq!(
            Control::parse(r#"{"type":"baud","baud":9600}"#),
            Ok(Control::Baud { baud: 9600 })
        );
        assert_eq!(
            Control::parse(r#" {"type":"break"} "#),
            Ok(Control::Break { ms: 30 })
        );
        let parity = Parity::Even;
        assert_eq!(
            Control::parse(r#"{"type":"parity","parity":"even"}"#),
            Ok(Control::Parity { parity })
        );
        assert_eq!(
            Control::parse(r#"{"type":"break","ms":1000}"#),
            Ok(Control::Break { ms: 1_000 })
        );
        for (text, error) in [
            (r#"{"type":"baud","baud":299}"#, ControlError::Baud),
            (r#"{"type":"baud","baud":4000001}"#, ControlError::Baud),
            (r#"{"type":"baud"}"#, ControlError::Unknown),
            (r#"{"type":"baud","baud":-1}"#, ControlError::Unknown),
            (
                r#"{"type":"parity","parity":"mark"}"#,
                ControlError::Unknown,
            ),
            (r#"{"type":"parity"}"#, ControlError::Unknown),
            (r#"{"type":"break","ms":0}"#, ControlError::BreakMs),
            (r#"{"type":"break","ms":1001}"#, ControlError::BreakMs),
            (r#"{"type":"break","us":1}"#, ControlError::Unknown),
            (r#"{"type":"open"}"#, ControlError::Unknown),
            ("[]", ControlError::Unknown),
            ("", ControlError::Unknown),
            (&"x".repeat(1025), ControlError::TooLong),
        ] {
            assert_eq!(Control::parse(text), Err(error), "{text}");
        }
    }

    #[test]
    fn messages_are_as_documented() {
        let setting = Setting {
            rx: 5,
            tx: 4,
            baud: 115_200,
            parity: None,
        };
        assert_eq!(
            open("01X", setting, true, 7, Because::DeviceBack),
            r#"{"type":"open","device_id":"01X","rx":5,"tx":4,"baud":115200,"writable":true,"offset":7,"because":"device_back"}"#
        );
        let parity = Some(Parity::Odd);
        let odd = Setting { parity, ..setting };
        let odd = open("01X", odd, true, 7, Because::Connected);
        assert!(
            odd.contains(r#""baud":115200,"parity":"odd","writable""#),
            "{odd}"
        );
        assert_eq!(Told::LeaseLost.text(), r#"{"type":"lease_lost"}"#);
        let flash = Told::Flash {
            id: "01F",
            state: Stage::Begun,
            offset: 7,
        };
        assert_eq!(
            flash.text(),
            r#"{"type":"flash","id":"01F","state":"begun","offset":7}"#
        );
        let error = Told::Error {
            code: Code::ReadOnly,
            message: "no",
        };
        assert_eq!(
            error.text(),
            r#"{"type":"error","code":"read_only","message":"no"}"#
        );
    }

    /// Whatever comes: a request within its bounds, or a refusal.
    #[test]
    fn mutated_controls_never_panic() {
        let mut random = 0x5eed_u64;
        let mut below = |n: usize| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            usize::try_from(random % n as u64).unwrap()
        };
        for _ in 0..20_000 {
            let mut text = br#"{"type":"baud","baud":115200}"#.to_vec();
            for _ in 0..=below(4) {
                let at = below(text.len());
                match below(3) {
                    0 => text[at] = u8::try_from(below(256)).unwrap(),
                    1 => text.insert(at, b"{}[]\",:0e-x"[below(11)]),
                    _ => drop(text.remove(at)),
                }
            }
            if let Ok(text) = std::str::from_utf8(&text)
                && let Ok(Control::Baud { baud }) = Control::parse(text)
            {
                assert!((UART_BAUD_MIN..=UART_BAUD_MAX).contains(&baud), "{text}");
            }
        }
    }
}
