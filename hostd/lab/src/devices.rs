//! The registry of devices: which pod is behind each, and whether it answers.
//!
//! Records live in the store and, for reading, in memory; a change is durable before it is seen.
//! One watcher task per attached pod records what the pod reports about itself.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use pods::{AddressError, Pod, PodFacts, PodOptions, PodState, Transport};
use tokio::sync::watch;
use tracing::{info, warn};

use base::clock::Clock;
use base::config::DeviceConfig;
use base::id;
use base::news::{Happening, Kind, News};
use serde_json::{Value, json};
use store::devices::DeviceRecord;
use store::{Store, StoreError};

mod absence;
mod admission;
mod changed;
mod configured;
mod device;
mod error;
mod registered;
mod usb;

pub use admission::removed;
pub use changed::Changed;
pub use device::Device;
pub use error::{AttachError, DeviceError, NAME_BYTES_MAX, check_name};
pub use registered::{Dialling, Registered};

use absence::{Absence, Away};
use device::Entry;
use error::write_error;

/// How often an answering pod's last activity is written.
const ACTIVITY_WRITE_INTERVAL: Duration = Duration::from_secs(60);

/// Prepares the transport behind an address.
type Connect = Arc<dyn Fn(&str) -> Result<Arc<dyn Transport>, AddressError> + Send + Sync>;

/// All devices of all organisations.
pub struct Devices {
    store: Store,
    clock: Clock,
    /// Options for every pod.
    options: PodOptions,
    /// Makes the transport to every pod.
    connect: Connect,
    devices: RwLock<BTreeMap<String, Entry>>,
    /// Held from a write to the store until memory follows, so that both change in the same order.
    changes: tokio::sync::Mutex<()>,
    /// The configured devices and their organisations: a removed device that is admitted again is
    /// attached without a restart.
    configured: Mutex<Vec<(String, DeviceConfig)>>,
    /// Changes when a pod is attached or let go.
    attached: watch::Sender<()>,
    /// Changes with everything that is known about any device.
    changed: watch::Sender<()>,
    stopped: watch::Sender<bool>,
    news: News,
}

impl std::fmt::Debug for Devices {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Devices")
            .field("devices", &self.devices)
            .finish_non_exhaustive()
    }
}

impl Devices {
    /// An empty registry. Pods are reached by `connect` and driven with `options`.
    #[must_use]
    pub fn new(
        store: Store,
        clock: Clock,
        connect: impl Fn(&str) -> Result<Arc<dyn Transport>, AddressError> + Send + Sync + 'static,
        options: PodOptions,
    ) -> Self {
        Self {
            store,
            clock,
            options,
            connect: Arc::new(connect),
            devices: RwLock::default(),
            changes: tokio::sync::Mutex::default(),
            configured: Mutex::default(),
            attached: watch::Sender::new(()),
            changed: watch::Sender::new(()),
            stopped: watch::Sender::new(false),
            news: News::default(),
        }
    }

    /// Read all records; their pods are attached afterwards.
    ///
    /// # Errors
    /// The store.
    pub async fn load(&self) -> Result<(), StoreError> {
        let records = self.store.devices_all().await?;
        let mut devices = self.write();
        for record in records.into_iter().filter(|r| !r.removed) {
            let entry = Entry { record, pod: None };
            devices.insert(entry.record.id.clone(), entry);
        }
        Ok(())
    }

