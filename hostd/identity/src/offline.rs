//! Identity for the command line, while no server runs on the data folder.

use std::path::{Path, PathBuf};

use super::{Identity, IdentityError};
use base::clock::Clock;
use base::folder;
use base::private::{self, PrivateError};
use store::{Store, StoreError};

/// Page cache of a short run, in MiB.
const CACHE_MIB: u32 = 4;

/// Why the data folder could not be used.
#[derive(Debug, thiserror::Error)]
pub enum OfflineError {
    #[error(
        "find a store in {}; name another folder with --data-dir, or start hostd serve there once",
        dir.display()
    )]
    NoStore { dir: PathBuf },
    #[error(
        "use {}: a restore into it did not come to its end; run hostd restore again",
        dir.display()
    )]
    HalfRestored { dir: PathBuf },
    #[error(transparent)]
    Folder(#[from] PrivateError),
    #[error("start the async runtime")]
    Runtime(#[source] std::io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Identity(#[from] IdentityError),
}

/// Open the data folder `dir`, which must hold a store, run `f`, and close it cleanly. `prefix` is the first part of new keys.
///
/// # Errors
/// Another hostd uses the folder, or it cannot be read; what `f` returns is passed on as it is.
pub fn with_identity<T>(
    dir: &Path,
    prefix: &str,
    f: impl AsyncFnOnce(&Identity) -> T,
) -> Result<T, OfflineError> {
    visit(dir, async |store| {
        let identity = Identity::open(store.clone(), Clock::system(), prefix).await?;
        Ok(f(&identity).await)
    })
}

/// Open the data folder `dir`, which must hold a store, run `f` on that, and close it cleanly.
///
/// # Errors
/// Another hostd uses the folder, or it cannot be read; what `f` returns is passed on as it is.
pub fn with_store<T>(dir: &Path, f: impl AsyncFnOnce(&Store) -> T) -> Result<T, OfflineError> {
    visit(dir, async |store| Ok(f(store).await))
}

/// Nothing is made where there is no store: a key of a folder that no server uses opens nothing.
fn check_there(dir: &Path) -> Result<(), OfflineError> {
    if folder::is_half_restored(dir) {
        return Err(OfflineError::HalfRestored {
            dir: dir.to_owned(),
        });
    }
    if dir.exists() {
        private::check_owner(dir)?;
    }
    if dir.join(folder::STORE).exists() {
        return Ok(());
    }
    Err(OfflineError::NoStore {
        dir: dir.to_owned(),
    })
}

fn visit<T>(
    dir: &Path,
    f: impl AsyncFnOnce(&Store) -> Result<T, OfflineError>,
) -> Result<T, OfflineError> {
    check_there(dir)?;
    private::data_folder(dir)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(OfflineError::Runtime)?;
    runtime.block_on(async {
        let store = Store::open(dir, CACHE_MIB)?;
        let result = f(&store).await;
        store.close().await?;
        result
    })
}
