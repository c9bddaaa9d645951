//! What happens at the bench, told to whoever listens, at once and in memory: nobody is held up by a listener, and what
//! nobody listens to is forgotten.

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

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
    DeviceOnline "device.online" "A device answers, which did not before."
    DeviceOffline "device.offline" "A device does not answer any more."
    DeviceQuarantined "device.quarantined" "No job gets a device until somebody trusts it again."
    LeaseTaken "lease.taken" "Somebody has leased a device."
    LeaseEnded "lease.ended" "A lease of a device is over."
    CaptureDone "capture.done" "A capture has its samples."
    CaptureFailed "capture.failed" "A capture ended without them."
    FlashDone "flash.done" "A target was programmed."
    FlashFailed "flash.failed" "A target was not."
    UpdateDone "update.done" "A pod runs other firmware."
    UpdateFailed "update.failed" "An update of a pod's firmware failed, or was abandoned."
    JobFinished "job.finished" "A job is over."
}

/// Something that happened at a device.
#[derive(Debug, Clone, PartialEq)]
pub struct Happening {
    /// What.
    pub kind: Kind,
    /// Milliseconds since 1970.
    pub at_ms: u64,
    /// Id of the organisation whose device it is.
    pub org: String,
    /// Id of the device.
    pub device: String,
    /// Id of the device, capture, flash or update that it is about.
    pub subject: String,
    /// An object; docs/plugins.md has the members for each kind.
    pub told: Value,
}

type Listener = Box<dyn Fn(Happening) + Send + Sync>;

/// Where happenings are told. Cloning shares it.
#[derive(Clone, Default)]
pub struct News(Arc<OnceLock<Listener>>);

impl News {
    /// Tell who listens.
    pub fn tell(&self, happening: Happening) {
        if let Some(listener) = self.0.get() {
            listener(happening);
        }
    }

    /// Hear of everything from now on. The listener must not block. There is one: a second one hears nothing.
    pub fn listen(&self, listener: impl Fn(Happening) + Send + Sync + 'static) {
        // The first one stays.
        let _ = self.0.set(Box::new(listener));
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
    fn what_is_told_is_heard_by_the_listener_alone() {
        let news = News::default();
        let happening = |subject: &str| Happening {
            kind: Kind::LeaseTaken,
            at_ms: 1,
            org: "o".into(),
            device: "d".into(),
            subject: subject.into(),
            told: Value::Null,
        };
        news.tell(happening("nobody"));
        let (tell, heard) = mpsc::channel();
        news.listen(move |happening| tell.send(happening.subject).unwrap());
        news.listen(|_| unreachable!("there is one already"));
        news.clone().tell(happening("somebody"));
        assert_eq!(heard.try_iter().collect::<Vec<_>>(), ["somebody"]);
    }

    #[test]
    fn each_kind_has_a_name_of_its_own() {
        let mut names: Vec<_> = Kind::ALL.iter().map(|kind| kind.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Kind::ALL.len());
    }
}
