//! A plugin as one file or folder: manifest, component, and perhaps a signature.
//!
//! The file is a plain tar with `plugin.toml`, `plugin.wasm` and perhaps `plugin.toml.minisig`, and nothing else. Packed
//! twice, it has the same bytes.

use std::io::{self, Read};

use sha2::{Digest, Sha256};

use crate::manifest::{self, Manifest, ManifestError};
use crate::signature::{self, Signature, SignatureError};

mod folder;
mod tape;

/// Name of the component in a packed plugin.
pub const COMPONENT: &str = "plugin.wasm";

/// Largest component, in bytes.
pub const COMPONENT_BYTES_MAX: usize = 32 << 20;

/// Largest packed plugin, in bytes: its members, their headers, and the zeros at the end.
pub(crate) const PACKED_BYTES_MAX: usize =
    COMPONENT_BYTES_MAX + manifest::BYTES_MAX + signature::BYTES_MAX + (64 << 10);

/// How a component begins: WebAssembly's magic number, and the version and layer of components.
const COMPONENT_START: &[u8] = b"\0asm\x0d\0\x01\0";

/// A plugin, read and checked, not yet judged: see [`Keys::judge`](crate::signature::Keys::judge).
#[derive(Debug, Clone)]
pub struct Package {
    manifest: Manifest,
    manifest_bytes: Vec<u8>,
    component: Vec<u8>,
    component_digest: [u8; 32],
    signature: Option<(Vec<u8>, Signature)>,
}

/// Why something is no plugin.
#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    /// The manifest.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The signature.
    #[error(transparent)]
    Signature(#[from] SignatureError),
    /// A part is too large.
    #[error("{name} has more than {bytes_max} bytes")]
    TooLarge {
        /// Which.
        name: &'static str,
        /// Its limit.
        bytes_max: usize,
    },
    /// A part is missing.
    #[error("there is no {name}")]
    Missing {
        /// Which.
        name: String,
    },
    /// Something else is there.
    #[error(
        "it has {name}, but may have only the files plugin.toml, plugin.toml.minisig and plugin.wasm, each once"
    )]
    Member {
        /// What.
        name: String,
    },
    /// Not what `hostd plugin pack` makes.
    #[error("it is no tar, or it is cut off; hostd plugin pack makes one")]
    Tar,
    /// A link, a folder, a device.
    #[error("{name} is not a plain file")]
    NotPlain {
        /// Which.
        name: String,
    },
    /// Not WebAssembly, or a module and no component.
    #[error(
        "the component is no WebAssembly component; a core module becomes one with hostd plugin component"
    )]
    NoComponent,
    /// The digest in the manifest is another.
    #[error("the component's SHA-256 is {is}, but plugin.sha256 says {wanted}")]
    Digest {
        /// The component's.
        is: String,
        /// The manifest's.
        wanted: String,
    },
    /// It cannot be read.
    #[error("read {name}")]
    Read {
        /// What.
        name: String,
        /// Why.
        #[source]
        source: io::Error,
    },
}

impl Package {
    /// From its parts.
    ///
    /// # Errors
    /// A part is wrong, or they do not belong together.
    pub fn new(
        manifest_bytes: Vec<u8>,
        component: Vec<u8>,
        signature: Option<Vec<u8>>,
    ) -> Result<Self, PackageError> {
        let manifest = Manifest::parse(&manifest_bytes)?;
        let signature = signature.map(|bytes| {
            let signature = Signature::parse(&bytes)?;
            Ok::<_, SignatureError>((bytes, signature))
        });
        let signature = signature.transpose()?;
        if component.len() > COMPONENT_BYTES_MAX {
            return Err(too_large(COMPONENT));
        }
        if !component.starts_with(COMPONENT_START) {
            return Err(PackageError::NoComponent);
        }
        let component_digest = Sha256::digest(&component).into();
        let is = hex::encode(component_digest);
        if let Some(wanted) = manifest.sha256.clone().filter(|wanted| *wanted != is) {
            return Err(PackageError::Digest { is, wanted });
        }
        Ok(Self {
            manifest,
            manifest_bytes,
            component,
            component_digest,
            signature,
        })
    }

    /// From a packed plugin.
    ///
    /// # Errors
    /// It is none.
    pub fn unpack(packed: impl Read) -> Result<Self, PackageError> {
        let parts = tape::read(packed)?;
        Self::new(parts.manifest, parts.component, parts.signature)
    }

    /// From a folder with the manifest, the component that it names, and perhaps the signature; other files in it do not
    /// matter.
    ///
    /// # Errors
    /// A file is missing, no plain file, or wrong.
    pub fn from_folder(folder: &std::path::Path) -> Result<Self, PackageError> {
        let parts = folder::read(folder)?;
        Self::new(parts.manifest, parts.component, parts.signature)
    }

    /// As one file.
    #[must_use]
    pub fn pack(&self) -> Vec<u8> {
        let signature = self.signature.as_ref().map(|(bytes, _)| &bytes[..]);
        tape::write(&self.manifest_bytes, signature, &self.component)
    }

    /// What it says of itself.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The manifest as it was signed.
    #[must_use]
    pub(crate) fn manifest_bytes(&self) -> &[u8] {
        &self.manifest_bytes
    }

    /// The component.
    #[must_use]
    pub fn component(&self) -> &[u8] {
        &self.component
    }

    /// SHA-256 of the component, hexadecimal.
    #[must_use]
    pub fn component_digest(&self) -> String {
        hex::encode(self.component_digest)
    }

    /// The signature, not yet verified.
    #[must_use]
    pub fn signature(&self) -> Option<&Signature> {
        self.signature.as_ref().map(|(_, signature)| signature)
    }

    /// What tells this version from all others, hexadecimal: SHA-256 of the manifest followed by the component's SHA-256.
    #[must_use]
    pub fn digest(&self) -> String {
        let digest = Sha256::new()
            .chain_update(&self.manifest_bytes)
            .chain_update(self.component_digest);
        hex::encode(digest.finalize())
    }
}

/// The parts of a package, bounded and not yet read.
#[derive(Debug)]
struct Parts {
    manifest: Vec<u8>,
    component: Vec<u8>,
    signature: Option<Vec<u8>>,
}

/// Largest size of a part.
fn bytes_max(name: &str) -> usize {
    match name {
        manifest::FILE => manifest::BYTES_MAX,
        signature::FILE => signature::BYTES_MAX,
        _ => COMPONENT_BYTES_MAX,
    }
}

fn too_large(name: &'static str) -> PackageError {
    let bytes_max = bytes_max(name);
    PackageError::TooLarge { name, bytes_max }
}

fn missing(name: &str) -> PackageError {
    let name = name.to_owned();
    PackageError::Missing { name }
}

#[cfg(test)]
mod tests;
