//! What lasts on a device (tunnels, streams): told when it has to end, and counted until it has.

use tokio::sync::watch;

/// The visitors of one device.
#[derive(Debug)]
pub(super) struct Visitors {
    fence: watch::Sender<u64>,
    /// The fences that those inside were let in under.
    inside: watch::Sender<Vec<u64>>,
}

/// One visitor. Dropping it is leaving.
#[derive(Debug)]
pub struct Visit {
    fence: u64,
    present: watch::Receiver<u64>,
    inside: watch::Sender<Vec<u64>>,
}

impl Visitors {
    pub(super) fn new(fence: u64) -> Self {
        Self {
            fence: watch::Sender::new(fence),
            inside: watch::Sender::new(Vec::new()),
        }
    }

    pub(super) fn enter(&self, fence: u64) -> Visit {
        self.inside.send_modify(|inside| inside.push(fence));
        Visit {
            fence,
            present: self.fence.subscribe(),
            inside: self.inside.clone(),
        }
    }

    pub(super) fn announce(&self, fence: u64) {
        self.fence.send_if_modified(|present| {
            let newer = fence > *present;
            *present = (*present).max(fence);
            newer
        });
    }

    /// Resolves when nobody let in before the present fence is inside.
    pub(super) fn alone(&self) -> impl Future<Output = ()> + use<> {
        let fence = *self.fence.borrow();
        let mut inside = self.inside.subscribe();
        async move {
            // The sender lives as long as any visit; without one there is nobody to wait for.
            let _ = inside
                .wait_for(|all| all.iter().all(|of| *of >= fence))
                .await;
        }
    }
}

impl Visit {
    /// Equal for visits that were let in under the same lease, or all without one.
    #[must_use]
    pub fn fence(&self) -> u64 {
        self.fence
    }

    /// Resolves when the lease that let the visitor in is over, or another one has begun.
    pub async fn over(&mut self) {
        let fence = self.fence;
        // A device that is forgotten has no fence any more; its visits end with it.
        let _ = self.present.wait_for(|present| *present != fence).await;
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        let fence = self.fence;
        self.inside.send_modify(|inside| {
            if let Some(at) = inside.iter().position(|of| *of == fence) {
                inside.swap_remove(at);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_visit_ends_with_its_fence_and_is_waited_for() {
        let visitors = Visitors::new(3);
        let mut early = visitors.enter(3);
        let nobody = std::time::Duration::ZERO;
        assert!(tokio::time::timeout(nobody, early.over()).await.is_err());
        visitors.announce(4);
        early.over().await;
        let mut late = visitors.enter(4);
        assert!(tokio::time::timeout(nobody, late.over()).await.is_err());
        assert!(
            tokio::time::timeout(nobody, visitors.alone())
                .await
                .is_err()
        );
        drop(early);
        visitors.alone().await;
    }
}
