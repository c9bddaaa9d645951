//! Identity for the command line, while no server runs on the data folder.

use std::path::{Path, PathBuf};

use super::{Identity, IdentityError};
use crate::clock::Clock;
use crate::store::{FILE_NAME, Store, StoreError};

/// Page cache of a short visit, in MiB.
const CACHE_MIB: u32 = 4;

/// Why the data folder could not be worked on.
#[derive(Debug, thiserror::Error)]
pub enum OfflineError {
    #[error(
        "find a store in {}; name another folder with --data-dir, or start hostd serve there once",
        dir.display()
    )]
    NoStore { dir: PathBuf },
    #[error("create {}", dir.display())]
    CreateDir {
        dir: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("start the async runtime")]
    Runtime(#[source] std::io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Identity(#[from] IdentityError),
}

/// Open the data folder `dir`, run `f`, and close it in order. `create` makes the folder and the
/// store if there are none.
///
/// # Errors
/// Another hostd uses the folder, or it cannot be read; what `f` returns is passed on as it is.
pub fn with_identity<T>(
    dir: &Path,
    prefix: &str,
    create: bool,
    f: impl AsyncFnOnce(&Identity) -> T,
) -> Result<T, OfflineError> {
    if create {
        std::fs::create_dir_all(dir).map_err(|source| OfflineError::CreateDir {
            dir: dir.to_owned(),
            source,
        })?;
    } else if !dir.join(FILE_NAME).exists() {
        return Err(OfflineError::NoStore {
            dir: dir.to_owned(),
        });
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(OfflineError::Runtime)?;
    runtime.block_on(async {
        let store = Store::open(dir, CACHE_MIB)?;
        let identity = Identity::open(store.clone(), Clock::system(), prefix).await?;
        let result = f(&identity).await;
        store.close().await?;
        Ok(result)
    })
}
