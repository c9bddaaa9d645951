//! The messages of either side, read within bounds and written.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{FROM_POD_BYTES_MAX, ID_BYTES_MAX, REFUSAL_CHARS_MAX, TO_POD_BYTES_MAX, data};
use crate::commands::Tier;

/// Why a frame is no message.
#[derive(Debug, thiserror::Error)]
pub enum MessageError {
    /// It exceeds what that side takes.
    #[error("a frame of {bytes} bytes exceeds {limit}")]
    TooLong {
        /// What it was.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// It is not a JSON object with what its type needs.
    #[error("a frame is no message: {0}")]
    Malformed(#[from] serde_json::Error),
    /// An id is too long.
    #[error("an id exceeds {ID_BYTES_MAX} characters")]
    Id,
}

/// What a pod says.
#[derive(Debug, Clone, PartialEq)]
pub enum FromPod<'a> {
    /// Who and what it is, after every connect and whenever it changes: its fields.
    Capabilities(Map<String, Value>),
    /// A supply of the target was switched, or has failed.
    Efuse {
        /// Its number, 1 or 2.
        efuse: u8,
        /// Whether it is on.
        enabled: bool,
        /// Whether it has failed.
        fault: bool,
    },
    /// The answer to a command: its data, or the text of a refusal.
    Response {
        /// The request's.
        request_id: Cow<'a, str>,
        /// What came of it.
        answer: Result<Value, String>,
    },
    /// Bytes of a tunnel, in base64url.
    Data {
        /// The tunnel.
        tunnel_id: Cow<'a, str>,
        /// See [`decode`](super::decode).
        data: Cow<'a, str>,
    },
    /// All frames up to a `ping` were read.
    Pong,
    /// Anything else, which is ignored.
    Other,
}

/// What a server says.
#[derive(Debug, Clone, PartialEq)]
pub enum ToPod<'a> {
    /// A single command.
    Request {
        /// Comes back with the answer.
        request_id: Cow<'a, str>,
        /// The command as on any connection.
        command: Map<String, Value>,
    },
    /// Opens a tunnel. An open one of this id begins afresh.
    Open {
        /// The tunnel.
        tunnel_id: Cow<'a, str>,
        /// What its commands may do at most.
        tier: Tier,
    },
    /// Bytes of a tunnel, in base64url.
    Data {
        /// The tunnel.
        tunnel_id: Cow<'a, str>,
        /// See [`decode`](super::decode).
        data: Cow<'a, str>,
    },
    /// Ends a tunnel, and safely what it had begun.
    Close {
        /// The tunnel.
        tunnel_id: Cow<'a, str>,
    },
    /// Who holds the device.
    Lease {
        /// Its holder and the seconds left; `None` when nobody does.
        held: Option<(String, u32)>,
    },
    /// Asks for a [`FromPod::Pong`].
    Ping,
    /// Anything else, which is ignored.
    Other,
}

/// What decides how the rest is read. `tunnel.data` needs no more.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    tunnel_id: Cow<'a, str>,
    #[serde(borrow, default)]
    data_b64: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Request {
    request_id: String,
    command: Map<String, Value>,
}

#[derive(Deserialize)]
struct Response {
    request_id: String,
    status: Status,
    #[serde(default)]
    data: Value,
    #[serde(default)]
    error: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Ok,
    Error,
}

/// Some firmware writes 0 and 1.
#[derive(Deserialize)]
#[serde(untagged)]
enum Flag {
    Said(bool),
    Number(u8),
}

impl From<Flag> for bool {
    fn from(flag: Flag) -> Self {
        match flag {
            Flag::Said(said) => said,
            Flag::Number(number) => number != 0,
        }
    }
}

#[derive(Deserialize)]
struct Efuse {
    efuse: u8,
    enabled: Flag,
    fault: Flag,
}

#[derive(Deserialize)]
struct Open {
    #[serde(default = "all")]
    max_tier: u8,
}

fn all() -> u8 {
    Tier::Firmware.number()
}

#[derive(Deserialize)]
struct Lease {
    held: bool,
    #[serde(default)]
    holder: String,
    #[serde(default)]
    expires_in_s: u32,
}

fn head(text: &str, limit: usize) -> Result<Head<'_>, MessageError> {
    let bytes = text.len();
    if bytes > limit {
        return Err(MessageError::TooLong { bytes, limit });
    }
    let head: Head<'_> = serde_json::from_str(text)?;
    if head.tunnel_id.len() > ID_BYTES_MAX {
        return Err(MessageError::Id);
    }
    Ok(head)
}

fn short(id: String) -> Result<Cow<'static, str>, MessageError> {
    if id.len() > ID_BYTES_MAX {
        return Err(MessageError::Id);
    }
    Ok(id.into())
}

impl<'a> FromPod<'a> {
    /// Reads a frame.
    ///
    /// # Errors
    /// [`MessageError`].
    pub fn read(text: &'a str) -> Result<Self, MessageError> {
        let Head {
            kind,
            tunnel_id,
            data_b64: data,
        } = head(text, FROM_POD_BYTES_MAX)?;
        Ok(match &*kind {
            "tunnel.data" => Self::Data { tunnel_id, data },
            "command.response" => {
                let response: Response = serde_json::from_str(text)?;
                Self::Response {
                    request_id: short(response.request_id)?,
                    answer: match response.status {
                        Status::Ok => Ok(response.data),
                        Status::Error => Err(response.error),
                    },
                }
            }
            "pong" => Self::Pong,
            "capabilities" => {
                let mut fields: Map<String, Value> = serde_json::from_str(text)?;
                fields.remove("type");
                Self::Capabilities(fields)
            }
            "efuse.event" => {
                let Efuse {
                    efuse,
                    enabled,
                    fault,
                } = serde_json::from_str(text)?;
                let (enabled, fault) = (enabled.into(), fault.into());
                Self::Efuse {
                    efuse,
                    enabled,
                    fault,
                }
            }
            _ => Self::Other,
        })
    }

