//! The phases of a pod update, and the events that lead from one to the next. Pure.

use serde::{Deserialize, Serialize};

/// The phase of an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// There was none.
    Idle,
    /// The image is being sent to the pod.
    Transferring,
    /// The pod checks length, hash, signature and fit.
    Verifying,
    /// The pod holds a checked image and runs the old one.
    Staged,
    /// The pod was told to write the image.
    Installing,
    /// The pod restarts.
    Rebooting,
    Done,
    Failed,
    Aborted,
}

/// What happens to an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// Somebody starts one.
    Begin,
    /// The pod has all bytes.
    Sent,
    /// The pod has checked that the image is what was announced.
    Verified,
    /// The pod is about to be told to install it.
    Install,
    /// The pod was told.
    Committed,
    /// The pod is back and runs the expected version.
    Returned,
    /// Something failed that cannot be recovered.
    Fail,
    /// It is abandoned.
    Abort,
}

impl Phase {
    /// The next phase; none if the event is not valid in this one.
    #[must_use]
    pub fn after(self, event: Event) -> Option<Self> {
        match (self, event) {
            (phase, Event::Begin) if phase.is_final() => Some(Self::Transferring),
            (Self::Transferring, Event::Sent) => Some(Self::Verifying),
            (Self::Verifying, Event::Verified) => Some(Self::Staged),
            (Self::Staged, Event::Install) => Some(Self::Installing),
            (Self::Installing, Event::Committed) => Some(Self::Rebooting),
            (Self::Rebooting, Event::Returned) => Some(Self::Done),
            (phase, Event::Fail) if !phase.is_final() => Some(Self::Failed),
            (phase, Event::Abort) if phase.may_abort() => Some(Self::Aborted),
            _ => None,
        }
    }

    /// Whether the update is over.
    #[must_use]
    pub fn is_final(self) -> bool {
        matches!(self, Self::Idle | Self::Done | Self::Failed | Self::Aborted)
    }

    /// Whether the pod can still drop the image: it writes nothing before it is told to install.
    #[must_use]
    pub fn may_abort(self) -> bool {
        matches!(self, Self::Transferring | Self::Verifying | Self::Staged)
    }
}

#[cfg(test)]
mod tests {
    use super::Event::{Abort, Begin, Committed, Fail, Install, Returned, Sent, Verified};
    use super::Phase::{
        Aborted, Done, Failed, Idle, Installing, Rebooting, Staged, Transferring, Verifying,
    };
    use super::{Event, Phase};

    const EVENTS: [Event; 8] = [
        Begin, Sent, Verified, Install, Committed, Returned, Fail, Abort,
    ];

    /// Every phase with all its transitions; any other must not happen.
    const TABLE: [(Phase, &[(Event, Phase)]); 9] = [
        (Idle, &[(Begin, Transferring)]),
        (
            Transferring,
            &[(Sent, Verifying), (Fail, Failed), (Abort, Aborted)],
        ),
        (
            Verifying,
            &[(Verified, Staged), (Fail, Failed), (Abort, Aborted)],
        ),
        (
            Staged,
            &[(Install, Installing), (Fail, Failed), (Abort, Aborted)],
        ),
        (Installing, &[(Committed, Rebooting), (Fail, Failed)]),
        (Rebooting, &[(Returned, Done), (Fail, Failed)]),
        (Done, &[(Begin, Transferring)]),
        (Failed, &[(Begin, Transferring)]),
        (Aborted, &[(Begin, Transferring)]),
    ];

    #[test]
    fn every_event_in_every_phase() {
        for (phase, becomes) in TABLE {
            for event in EVENTS {
                let wanted = becomes.iter().find(|(e, _)| *e == event).map(|(_, p)| *p);
                assert_eq!(phase.after(event), wanted, "{phase:?} {event:?}");
            }
        }
    }

    #[test]
    fn words_of_the_store() {
        let words = TABLE.map(|(phase, _)| serde_json::to_string(&phase).unwrap());
        let wanted = "idle transferring verifying staged installing rebooting done failed aborted";
        assert_eq!(words.join(" ").replace('"', ""), wanted);
    }
}
