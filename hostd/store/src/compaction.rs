//! Gives disk space back at start. redb reuses free pages but its file only grows; after many
//! captures were deleted it can be mostly empty.

use tracing::info;

use super::error::StoreError;

/// Files below this are left alone: measuring them would cost more than they do.
const FILE_BYTES_MIN: u64 = 16 << 20;

/// Compact when less than one part in this many of the file is in use.
const SPARSE_PARTS: u64 = 3;

/// Compact `database` if most of its `file_bytes` are free. Call before anything else uses it.
pub(super) fn compact_if_sparse(
    database: &mut redb::Database,
    file_bytes: u64,
) -> Result<bool, StoreError> {
    if file_bytes < FILE_BYTES_MIN {
        return Ok(false);
    }
    let used_bytes = used_bytes(database)?;
    if used_bytes.saturating_mul(SPARSE_PARTS) >= file_bytes {
        return Ok(false);
    }
    info!(
        file_bytes,
        used_bytes, "the store is mostly free space; compacting it"
    );
    database.compact().map_err(StoreError::from_redb)
}

fn used_bytes(database: &redb::Database) -> Result<u64, StoreError> {
    let txn = database.begin_write().map_err(StoreError::from_redb)?;
    let stats = txn.stats().map_err(StoreError::from_redb)?;
    txn.abort().map_err(StoreError::from_redb)?;
    Ok(stats.stored_bytes() + stats.metadata_bytes())
}
