//! Pods that dial in: registered by their public key, and then devices like others.

use std::sync::Arc;

use tracing::{info, warn};

use super::error::{check_name, write_error};
use super::{DeviceError, Devices};
use pods::protocol::dial::SCHEME;
use store::StoreError;
use store::devices::DeviceRecord;

/// Pods that an organisation may have registered.
const REGISTERED_MAX: usize = 256;

/// A pod that was registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Registered {
    /// A device with this id was made.
    New(String),
    /// It is the device with this id already.
    Known(String),
    /// It was the device with this id, which was removed.
    Removed(String),
}

/// A device for which somebody dials in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dialling {
    /// There is none for which anybody could.
    Unknown,
    /// It was removed.
    Removed,
    /// There is one.
    Expected {
        /// The key of its pod.
        public_key: String,
        /// The pod proves itself to this server by name.
        proves_name: bool,
    },
}

impl Devices {
    /// Makes the pod with this key a device of `org`, unless it is one. `by` is the user who asks.
    ///
    /// # Errors
    /// The key is none or another organisation's, the name is bad or taken, there are too many, or the store fails.
    pub async fn register(
        self: &Arc<Self>,
        org: &str,
        name: &str,
        public_key: &str,
        by: &str,
    ) -> Result<Registered, DeviceError> {
        check_name(name)?;
        let address = format!("{SCHEME}:{public_key}");
        let transport = (self.connect)(&address).map_err(|_| DeviceError::BadKey)?;
        let (org, name, by) = (org.to_owned(), name.to_owned(), by.to_owned());
        self.finish(|devices| async move {
            let order = devices.changes.lock().await;
            let all = devices.store.devices_all().await?;
            if let Some(registered) = known(&all, &org, &address)? {
                return Ok(registered);
            }
            let mut record = devices.fresh(&org, &name, &address, transport.kind());
            record.registered_by = by;
            let id = devices.admit(record).await?.id;
            drop(order);
            devices
                .attach_transport(&org, &name, &address, transport)
                .await?;
            devices.tell_added(&id);
            Ok(Registered::New(id))
        })
        .await
    }

    /// Attaches all registered pods that the configuration does not name.
    ///
    /// # Errors
    /// The store fails.
    pub async fn attach_registered(self: &Arc<Self>) -> Result<(), StoreError> {
        for record in self.all() {
            if key_of(&record.address).is_none() || self.pod_of(&record.id).is_some() {
                continue;
            }
            let Ok(transport) = (self.connect)(&record.address) else {
                warn!(device = record.name, "left out: its key is none");
                continue;
            };
            let DeviceRecord {
                org, name, address, ..
            } = &record;
            match self.attach_transport(org, name, address, transport).await {
                Ok(()) => {}
                Err(DeviceError::Store(error)) => return Err(error),
                Err(error) => warn!(device = name, %error, "failed to attach a registered pod"),
            }
        }
        Ok(())
    }

    /// The device for which somebody dials in.
    ///
    /// # Errors
    /// The store fails.
    pub async fn dialling(&self, id: &str) -> Result<Dialling, StoreError> {
        let live = self.read().get(id).map(|entry| entry.record.clone());
        let record = match live {
            Some(record) => Some(record),
            None => self.store.device(id).await?,
        };
        let found = record.and_then(|r| Some((key_of(&r.address)?.to_owned(), r)));
        Ok(match found {
            None => Dialling::Unknown,
            Some((_, record)) if record.removed => Dialling::Removed,
            Some((public_key, record)) => Dialling::Expected {
                public_key,
                proves_name: record.proves_name,
            },
        })
    }

    /// A pod has proven itself to this server by name, and must from now on.
    ///
    /// # Errors
    /// It was removed meanwhile, or the store fails.
    pub async fn note_proof_by_name(self: &Arc<Self>, id: &str) -> Result<(), DeviceError> {
        let id = id.to_owned();
        self.finish(|devices| async move {
            let _order = devices.changes.lock().await;
            let update = |record: &mut DeviceRecord| record.proves_name = true;
            let noted = devices.store.device_update(&id, update).await;
            let record = noted.map_err(|error| write_error(error, &id))?;
            devices.replace(record.ok_or(DeviceError::NotFound)?);
            info!(
                device = id,
                "from now on its pod must prove itself to this server by name"
            );
            Ok(())
        })
        .await
    }
}

/// What the key of an address already is to an organisation.
fn known(
    all: &[DeviceRecord],
    org: &str,
    address: &str,
) -> Result<Option<Registered>, DeviceError> {
    let has_key = |record: &&DeviceRecord| {
        record.address == address || key_of(address) == Some(&record.public_key)
    };
    let mut live = all.iter().filter(|record| !record.removed);
    if live.clone().filter(has_key).any(|record| record.org != org) {
        return Err(DeviceError::Foreign);
    }
    if let Some(record) = live.find(has_key) {
        if record.address != address {
            return Err(DeviceError::PodTaken(record.name.clone()));
        }
        return Ok(Some(Registered::Known(record.id.clone())));
    }
    let mut own = all.iter().filter(|record| record.org == org);
    if let Some(record) = own.clone().rev().find(|record| record.address == address) {
        return Ok(Some(Registered::Removed(record.id.clone())));
    }
    let registered = own
        .by_ref()
        .filter(|record| key_of(&record.address).is_some());
    match registered.count() {
        count if count >= REGISTERED_MAX => Err(DeviceError::TooMany(count)),
        _ => Ok(None),
    }
}