    /// Attach the pod behind `transport`, known by `address`. It gets its previous record, or a new
    /// one named `name`. A removed one is not attached until it is admitted again or its entry has
    /// another name.
    ///
    /// # Errors
    /// A bad or taken name, or the store fails.
    pub async fn attach_transport(
        self: &Arc<Self>,
        org: &str,
        name: &str,
        address: &str,
        transport: Arc<dyn Transport>,
    ) -> Result<(), DeviceError> {
        check_name(name)?;
        let mut known = self.store.devices_all().await?;
        known.retain(|r| r.org == org && r.address == address);
        if known.iter().any(|r| r.removed && r.first_name == name) {
            info!(
                device = name,
                address, "left out: it was removed; admit it again, or give its entry another name"
            );
            return Ok(());
        }
        let found = known.into_iter().find(|r| !r.removed);
        let is_new = found.is_none();
        let record = match found {
            Some(record) => record,
            None => {
                let record = self.fresh(org, name, address, transport.kind());
                self.admit(record).await?
            }
        };
        let mut options = self.options.clone();
        let key = &record.public_key;
        options.expected_public_key = (!key.is_empty()).then(|| key.clone());
        let pod = Pod::spawn(transport, options);
        let states = pod.watch();
        let id = record.id.clone();
        let pod = Some(pod);
        self.write().insert(id.clone(), Entry { record, pod });
        self.attached.send_replace(());
        self.changed.send_replace(());
        if is_new {
            self.tell_added(&id);
        }
        tokio::spawn(self.clone().watch(id, states));
        Ok(())
    }

    /// The record of a device that nothing is known of yet.
    fn fresh(&self, org: &str, name: &str, address: &str, transport: &str) -> DeviceRecord {
        DeviceRecord {
            id: id::ulid(&self.clock),
            org: org.to_owned(),
            name: name.to_owned(),
            first_name: name.to_owned(),
            address: address.to_owned(),
            transport: transport.to_owned(),
            serial: String::new(),
            board: String::new(),
            firmware_version: String::new(),
            // Nobody but the pod with this key reaches the address.
            public_key: registered::key_of(address).unwrap_or_default().to_owned(),
            certificate_pin: String::new(),
            registered_by: String::new(),
            proves_name: false,
            created_ms: self.clock.now_ms(),
            last_active_ms: None,
            removed: false,
        }
    }

    async fn admit(&self, record: DeviceRecord) -> Result<DeviceRecord, DeviceError> {
        let put = self.store.device_put(record.clone()).await;
        put.map_err(|e| write_error(e, &record.name))?;
        let DeviceRecord { name, id, .. } = &record;
        info!(device = name, id, "device admitted");
        Ok(record)
    }

    /// Record what the pod reports about itself, until it is let go.
    async fn watch(self: Arc<Self>, id: String, mut states: watch::Receiver<PodState>) {
        let mut stopped = self.stopped.subscribe();
        let mut was_there = false;
        let mut answers = false;
        let mut known = None;
        let mut absence = Absence::default();
        loop {
            let state = states.borrow_and_update().clone();
            self.changed.send_replace(());
            match &state {
                PodState::Online(facts) => {
                    absence.end();
                    if !std::mem::replace(&mut was_there, true) {
                        info!(id, serial = facts.identity.serial, "device online");
                    }
                    self.note(&id, facts).await;
                    let capable = Some((online(facts), facts.capabilities.clone()));
                    let is_other = std::mem::replace(&mut known, capable.clone()) != capable;
                    if !std::mem::replace(&mut answers, true) {
                        self.tell(Kind::DeviceOnline, &id, &id, online(facts));
                    } else if is_other {
                        self.tell_changed(&id, Changed::Pod);
                    }
                }
                PodState::Offline { reason } => {
                    was_there = false;
                    if absence.is_due(Away::Offline) {
                        info!(id, reason, "device offline");
                    }
                    self.tell_lost(&id, reason, &mut answers);
                }
                PodState::Reconnecting { reason, .. } => {
                    if absence.is_due(Away::Lost) {
                        info!(id, reason, "device lost, waiting for it to come back");
                    }
                    self.tell_lost(&id, reason, &mut answers);
                }
                PodState::Connecting => {}
            }
            loop {
                tokio::select! {
                    changed = states.changed() => match changed {
                        Ok(()) => break,
                        Err(_) => return,
                    },
                    () = tokio::time::sleep(ACTIVITY_WRITE_INTERVAL) => {
                        if states.borrow().is_online() {
                            self.change(&id, |_| {}).await;
                        }
                    }
                    () = until_set(&mut stopped) => return,
                }
            }
        }
    }

