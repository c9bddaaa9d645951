//! The work when a device changes hands, in a task of its own that ends with its fence: make those
//! inside leave, pay the debt however long the pod is away, store that it is paid.

use std::sync::Arc;
use std::time::Duration;

use base::clock;
use pods::{Pod, PodState};
use tracing::{info, warn};

use super::Leases;
use super::debt::OBSTACLE_AFTER_MS;
use super::machine::Duty;
use super::payment::{Payment, Step};
use crate::devices::Changed;

/// How long tunnels and other sessions may take to end once their lease is over.
const CLOSE_WAIT: Duration = Duration::from_secs(3);

/// Between two lines in the log about a device that does not become safe.
const LATE_EVERY: Duration = Duration::from_secs(600);

/// Pause before another attempt to store a debt, or that it is paid.
const STORE_RETRY: Duration = Duration::from_secs(1);

impl Leases {
    /// Do all work due under `fence`, in the background.
    pub(super) fn settle_later(self: &Arc<Self>, device: &str, fence: u64) {
        let (leases, device) = (self.clone(), device.to_owned());
        tokio::spawn(async move { leases.settle(&device, fence).await });
    }

    /// Do all work due under `fence`.
    pub(super) async fn settle(&self, device: &str, fence: u64) {
        let mut forced = false;
        let duty = || self.slots.with(device, |slot| slot.machine.duty(fence));
        while let Some(duty) = duty() {
            match duty {
                Duty::Clear => {
                    self.obstruct(device, fence, "sessions of the lease before it do not end");
                    forced |= self.clear(device).await;
                    self.slots.with(device, |slot| slot.machine.left(fence));
                }
                Duty::Store => self.store_again(device, fence).await,
                Duty::Pay => {
                    let moved = self.slots.with(device, |slot| slot.visitors.moved(fence));
                    tokio::select! {
                        biased;
                        () = moved => return,
                        () = self.pay(device, fence, forced) => {}
                        () = self.tell_late(device) => {}
                    }
                    self.slots.with(device, |slot| slot.machine.paid(fence));
                }
                Duty::Settle => self.store_settled(device, fence, false).await,
                Duty::Remove => self.store_settled(device, fence, true).await,
            }
        }
    }

    /// Wait until everybody let in before the current fence has left. Sessions with the pod that do
    /// not end by themselves are revoked; true if that was needed.
    async fn clear(&self, device: &str) -> bool {
        let alone = || self.slots.with(device, |slot| slot.visitors.alone());
        if tokio::time::timeout(CLOSE_WAIT, alone()).await.is_ok() {
            return false;
        }
        warn!(
            device,
            "sessions of an earlier lease do not end; taking them away"
        );
        if let Some(pod) = self.devices.pod_of(device) {
            pod.revoke_sessions("the lease is over");
        }
        alone().await;
        true
    }

    /// Put the device into its safe state. `forced`: not everything ended cleanly before.
    async fn pay(&self, device: &str, fence: u64, forced: bool) {
        let link = self.slots.with(device, |slot| slot.link);
        let link = link.filter(|_| !forced);
        let mut payment = Payment::new(self.safe.len(), link);
        let mut pod = None;
        loop {
            match payment.step() {
                Step::Await => {
                    let found = self.online(device, fence).await;
                    payment.online(found.links());
                    pod = Some(found);
                }
                Step::Send(index) => {
                    let Some(pod) = &pod else { return };
                    let (answer, error) = self.safe.send(pod, index).await;
                    if let Some(error) = error {
                        warn!(device, %error, "the safe state is not reached yet");
                        self.obstruct(device, fence, &error.to_string());
                    }
                    payment.answered(pod.links(), answer);
                }
                Step::Rest(rest_ms) => {
                    tokio::time::sleep(Duration::from_millis(rest_ms)).await;
                    payment.rested();
                }
                Step::Done => return,
            }
        }
    }

    /// Notes what keeps a device from its safe state.
    fn obstruct(&self, device: &str, fence: u64, obstacle: &str) {
        self.slots.with(device, |slot| {
            slot.machine.obstruct(fence, obstacle.to_owned())
        });
    }

    /// Says in the log, for ever, what keeps a device from its safe state, once that has taken too long.
    async fn tell_late(&self, device: &str) {
        let mut pause = Duration::from_millis(OBSTACLE_AFTER_MS);
        loop {
            tokio::time::sleep(pause).await;
            pause = LATE_EVERY;
            let debt = self.slots.with(device, |slot| slot.machine.debt().cloned());
            let Some(debt) = debt else { continue };
            let obstacle = debt.obstacle.unwrap_or_default();
            let since = clock::text(debt.since_ms);
            warn!(
                device,
                since,
                obstacle,
                "the device does not become safe, and is kept from all; mend what stands in the way, or have an administrator \
                 take it with \"override\": true"
            );
        }
    }

    /// The pod of a device, as soon as one answers.
    async fn online(&self, device: &str, fence: u64) -> Pod {
        let mut attached = self.devices.attached();
        loop {
            attached.borrow_and_update();
            if let Some(pod) = self.devices.pod_of(device) {
                let online = self.answers(&pod, device, fence);
                tokio::select! {
                    online = online => if online {
                        return pod;
                    },
                    _ = attached.changed() => continue,
                }
            } else {
                self.obstruct(device, fence, "no pod is attached as this device");
            }
            if attached.changed().await.is_err() {
                // The bench lives as long as this.
                std::future::pending::<()>().await;
            }
        }
    }

    /// Waits until a pod answers; false if it is let go before. Notes why it does not.
    async fn answers(&self, pod: &Pod, device: &str, fence: u64) -> bool {
        let mut states = pod.watch();
        loop {
            let state = states.borrow_and_update().clone();
            match state {
                PodState::Online(_) => return true,
                PodState::Connecting => {
                    self.obstruct(device, fence, "its pod has not answered yet");
                }
                PodState::Reconnecting { reason, .. } | PodState::Offline { reason } => {
                    self.obstruct(device, fence, &format!("its pod does not answer: {reason}"));
                }
            }
            if states.changed().await.is_err() {
                return false;
            }
        }
    }

    async fn store_again(&self, device: &str, fence: u64) {
        let order = self.order(device);
        let _order = order.lock().await;
        if !self
            .slots
            .with(device, |slot| slot.machine.store_again(fence))
        {
            return;
        }
        if let Err(error) = self.write(device).await {
            warn!(device, %error, "failed to store that a device owes its safe state");
            self.obstruct(device, fence, &format!("that cannot be stored: {error}"));
            tokio::time::sleep(STORE_RETRY).await;
        }
    }

    async fn store_settled(&self, device: &str, fence: u64, removes: bool) {
        let order = self.order(device);
        let order = order.lock().await;
        if !self.slots.with(device, |slot| slot.machine.settle(fence)) {
            return;
        }
        let stored = if removes {
            let removed = self.devices.remove(device).await;
            removed.map_err(|error| error.to_string())
        } else {
            let deleted = self.store.lease_delete(device).await;
            deleted.map_err(|error| error.to_string())
        };
        let now = self.now();
        let ok = stored.is_ok();
        self.slots.with(device, |slot| slot.machine.stored(ok, now));
        drop(order);
        self.turned.send_replace(());
        match stored {
            Ok(()) => {
                info!(device, removed = removes, "the device is free and safe");
                if !removes {
                    self.devices.tell_changed(device, Changed::Safe);
                }
            }
            Err(error) => {
                warn!(device, error, "failed to store that a device is safe");
                tokio::time::sleep(STORE_RETRY).await;
            }
        }
    }
}
