//! What happens at the bench, passed on to all listeners at once and in memory: a listener holds up nothing, and what has
//! no listener is forgotten.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use serde_json::Value;

pub mod recent;

/// Listeners that there may be: parts of the server, not clients.
pub const LISTENERS_MAX: usize = 4;

macro_rules! kinds {
    ($($variant:ident $name:literal $about:literal)*) => {
        /// What can happen.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind {
            $(#[doc = $about] $variant,)*
        }

        impl Kind {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Its name: `device.online`.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

kinds! {
    DeviceAdded "device.added" "There is a new device, or a removed one is admitted again."
    DeviceChanged "device.changed" "A device has another name, serial number, board, firmware or state."
    DeviceRemoved "device.removed" "A device is removed."
    DeviceOnline "device.online" "A device answers, which did not before."
    DeviceOffline "device.offline" "A device does not answer any more."
    DeviceQuarantined "device.quarantined" "No job gets a device until somebody trusts it again."
    LeaseTaken "lease.taken" "Somebody has leased a device."
    LeaseEnded "lease.ended" "A lease of a device is over."
    CaptureStarted "capture.started" "A capture is queued at its device."
    CaptureChanged "capture.changed" "A capture goes on, or what people keep with it has changed."
    CaptureImported "capture.imported" "A recording has become a capture."
    CaptureDeleted "capture.deleted" "A capture is deleted, with its samples."
    CaptureDone "capture.done" "A capture has its samples."
    CaptureFailed "capture.failed" "A capture ended without them."
    FlashStarted "flash.started" "A target is being programmed."
    FlashDone "flash.done" "A target was programmed."
    FlashFailed "flash.failed" "A target was not."
    UpdateStarted "update.started" "A pod is getting other firmware."
    UpdateDone "update.done" "A pod runs other firmware."
    UpdateFailed "update.failed" "An update of a pod's firmware failed, or was abandoned."
    JobQueued "job.queued" "A job waits for its turn."
    JobStarted "job.started" "A job runs."
    JobFinished "job.finished" "A job is over."
}

impl Kind {
    /// The one of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.as_str() == name)
    }

    /// Whether it is about a job, which may be of no device.
    #[must_use]
    pub fn is_job(self) -> bool {
        matches!(self, Self::JobQueued | Self::JobStarted | Self::JobFinished)
    }
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Happening {
    /// What.
    pub kind: Kind,
    /// Milliseconds since 1970.
    pub at_ms: u64,
    /// Id of the organisation in which it happened.
    pub org: String,
    /// Ids of the devices that it is about: one, or those that a job had.
    pub devices: Vec<String>,
    /// Id of the device, capture, flash, update or job that it is about.
    pub subject: String,
    /// An object; docs/plugins.md has the members for each kind.
    pub told: Value,
}

type Listener = Box<dyn Fn(&Happening) + Send + Sync>;

/// Where happenings are passed on. Cloning shares it.
#[derive(Clone, Default)]
pub struct News(Arc<RwLock<Vec<Listener>>>);

impl News {
    /// Pass a happening on to all listeners.
    pub fn tell(&self, happening: &Happening) {
        // A listener that panics leaves the list as it was.
        let listeners = self.0.read().unwrap_or_else(PoisonError::into_inner);
        for listener in &*listeners {
            listener(happening);
        }
    }

    /// Hear of everything from now on. The listener must neither block nor listen itself.
    ///
    /// # Panics
    /// There are [`LISTENERS_MAX`] already.
    pub fn listen(&self, listener: impl Fn(&Happening) + Send + Sync + 'static) {
        let mut listeners = self.0.write().unwrap_or_else(PoisonError::into_inner);
        assert!(
            listeners.len() < LISTENERS_MAX,
            "the server has more listeners than it has parts that listen"
        );
        listeners.push(Box::new(listener));
    }
}

impl fmt::Debug for News {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("News").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn every_listener_hears_what_happens_after_it_came() {
        let news = News::default();
        let happening = |subject: &str| Happening {
            kind: Kind::LeaseTaken,
            at_ms: 1,
            org: "o".into(),
            devices: vec!["d".into()],
            subject: subject.into(),
            told: Value::Null,
        };
        news.tell(&happening("too early"));
        let (tell, heard) = mpsc::channel();
        for listener in ["first", "second"] {
            let tell = tell.clone();
            news.listen(move |happening| {
                tell.send(format!("{listener} {}", happening.subject))
                    .unwrap();
            });
            news.clone().tell(&happening(&format!("after {listener}")));
        }
        assert_eq!(
            heard.try_iter().collect::<Vec<_>>(),
            [
                "first after first",
                "first after second",
                "second after second"
            ]
        );
    }

    #[test]
    fn each_kind_has_a_name_of_its_own() {
        let mut names: Vec<_> = Kind::ALL.iter().map(|kind| kind.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Kind::ALL.len());
        assert_eq!(Kind::named("job"), None);
    }

    #[test]
    fn what_is_about_jobs_is_called_so() {
        for kind in Kind::ALL {
            assert_eq!(Kind::named(kind.as_str()), Some(*kind));
            let is_called_so = kind.as_str().starts_with("job.");
            assert_eq!(kind.is_job(), is_called_so, "{}", kind.as_str());
        }
    }
}