    fn tell_lost(&self, id: &str, reason: &str, answers: &mut bool) {
        if std::mem::take(answers) {
            self.tell(Kind::DeviceOffline, id, id, json!({"reason": reason}));
        }
    }

    /// Tell who listens what happened at a device. `told` is an object, which gets the device's id and name.
    pub fn tell(&self, kind: Kind, device: &str, subject: &str, told: Value) {
        let org = self
            .read()
            .get(device)
            .map(|entry| entry.record.org.clone());
        if let Some(org) = org {
            self.tell_of(kind, (&org, device), subject, told);
        }
    }

    /// The same in an organisation, also where the device is removed, or there never was one: then it is null.
    pub(crate) fn tell_of(
        &self,
        kind: Kind,
        (org, device): (&str, &str),
        subject: &str,
        mut told: Value,
    ) {
        let name = self.get(org, device).map(|found| found.record.name);
        told["device"] = name.map_or(Value::Null, |name| json!({"id": device, "name": name}));
        let devices = Some(device).filter(|device| !device.is_empty());
        self.news.tell(&Happening {
            kind,
            at_ms: self.clock.now_ms(),
            org: org.to_owned(),
            devices: devices.into_iter().map(str::to_owned).collect(),
            subject: subject.to_owned(),
            told,
        });
    }

    /// Tell who listens that what is known of a device has changed.
    pub fn tell_changed(&self, device: &str, changed: Changed) {
        let told = json!({"changed": changed.as_str()});
        self.tell(Kind::DeviceChanged, device, device, told);
    }

    fn tell_added(&self, device: &str) {
        self.tell(Kind::DeviceAdded, device, device, json!({}));
    }

    /// Where everything that happens is told.
    #[must_use]
    pub fn news(&self) -> &News {
        &self.news
    }

    async fn note(&self, id: &str, facts: &PodFacts) {
        let pod = self.read().get(id).and_then(|e| e.pod.clone());
        let Some(pod) = pod else { return };
        let pin = pod.certificate_pin().unwrap_or_default();
        let public_key = facts.identity.public_key.clone();
        let serial = facts.identity.serial.clone();
        let board = format!("{} {}", facts.board, facts.board_rev);
        let firmware_version = facts.firmware_version.clone();
        self.change(id, move |record| {
            record.serial.clone_from(&serial);
            record.public_key.clone_from(&public_key);
            record.certificate_pin.clone_from(&pin);
            record.board.clone_from(&board);
            record.firmware_version.clone_from(&firmware_version);
        })
        .await;
    }

    /// Change a record after news from its pod.
    async fn change(&self, id: &str, f: impl Fn(&mut DeviceRecord) + Send + 'static) {
        let now_ms = self.clock.now_ms();
        let _order = self.changes.lock().await;
        let changed = self.store.device_update(id, move |record| {
            record.last_active_ms = Some(now_ms);
            f(record);
        });
        match changed.await {
            Ok(Some(record)) => self.replace(record),
            Ok(None) => {}
            Err(error) => warn!(id, %error, "failed to note a device"),
        }
    }

    fn replace(&self, record: DeviceRecord) {
        if let Some(entry) = self.write().get_mut(&record.id) {
            entry.record = record;
        }
        self.changed.send_replace(());
    }

    /// Devices of one organisation, by name.
    #[must_use]
    pub fn list(&self, org: &str) -> Vec<Device> {
        let mut list: Vec<Device> = self
            .read()
            .values()
            .filter(|e| e.record.org == org)
            .map(Entry::view)
            .collect();
        list.sort_by(|a, b| a.record.name.cmp(&b.record.name));
        list
    }

    /// All records of all organisations, by id.
    #[must_use]
    pub fn all(&self) -> Vec<DeviceRecord> {
        self.read().values().map(|e| e.record.clone()).collect()
    }

