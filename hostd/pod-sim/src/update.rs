//! Updates of the simulated pod: one session, on which any one connection at a time works.
//!
//! An image is staged in the capture memory, so a session and a capture exclude each other. Nothing
//! is written before `ota_end` has checked it. A session that nobody has used for 30 s reserves
//! nothing any more: another transport may begin its own, and a capture overwrites it.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hex::FromHex as _;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

mod install;
mod signature;

pub use signature::{SIGNATURE_BYTES, Signable};
pub(crate) use signature::{Sig, Signed};

use super::access::Peer;
use super::args::Args;
use super::config::SimConfig;
use super::images::Target;
use super::refuse::Refuse;
use super::settings::{Settings, not_from_lan, only_secure};

/// Maximum number of bytes in one piece.
const PIECE_BYTES_MAX: usize = 768;

/// Largest image of any kind: as much as the capture memory holds.
const IMAGE_BYTES_MAX: i64 = 8 << 20;

/// A session that nobody has used for this long may be taken over.
const IDLE_NS: u64 = 30_000_000_000;

/// The progress of a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Idle,
    Receiving,
    Verified,
    Error,
    Installed,
}

impl State {
    fn word(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Receiving => "receiving",
            Self::Verified => "verified",
            Self::Error => "error",
            Self::Installed => "installed",
        }
    }

    /// Whether the capture memory holds an image.
    fn stages(self) -> bool {
        matches!(self, Self::Receiving | Self::Verified)
    }
}

/// The session.
#[derive(Debug, Default)]
pub(crate) struct Update {
    state: State,
    target: Option<Target>,
    size: usize,
    sha256: [u8; 32],
    version: String,
    bytes: Vec<u8>,
    frames: u64,
    sig: Sig,
    sig_key: String,
    owner: String,
    /// The owner's connection has ended; the next LAN connection continues.
    vacant: bool,
    touched_ns: u64,
    error: String,
}

/// How a commit continues.
pub(crate) enum Committed {
    /// Written, with the session as the reply.
    Session(Value),
    /// Written; the pod restarts after this reply.
    Reboot(Value),
}

impl Update {
    /// Whether the capture memory is in use for an image.
    pub(crate) fn stages(&self, now_ns: u64) -> bool {
        self.state.stages() && !self.is_stale(now_ns)
    }

    fn is_stale(&self, now_ns: u64) -> bool {
        now_ns >= self.touched_ns + IDLE_NS
    }

    /// A capture takes the memory of a session that nobody continued.
    pub(crate) fn overwrite(&mut self) {
        if self.state.stages() {
            self.fail("the staged image was overwritten by a capture");
        }
    }

    /// The owner's connection has ended.
    pub(crate) fn vacate(&mut self, peer: Peer) {
        if self.owner == peer.owner() {
            self.vacant = true;
        }
    }

    fn fail(&mut self, error: impl Into<String>) {
        self.state = State::Error;
        self.error = error.into();
        self.bytes = Vec::new();
    }

    /// `ota_status`, and the reply of most other commands.
    pub(crate) fn session(&self) -> Value {
        json!({
            "state": self.state.word(),
            "target": self.target.map_or("", Target::word),
            "received": self.bytes.len(),
            "size": self.size,
            "frames_seen": self.frames,
            "sig": self.sig.word(),
            "sig_key": self.sig_key,
            "owner": self.owner,
            "error": self.error,
        })
    }

    /// Lets `peer` work on the session if it may.
    fn enter(&mut self, peer: Peer, now_ns: u64) -> Result<(), Refuse> {
        let owner = peer.owner();
        let continues = self.vacant && peer.origin.is_lan() && self.owner.starts_with("lan:");
        let free = !self.state.stages() || self.is_stale(now_ns);
        if self.owner != owner && !continues && !free {
            return Err(Refuse::Updating {
                target: self.target.map_or("", Target::name),
                holder: self.owner.clone(),
            });
        }
        self.owner = owner;
        self.vacant = false;
        self.touched_ns = now_ns;
        Ok(())
    }

    /// Checks that the session on which `peer` works is in this state.
    fn expect(&mut self, state: State, peer: Peer, now_ns: u64) -> Result<(), Refuse> {
        let owned = self.owner.clone();
        self.enter(peer, now_ns)?;
        // Taking over a session means starting anew.
        let stale = owned != self.owner && !(owned.starts_with("lan:") && peer.origin.is_lan());
        if self.state != state || stale {
            return Err(Refuse::NoUpdate {
                state: state.word(),
            });
        }
        Ok(())
    }
}