/// The key of a pod that dials in, from its address.
pub(super) fn key_of(address: &str) -> Option<&str> {
    address.strip_prefix(SCHEME)?.strip_prefix(':')
}

#[cfg(test)]
mod tests {
    //! Who a key belongs to, and what becomes of it when its device is removed.

    use base::clock::Clock;
    use pods::{Driver as _, PodOptions};
    use store::Store;

    use super::*;

    const KEY: &str = "ebVWLo_mVPlAeLES6KmLp5AfhTrmlb7X4OORC60ElmQ";
    const OTHER: &str = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";

    fn devices(store: &Store) -> Arc<Devices> {
        let driver = pods::dial::Driver(pods::dial::Dialled::new());
        let connect =
            move |address: &str| driver.transport(address.strip_prefix("dial:").unwrap_or("no"));
        let (clock, options) = (Clock::system(), PodOptions::default());
        Arc::new(Devices::new(store.clone(), clock, connect, options))
    }

    async fn register(
        devices: &Arc<Devices>,
        org: &str,
        name: &str,
        key: &str,
    ) -> Result<Registered, DeviceError> {
        devices.register(org, name, key, "user").await
    }

    #[tokio::test]
    async fn a_key_is_one_device_of_one_organisation() {
        let store = Store::in_memory().unwrap();
        let bench = devices(&store);
        let Ok(Registered::New(id)) = register(&bench, "a", "pod", KEY).await else {
            panic!("it is new");
        };
        // The name that it has stays.
        let again = register(&bench, "a", "other", KEY).await.unwrap();
        assert_eq!(again, Registered::Known(id.clone()));
        assert_eq!(bench.list("a")[0].record.name, "pod");
        assert_eq!(bench.list("a")[0].record.registered_by, "user");
        let foreign = register(&bench, "b", "pod", KEY).await;
        assert!(matches!(foreign, Err(DeviceError::Foreign)), "{foreign:?}");
        let taken = register(&bench, "a", "pod", OTHER).await;
        assert!(matches!(taken, Err(DeviceError::NameTaken(_))), "{taken:?}");
        for (name, key) in [("a b", OTHER), ("c", "x"), ("c", ""), ("c", &OTHER[1..])] {
            assert!(
                register(&bench, "a", name, key).await.is_err(),
                "{name} {key}"
            );
        }
        let expected = |proves_name| Dialling::Expected {
            public_key: KEY.to_owned(),
            proves_name,
        };
        assert_eq!(bench.dialling(&id).await.unwrap(), expected(false));
        bench.note_proof_by_name(&id).await.unwrap();
        // After a restart all of it is still so.
        let again = devices(&store);
        again.load().await.unwrap();
        again.attach_registered().await.unwrap();
        assert!(again.pod("a", &id).is_some());
        assert_eq!(again.dialling(&id).await.unwrap(), expected(true));
        assert_eq!(again.dialling("01X").await.unwrap(), Dialling::Unknown);
    }

    #[tokio::test]
    async fn a_removed_device_is_admitted_again_or_its_pod_goes_elsewhere() {
        let store = Store::in_memory().unwrap();
        let bench = devices(&store);
        let Ok(Registered::New(id)) = register(&bench, "a", "pod", KEY).await else {
            panic!("it is new");
        };
        bench.remove(&id).await.unwrap();
        assert_eq!(bench.dialling(&id).await.unwrap(), Dialling::Removed);
        let again = register(&bench, "a", "pod", KEY).await.unwrap();
        assert_eq!(again, Registered::Removed(id.clone()));
        bench.admit_again("a", &id).await.unwrap();
        assert!(bench.pod("a", &id).is_some());
        bench.remove(&id).await.unwrap();
        // Its new owner.
        assert!(matches!(
            register(&bench, "b", "pod", KEY).await,
            Ok(Registered::New(_))
        ));
    }

    #[tokio::test]
    async fn an_organisation_registers_only_so_many() {
        let store = Store::in_memory().unwrap();
        let bench = devices(&store);
        for number in 0..REGISTERED_MAX {
            let name = format!("pod-{number}");
            let mut record = bench.fresh("a", &name, &format!("dial:{number}"), "dial");
            record.registered_by = "user".to_owned();
            bench.admit(record).await.unwrap();
        }
        let one_more = register(&bench, "a", "pod", KEY).await;
        assert!(
            matches!(one_more, Err(DeviceError::TooMany(_))),
            "{one_more:?}"
        );
        assert!(register(&bench, "b", "pod", KEY).await.is_ok());
    }
}