    /// The frame. `device_id` is the pod's.
    pub fn write(&self, device_id: &str) -> String {
        let value = match self {
            Self::Capabilities(fields) => {
                let mut fields = fields.clone();
                fields.insert("type".to_owned(), "capabilities".into());
                fields.insert("device_id".to_owned(), device_id.into());
                Value::Object(fields)
            }
            Self::Efuse {
                efuse,
                enabled,
                fault,
            } => json!({"type": "efuse.event", "device_id": device_id, "efuse": efuse,
                "enabled": enabled, "fault": fault}),
            Self::Response { request_id, answer } => match answer {
                Ok(data) => json!({"type": "command.response", "request_id": request_id,
                    "device_id": device_id, "status": "ok", "data": data}),
                Err(error) => {
                    let error: String = error.chars().take(REFUSAL_CHARS_MAX).collect();
                    json!({"type": "command.response", "request_id": request_id,
                        "device_id": device_id, "status": "error", "error": error})
                }
            },
            Self::Data { tunnel_id, data } => {
                json!({"type": "tunnel.data", "tunnel_id": tunnel_id, "data_b64": data})
            }
            Self::Pong => json!({"type": "pong"}),
            Self::Other => json!({"type": "other"}),
        };
        value.to_string()
    }
}

impl<'a> ToPod<'a> {
    /// Reads a frame.
    ///
    /// # Errors
    /// [`MessageError`].
    pub fn read(text: &'a str) -> Result<Self, MessageError> {
        let Head {
            kind,
            tunnel_id,
            data_b64: data,
        } = head(text, TO_POD_BYTES_MAX)?;
        Ok(match &*kind {
            "tunnel.data" => Self::Data { tunnel_id, data },
            "command.request" => {
                let request: Request = serde_json::from_str(text)?;
                Self::Request {
                    request_id: short(request.request_id)?,
                    command: request.command,
                }
            }
            "tunnel.open" => {
                let open: Open = serde_json::from_str(text)?;
                let tier = Tier::from_number(open.max_tier).unwrap_or(Tier::Firmware);
                Self::Open { tunnel_id, tier }
            }
            "tunnel.close" => Self::Close { tunnel_id },
            "lease.state" => {
                let lease: Lease = serde_json::from_str(text)?;
                Self::Lease {
                    held: lease.held.then_some((lease.holder, lease.expires_in_s)),
                }
            }
            "ping" => Self::Ping,
            _ => Self::Other,
        })
    }

    /// The frame.
    pub fn write(&self) -> String {
        let value = match self {
            Self::Request {
                request_id,
                command,
            } => json!({"type": "command.request", "request_id": request_id, "command": command}),
            Self::Open { tunnel_id, tier } => {
                json!({"type": "tunnel.open", "tunnel_id": tunnel_id, "max_tier": tier.number()})
            }
            Self::Data { tunnel_id, data } => {
                json!({"type": "tunnel.data", "tunnel_id": tunnel_id, "data_b64": data})
            }
            Self::Close { tunnel_id } => json!({"type": "tunnel.close", "tunnel_id": tunnel_id}),
            Self::Lease { held: None } => json!({"type": "lease.state", "held": false}),
            Self::Lease {
                held: Some((holder, left_s)),
            } => {
                json!({"type": "lease.state", "held": true, "holder": holder, "expires_in_s": left_s})
            }
            Self::Ping => json!({"type": "ping"}),
            Self::Other => json!({"type": "other"}),
        };
        value.to_string()
    }
}

/// Any text as a frame to either side, for fuzzing: what is read is read again from what is written of it.
pub(crate) fn fuzz(text: &str) {
    let mut bytes = bytes::BytesMut::new();
    if let Ok(read) = FromPod::read(text) {
        if let FromPod::Data { data, .. } = &read
            && let Some(count) = data::decode(data, &mut bytes)
        {
            assert_eq!((count, bytes.len()), (data::len(data), data::len(data)));
            let again = data::frame("t1", &bytes);
            let wanted = FromPod::Data {
                tunnel_id: "t1".into(),
                data: data.clone(),
            };
            assert_eq!(FromPod::read(&again).ok(), Some(wanted));
        }
        if !matches!(read, FromPod::Capabilities(_)) {
            let again = read.write("d");
            let again = FromPod::read(&again).expect("what is written can be read");
            assert_eq!(again.cut(), read.cut());
        }
    }
    if let Ok(read) = ToPod::read(text) {
        let again = read.write();
        if again.len() <= TO_POD_BYTES_MAX {
            assert_eq!(
                ToPod::read(&again).expect("what is written can be read"),
                read
            );
        }
    }
}

impl FromPod<'_> {
    /// As it is written: the text of a refusal is cut.
    fn cut(&self) -> Self {
        match self {
            Self::Response {
                request_id,
                answer: Err(error),
            } => FromPod::Response {
                request_id: request_id.clone(),
                answer: Err(error.chars().take(REFUSAL_CHARS_MAX).collect()),
            },
            other => other.clone(),
        }
    }
}
