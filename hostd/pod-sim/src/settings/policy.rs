//! What the LAN may do, and whether updates must be signed.

use serde_json::{Value, json};

use super::{NOT_FROM_LAN, Settings};
use crate::access::{Origin, Peer};
use crate::args::Args;
use crate::refuse::Refuse;

/// What the LAN may do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum LanPolicy {
    #[default]
    Open,
    /// Neither settings nor firmware can be changed.
    Locked,
    /// There is no listener on the LAN.
    Off,
}

/// How strictly signatures of updates are enforced, in increasing order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SigPolicy {
    /// Signatures are only recorded.
    #[default]
    Audit,
    /// A signature may be missing, but not wrong.
    Permissive,
    /// A signature must be present and correct.
    Required,
}

impl LanPolicy {
    const ALL: [Self; 3] = [Self::Open, Self::Locked, Self::Off];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Locked => "locked",
            Self::Off => "off",
        }
    }
}

impl SigPolicy {
    const ALL: [Self; 3] = [Self::Audit, Self::Permissive, Self::Required];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Audit => "audit",
            Self::Permissive => "permissive",
            Self::Required => "required",
        }
    }
}

/// `lan_policy`.
pub(crate) fn lan_policy(
    settings: &mut Settings,
    args: &Args<'_>,
    peer: Peer,
) -> Result<Value, Refuse> {
    if let Some(word) = args.text("set")? {
        if peer.origin.is_lan() {
            return Err(Refuse::Elsewhere {
                command: "lan_policy",
                how: NOT_FROM_LAN,
            });
        }
        let mut known = LanPolicy::ALL.into_iter();
        let policy = known.find(|policy| policy.word() == word);
        settings.lan = policy.ok_or(Refuse::Bad {
            field: "set",
            want: "open, locked or off",
        })?;
    }
    Ok(json!({"policy": settings.lan.word()}))
}

/// `sig_policy`.
pub(crate) fn sig_policy(
    settings: &mut Settings,
    keys: usize,
    args: &Args<'_>,
    peer: Peer,
) -> Result<Value, Refuse> {
    if let Some(word) = args.text("set")? {
        if peer.origin.is_lan() {
            return Err(Refuse::Elsewhere {
                command: "sig_policy",
                how: NOT_FROM_LAN,
            });
        }
        let mut known = SigPolicy::ALL.into_iter();
        let policy = known.find(|policy| policy.word() == word);
        let policy = policy.ok_or(Refuse::Bad {
            field: "set",
            want: "audit, permissive or required",
        })?;
        if policy < settings.sig && peer.origin != Origin::Usb {
            return Err(Refuse::Loosens {
                policy: settings.sig.word(),
            });
        }
        if policy == SigPolicy::Required && keys == 0 {
            // Otherwise nothing could ever be installed again.
            return Err(Refuse::NoKeys);
        }
        settings.sig = policy;
    }
    let enforces = settings.sig == SigPolicy::Required;
    Ok(json!({"policy": settings.sig.word(), "enforces": enforces, "keys": keys}))
}
