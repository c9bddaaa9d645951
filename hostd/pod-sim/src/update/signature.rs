//! Signatures of updates: 128 bytes that identify the image and end with an Ed25519 signature.
//!
//! ```text
//!   0  "BPSG"            44  u32 version: major << 16 | minor << 8 | patch
//!   4  u16 format 1      48  u32 build number
//!   6  u8  target        52  u16 layout
//!   7  u8  flags         54  u16 minimum flash in KiB
//!   8  u32 size          56  first 8 bytes of the SHA-256 of the public key
//!  12  SHA-256           64  Ed25519 over "benchpod-fw-sign:v1" 0x00 and bytes 0 to 63
//! ```
//! Numbers are little-endian.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use sha2::{Digest as _, Sha256};

use crate::SimConfig;
use crate::images::Target;
use crate::settings::SigPolicy;

/// Bytes of a signature block.
pub const SIGNATURE_BYTES: usize = 128;

/// Number of bytes in it that are signed.
const SIGNED_BYTES: usize = 64;

const MAGIC: &[u8; 4] = b"BPSG";
const FORMAT: u16 = 1;
const CONTEXT: &[u8] = b"benchpod-fw-sign:v1\0";
const KEY_ID_BYTES: usize = 8;

/// The result of checking a signature.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Sig {
    #[default]
    None,
    Ok,
    Format,
    UnknownKey,
    Signature,
    Target,
    Image,
}

impl Sig {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Ok => "ok",
            Self::Format => "format",
            Self::UnknownKey => "unknown-key",
            Self::Signature => "signature",
            Self::Target => "target",
            Self::Image => "image",
        }
    }
}

/// The properties of an update that its signature must confirm.
pub(crate) struct Signed {
    pub(crate) target: Target,
    pub(crate) size: usize,
    pub(crate) sha256: [u8; 32],
}

/// An image to be signed.
#[derive(Debug, Clone, Copy)]
pub struct Signable<'a> {
    /// The part that it updates.
    pub target: Target,
    /// The image.
    pub image: &'a [u8],
    /// Major, minor and patch.
    pub version: [u8; 3],
    /// Smallest flash that it fits, in KiB.
    pub flash_kb_min: u16,
}

fn number(target: Target) -> Option<u8> {
    match target {
        Target::Firmware => Some(0),
        Target::Gateware0 => Some(1),
        Target::Gateware1 => Some(2),
        Target::Wireless => Some(3),
        Target::CompanyCa | Target::LanTls => None,
    }
}

fn key_id(key: &VerifyingKey) -> [u8; KEY_ID_BYTES] {
    let digest = Sha256::digest(key.as_bytes());
    digest
        .first_chunk()
        .copied()
        .expect("a SHA-256 has 32 bytes")
}

impl Signable<'_> {
    /// The signature block by the key with this secret, in the form of `sig` in `ota_begin`. `None`
    /// for certificates, which are not signed.
    pub fn sign(&self, secret: &[u8; 32]) -> Option<String> {
        let key = SigningKey::from_bytes(secret);
        let [major, minor, patch] = self.version.map(u32::from);
        let size = u32::try_from(self.image.len()).ok()?;
        let mut block = Vec::with_capacity(SIGNATURE_BYTES);
        block.extend(MAGIC);
        block.extend(FORMAT.to_le_bytes());
        block.extend([number(self.target)?, 0]);
        block.extend(size.to_le_bytes());
        block.extend(Sha256::digest(self.image));
        block.extend((major << 16 | minor << 8 | patch).to_le_bytes());
        block.extend([0; 6]);
        block.extend(self.flash_kb_min.to_le_bytes());
        block.extend(key_id(&key.verifying_key()));
        let signature = key.sign(&[CONTEXT, &block].concat());
        block.extend(signature.to_bytes());
        Some(URL_SAFE_NO_PAD.encode(block))
    }
}

/// Checks the signature of an update; also returns the id of the key that it names.
pub(crate) fn check(text: Option<&str>, of: &Signed, config: &SimConfig) -> (Sig, String) {
    let Some(text) = text.filter(|text| !text.is_empty()) else {
        return (Sig::None, String::new());
    };
    let block = URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok();
    let block = block.and_then(|bytes| <[u8; SIGNATURE_BYTES]>::try_from(bytes).ok());
    let Some(block) = block.filter(|block| block.starts_with(MAGIC)) else {
        return (Sig::Format, String::new());
    };
    let id = &block[SIGNED_BYTES - KEY_ID_BYTES..SIGNED_BYTES];
    (judge(&block, id, of, config), hex::encode(id))
}

fn judge(block: &[u8; SIGNATURE_BYTES], id: &[u8], of: &Signed, config: &SimConfig) -> Sig {
    let u16_at = |at: usize| u16::from_le_bytes([block[at], block[at + 1]]);
    if u16_at(4) != FORMAT {
        return Sig::Format;
    }
    let keys = config.update_keys.iter();
    let mut keys = keys.filter_map(|bytes| VerifyingKey::from_bytes(bytes).ok());
    let Some(key) = keys.find(|key| key_id(key) == id) else {
        return Sig::UnknownKey;
    };
    let (signed, signature) = block.split_at(SIGNED_BYTES);
    let message = [CONTEXT, signed].concat();
    let verified = Signature::from_slice(signature)
        .is_ok_and(|signature| key.verify_strict(&message, &signature).is_ok());
    if !verified {
        return Sig::Signature;
    }
    if number(of.target) != Some(block[6]) {
        return Sig::Target;
    }
    let size = u32::from_le_bytes([block[8], block[9], block[10], block[11]]);
    let same = usize::try_from(size).is_ok_and(|size| size == of.size);
    if !same || block[12..44] != of.sha256 || u16_at(54) > config.flash_kb {
        return Sig::Image;
    }
    Sig::Ok
}

/// Applies a policy to a signature.
pub(crate) fn enforce(policy: SigPolicy, sig: Sig) -> Result<(), String> {
    let fits = match policy {
        SigPolicy::Audit => true,
        SigPolicy::Permissive => matches!(sig, Sig::None | Sig::Ok),
        SigPolicy::Required => sig == Sig::Ok,
    };
    if fits {
        Ok(())
    } else {
        let (policy, sig) = (policy.word(), sig.word());
        Err(format!("signature policy `{policy}` refuses: {sig}"))
    }
}