    /// One device of an organisation; None if it does not exist there.
    #[must_use]
    pub fn get(&self, org: &str, id: &str) -> Option<Device> {
        let devices = self.read();
        devices
            .get(id)
            .filter(|e| e.record.org == org)
            .map(Entry::view)
    }

    /// The id of the device of an organisation that has this name now.
    #[must_use]
    pub fn id_named(&self, org: &str, name: &str) -> Option<String> {
        let devices = self.read();
        let mut records = devices.values().map(|entry| &entry.record);
        let named = records.find(|record| record.org == org && record.name == name)?;
        Some(named.id.clone())
    }

    /// The pod behind a device; None when there is no such device or no pod is attached.
    pub(crate) fn pod(&self, org: &str, id: &str) -> Option<Pod> {
        let devices = self.read();
        let entry = devices.get(id).filter(|e| e.record.org == org)?;
        entry.pod.clone()
    }

    /// The pod behind a device of any organisation.
    pub(crate) fn pod_of(&self, id: &str) -> Option<Pod> {
        self.read().get(id)?.pod.clone()
    }

    /// Give a device another name.
    ///
    /// # Errors
    /// It does not exist, the name is bad or taken, or the store fails.
    pub async fn rename(
        self: &Arc<Self>,
        org: &str,
        id: &str,
        name: &str,
    ) -> Result<(), DeviceError> {
        check_name(name)?;
        self.get(org, id).ok_or(DeviceError::NotFound)?;
        let (id, name) = (id.to_owned(), name.to_owned());
        self.finish(|devices| async move {
            let new = name.clone();
            let _order = devices.changes.lock().await;
            let update = move |r: &mut DeviceRecord| r.name.clone_from(&new);
            let renamed = devices.store.device_update(&id, update).await;
            let record = renamed.map_err(|e| write_error(e, &name))?;
            devices.replace(record.ok_or(DeviceError::NotFound)?);
            devices.tell_changed(&id, Changed::Name);
            Ok(())
        })
        .await
    }

    /// Changes with everything that is known about any device, whatever it is.
    #[must_use]
    pub fn changed(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Changes when a pod is attached or let go.
    #[must_use]
    pub fn attached(&self) -> watch::Receiver<()> {
        self.attached.subscribe()
    }

    /// Complete a change even if the caller goes away, so that store and memory agree.
    async fn finish<T, F>(
        self: &Arc<Self>,
        change: impl FnOnce(Arc<Self>) -> F,
    ) -> Result<T, DeviceError>
    where
        F: Future<Output = Result<T, DeviceError>> + Send + 'static,
        T: Send + 'static,
    {
        let task = tokio::spawn(change(self.clone()));
        task.await.map_err(|_| StoreError::Panicked)?
    }

    /// Wait, at most `wait`, until every attached pod has answered or failed to.
    pub async fn settle(&self, wait: Duration) {
        let pods: Vec<Pod> = self.read().values().filter_map(|e| e.pod.clone()).collect();
        let all = async {
            for pod in pods {
                let mut states = pod.watch();
                drop(states.wait_for(PodState::is_settled).await);
            }
        };
        if tokio::time::timeout(wait, all).await.is_err() {
            warn!("not every device has answered yet");
        }
    }

    /// Let all pods go.
    pub fn stop(&self) {
        self.stopped.send_replace(true);
        for entry in self.write().values_mut() {
            entry.pod = None;
        }
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, BTreeMap<String, Entry>> {
        // Every write leaves the map whole, so a panic elsewhere does not spoil it.
        self.devices.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, BTreeMap<String, Entry>> {
        self.devices.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is told of a device that answers.
fn online(facts: &PodFacts) -> Value {
    json!({
        "serial": facts.identity.serial,
        "board": format!("{} {}", facts.board, facts.board_rev),
        "firmware_version": facts.firmware_version,
    })
}

/// Resolves when the flag is set, or when nobody can set it any more.
async fn until_set(flag: &mut watch::Receiver<bool>) {
    // The guard that comes with the value must not be held across an await.
    drop(flag.wait_for(|set| *set).await);
}
