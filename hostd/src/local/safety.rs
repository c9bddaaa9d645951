//! Which devices are held, so that all of them can be made safe at any moment, whatever their runs do.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dispatch::Grant;
use lab::leases::{Ask, Claim, LeaseError, Leases, Released};
use tokio::runtime::Handle;

use super::held::shown;

/// How long a device has to acknowledge its safe state.
const SAFE_WAIT: Duration = Duration::from_secs(15);

/// Between two looks at it.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Makes devices safe. Cloning shares it.
#[derive(Clone, Debug)]
pub struct Safety(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    handle: Handle,
    leases: Arc<Leases>,
    /// By which leases devices are held; none once nothing may begin any more.
    held: Mutex<Option<Vec<Grant>>>,
    folder: PathBuf,
}

impl Safety {
    pub(super) fn new(handle: Handle, leases: Arc<Leases>, folder: PathBuf) -> Self {
        Self(Arc::new(Inner {
            handle,
            leases,
            held: Mutex::new(Some(Vec::new())),
            folder,
        }))
    }

    pub(super) fn handle(&self) -> &Handle {
        &self.0.handle
    }

    pub(super) fn leases(&self) -> &Arc<Leases> {
        &self.0.leases
    }

    /// Makes all devices safe that are held, lets nobody take one any more, and removes the folder of the bench: for a
    /// process that is about to end. On a thread that may block. Whether all are safe.
    #[must_use]
    pub(crate) fn make_all_safe(&self) -> bool {
        let all = self.held().take().unwrap_or_default();
        let are_safe = all.iter().map(|grant| self.make_safe(grant));
        // None is left out for another one.
        let are_safe = are_safe.collect::<Vec<_>>().into_iter().all(|safe| safe);
        // What is left is removed by the next bench.
        let _ = fs::remove_dir_all(&self.0.folder);
        are_safe
    }

    /// Takes a device if it is free; whether it is. Why not at all, otherwise.
    pub(super) fn acquire(&self, grant: &Grant, claim: Claim) -> Result<bool, String> {
        let Inner { handle, leases, .. } = &*self.0;
        // Nothing is taken between the last look at what is held and the end.
        let mut held = self.held();
        let Some(held) = held.as_mut() else {
            return Err("the run is about to end".to_owned());
        };
        handle.block_on(async {
            match leases.acquire(&grant.device, claim, Ask::ONCE).await {
                Ok(_) => {
                    held.push(grant.clone());
                    Ok(true)
                }
                Err(LeaseError::Busy(_)) => {
                    // It may be ours, while those let in before are still inside.
                    let _ = leases.release(&grant.device, shown(grant)).await;
                    Ok(false)
                }
                Err(error) => Err(error.to_string()),
            }
        })
    }

    /// Gives a device back; whether it is safe.
    pub(super) fn release(&self, grant: &Grant) -> bool {
        let is_safe = self.make_safe(grant);
        if let Some(held) = self.held().as_mut() {
            held.retain(|other| other != grant);
        }
        is_safe
    }

    fn make_safe(&self, grant: &Grant) -> bool {
        let Inner { handle, leases, .. } = &*self.0;
        handle.block_on(async {
            let released = leases.release(&grant.device, shown(grant)).await;
            if matches!(released, Ok(Released::Over { safe: true })) {
                return true;
            }
            let safe = async {
                while leases.owes_since_ms(&grant.device).is_some() {
                    tokio::time::sleep(LOOK_EVERY).await;
                }
            };
            released.is_ok() && tokio::time::timeout(SAFE_WAIT, safe).await.is_ok()
        })
    }

    fn held(&self) -> MutexGuard<'_, Option<Vec<Grant>>> {
        // Each change is one call, so a panic elsewhere leaves a valid list.
        self.0.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
