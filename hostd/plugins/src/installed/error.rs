//! Why a plugin could not be installed or changed.

use std::io;
use std::path::PathBuf;

use store::StoreError;
use store::plugins::PluginError;

use crate::manifest::ManifestError;
use crate::missing::Missing;
use crate::settings::Fault;
use crate::signature::SignatureError;

/// Why not.
#[derive(Debug, thiserror::Error)]
pub enum InstalledError {
    /// The table refuses.
    #[error(transparent)]
    Plugin(#[from] PluginError),
    /// The storage.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The signature is not taken.
    #[error(transparent)]
    Signature(#[from] SignatureError),
    /// The manifest of an installed version is not understood: another hostd took it in.
    #[error("read the manifest of the installed plugin")]
    Manifest(#[from] ManifestError),
    /// It has no such version.
    #[error("find the plugin's version: there is none of this digest")]
    NoVersion,
    /// An update that asks for more.
    #[error("activate the plugin: it waits for {}", shown(.0))]
    Waits(Vec<Missing>),
    /// What may not be set.
    #[error("configure the plugin: {}", shown(.0))]
    Config(Vec<Fault>),
    /// The file of a component.
    #[error("read or write {}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The file is not what it was.
    #[error("read {}: it is not the component that was installed; install the plugin again", path.display())]
    Changed {
        /// Which.
        path: PathBuf,
    },
}

fn shown(all: &[impl ToString]) -> String {
    let texts: Vec<_> = all.iter().map(ToString::to_string).collect();
    texts.join("; ")
}
