//! The image of an update, read once from disk.

use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Largest image: what a pod can stage.
pub(crate) const IMAGE_BYTES_MAX: u64 = 8 << 20;

/// An image in memory.
#[derive(Debug, Clone)]
pub struct Image {
    pub bytes: Arc<[u8]>,
    /// Lower-case hexadecimal.
    pub sha256: String,
}

/// Why an image cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    #[error("the image is empty")]
    Empty,
    #[error("the image has {bytes} bytes, a pod takes at most {IMAGE_BYTES_MAX}")]
    TooLarge { bytes: u64 },
    #[error("read the image in {}", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
}

impl Image {
    /// Read the file at `path`, whose length and digest are known.
    ///
    /// # Errors
    /// It is empty, too large, or cannot be read.
    pub async fn read(path: &Path, size_bytes: u64, sha256: &str) -> Result<Self, ImageError> {
        if size_bytes == 0 {
            return Err(ImageError::Empty);
        }
        if size_bytes > IMAGE_BYTES_MAX {
            return Err(ImageError::TooLarge { bytes: size_bytes });
        }
        let file = path.to_owned();
        let read = tokio::task::spawn_blocking(move || std::fs::read(file)).await;
        let read = read.unwrap_or_else(|panic| Err(std::io::Error::other(panic)));
        let bytes = read.map_err(|source| ImageError::Read {
            path: path.to_owned(),
            source,
        })?;
        Ok(Self {
            bytes: bytes.into(),
            sha256: sha256.to_owned(),
        })
    }
}
