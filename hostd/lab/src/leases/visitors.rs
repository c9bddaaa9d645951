//! Activities on a device (commands, captures, tunnels, streams): told when they must end, and
//! counted until they have.

use tokio::sync::watch;

/// The visitors of one device.
#[derive(Debug)]
pub(super) struct Visitors {
    fence: watch::Sender<u64>,
    /// The fences under which those inside were let in.
    inside: watch::Sender<Vec<u64>>,
}

/// One visitor. Dropping it means leaving.
#[derive(Debug)]
pub struct Visit {
    fence: u64,
    present: watch::Receiver<u64>,
    inside: watch::Sender<Vec<u64>>,
}

impl Default for Visitors {
    fn default() -> Self {
        Self {
            fence: watch::Sender::new(0),
            inside: watch::Sender::new(Vec::new()),
        }
    }
}

impl Visitors {
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

    /// Resolves when the fence is no longer this one.
    pub(super) fn moved(&self, fence: u64) -> impl Future<Output = ()> + use<> {
        let mut present = self.fence.subscribe();
        async move {
            // Without a sender there is no device any more.
            let _ = present.wait_for(|present| *present != fence).await;
        }
    }

    /// Resolves when everybody let in before the current fence has left.
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
    /// Equal for visits let in under the same lease, or all without one.
    #[must_use]
    pub(crate) fn fence(&self) -> u64 {
        self.fence
    }

    /// Resolves when the lease that let the visitor in is over, or another one has begun.
    pub async fn over(&mut self) {
        let fence = self.fence;
        // Without a sender there is no device any more; its visits end with it.
        let _ = self.present.wait_for(|present| *present != fence).await;
    }
}

#[cfg(test)]
impl Visit {
    /// A visit that nothing ends.
    pub(crate) fn unending() -> Self {
        let visitors = Visitors::default();
        let visit = visitors.enter(0);
        std::mem::forget(visitors);
        visit
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
        let visitors = Visitors::default();
        visitors.announce(3);
        let moved = visitors.moved(3);
        let mut early = visitors.enter(3);
        let nobody = std::time::Duration::ZERO;
        assert!(tokio::time::timeout(nobody, early.over()).await.is_err());
        visitors.announce(4);
        early.over().await;
        moved.await;
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