/// `ota_begin`.
pub(crate) fn begin(
    update: &mut Update,
    config: &SimConfig,
    capture_is_held: bool,
    args: &Args<'_>,
    peer: Peer,
    now_ns: u64,
) -> Result<Value, Refuse> {
    let target = target(args)?;
    match target {
        Target::CompanyCa => not_from_lan(peer, "cloud_ca")?,
        Target::LanTls => only_secure(peer, "lan_tls")?,
        _ => {}
    }
    let size: usize = args
        .uint("size", 1..=IMAGE_BYTES_MAX)?
        .ok_or(Refuse::Missing { field: "size" })?;
    let limit = target.bytes_max(config.flash_kb);
    if size > limit {
        let limit = u64::try_from(limit).expect("a few megabytes");
        return Err(Refuse::ImageTooLarge { limit });
    }
    let sha256 = sha256(args)?;
    let version = args.text("version")?.unwrap_or("").to_owned();
    let sig = args.text("sig")?;
    update.enter(peer, now_ns)?;
    if capture_is_held {
        return Err(Refuse::Busy);
    }
    let signed = Signed {
        target,
        size,
        sha256,
    };
    let (sig, sig_key) = signature::check(sig, &signed, config);
    *update = Update {
        state: State::Receiving,
        target: Some(target),
        size,
        sha256,
        version,
        sig,
        sig_key,
        owner: peer.owner(),
        touched_ns: now_ns,
        ..Update::default()
    };
    Ok(update.session())
}

fn target(args: &Args<'_>) -> Result<Target, Refuse> {
    let word = args.text("target")?.unwrap_or("");
    let mut known = Target::ALL.into_iter();
    known
        .find(|target| target.word() == word)
        .ok_or(Refuse::Bad {
            field: "target",
            want: "gw0, gw1, esp, ca or tls",
        })
}

fn sha256(args: &Args<'_>) -> Result<[u8; 32], Refuse> {
    let text = args
        .text("sha256")?
        .ok_or(Refuse::Missing { field: "sha256" })?;
    <[u8; 32]>::from_hex(text).map_err(|_| Refuse::Bad {
        field: "sha256",
        want: "64 hexadecimal digits",
    })
}

/// `ota_data`: the next piece. A piece that has already arrived changes nothing.
pub(crate) fn data(
    update: &mut Update,
    args: &Args<'_>,
    peer: Peer,
    now_ns: u64,
) -> Result<Value, Refuse> {
    let bad = Refuse::Bad {
        field: "data",
        want: "base64url of 1 to 768 bytes",
    };
    let offset: usize = args
        .uint("offset", 0..=IMAGE_BYTES_MAX)?
        .ok_or(Refuse::Missing { field: "offset" })?;
    let text = args
        .text("data")?
        .ok_or(Refuse::Missing { field: "data" })?;
    let piece = URL_SAFE_NO_PAD.decode(text.trim_end_matches('='));
    let piece = piece.map_err(|_| bad.clone())?;
    if !(1..=PIECE_BYTES_MAX).contains(&piece.len()) {
        return Err(bad);
    }
    update.expect(State::Receiving, peer, now_ns)?;
    update.frames += 1;
    let received = update.bytes.len();
    let end = offset + piece.len();
    if end <= received && update.bytes[offset..end] == piece {
        return Ok(update.session());
    }
    if offset != received {
        update.fail(format!("offset {offset} does not follow {received} bytes"));
    } else if end > update.size {
        let size = update.size;
        update.fail(format!("more than the {size} bytes that were announced"));
    } else {
        update.bytes.extend(piece);
    }
    Ok(update.session())
}

/// `ota_end`: checks the received image.
pub(crate) fn end(
    update: &mut Update,
    settings: &Settings,
    flash_kb: u16,
    peer: Peer,
    now_ns: u64,
) -> Result<Value, Refuse> {
    update.expect(State::Receiving, peer, now_ns)?;
    match check(update, settings, flash_kb) {
        Ok(()) => update.state = State::Verified,
        Err(error) => update.fail(error),
    }
    Ok(update.session())
}

fn check(update: &Update, settings: &Settings, flash_kb: u16) -> Result<(), String> {
    let (received, size) = (update.bytes.len(), update.size);
    if received != size {
        return Err(format!("{received} of {size} bytes were received"));
    }
    let found: [u8; 32] = Sha256::digest(&update.bytes).into();
    if found != update.sha256 {
        return Err(format!("sha256 is {}", hex::encode(found)));
    }
    let target = update.target.expect("a session that receives has a target");
    if target.is_signed() {
        signature::enforce(settings.sig, update.sig)?;
    }
    install::check(settings, flash_kb, target, &update.bytes)
}

/// `ota_commit`: writes the checked image.
pub(crate) fn commit(
    update: &mut Update,
    settings: &mut Settings,
    peer: Peer,
    now_ns: u64,
) -> Result<Committed, Refuse> {
    update.expect(State::Verified, peer, now_ns)?;
    let bytes: Arc<[u8]> = std::mem::take(&mut update.bytes).into();
    let target = update.target;
    let target = target.expect("a checked session has a target");
    let version = update.version.clone();
    install::write(settings, target, &bytes, &version);
    if target == Target::Firmware {
        return Ok(Committed::Reboot(json!({"committing": true})));
    }
    update.state = State::Installed;
    update.bytes = Vec::new();
    let mut session = update.session();
    session["received"] = json!(bytes.len());
    Ok(Committed::Session(session))
}

/// `ota_abort`.
pub(crate) fn abort(update: &mut Update, peer: Peer, now_ns: u64) -> Result<Value, Refuse> {
    update.enter(peer, now_ns)?;
    *update = Update::default();
    Ok(update.session())
}

/// `ota_selftest`.
pub(crate) fn selftest() -> Value {
    json!({"selftest": "pass"})
}

#[cfg(test)]
mod tests;
