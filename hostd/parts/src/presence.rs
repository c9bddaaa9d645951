//! Which parts of a bench can be reached now.

use pod_protocol::MissingPart;
use tokio::sync::{Notify, watch};

/// A part of a bench.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Probe,
    Uart,
    Power,
    Logic,
    Analog,
}

impl Part {
    /// Its name, which is that of its table in the configuration.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Probe => "probe",
            Self::Uart => "uart",
            Self::Power => "power",
            Self::Logic => "logic",
            Self::Analog => "analog",
        }
    }
}

/// Whether a part can be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Presence {
    /// Nobody has tried yet.
    Untried,
    There,
    /// Why not, as a fragment.
    Away(String),
}

/// The parts of one bench. Others learn of changes.
#[derive(Debug)]
pub(crate) struct Presences {
    table: watch::Sender<Vec<(Part, Presence)>>,
    changed: Notify,
}

impl Presences {
    /// A bench of these parts, none of which was tried yet.
    pub(crate) fn new(parts: impl Iterator<Item = Part>) -> Self {
        let table = parts.map(|part| (part, Presence::Untried)).collect();
        Self {
            table: watch::Sender::new(table),
            changed: Notify::new(),
        }
    }

    pub(crate) fn there(&self, part: Part) {
        self.set(part, Presence::There);
    }

    pub(crate) fn away(&self, part: Part, reason: String) {
        self.set(part, Presence::Away(reason));
    }

    fn set(&self, part: Part, presence: Presence) {
        let set = self.table.send_if_modified(|table| {
            let entry = table.iter_mut().find(|(known, _)| *known == part);
            let Some((_, before)) = entry.filter(|(_, before)| *before != presence) else {
                return false;
            };
            let name = part.name();
            match &presence {
                Presence::Away(reason) => tracing::warn!(part = name, reason, "a part is away"),
                _ => tracing::info!(part = name, "a part is there"),
            }
            *before = presence;
            true
        });
        if set {
            self.changed.notify_one();
        }
    }

    /// Waits for a change. One that comes while nobody waits is kept.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Waits until every part was tried.
    pub(crate) async fn tried(&self) {
        let mut table = self.table.subscribe();
        let tried = |table: &Vec<(Part, Presence)>| {
            table
                .iter()
                .all(|(_, presence)| *presence != Presence::Untried)
        };
        // The sender lives as long as this.
        let _ = table.wait_for(tried).await;
    }

    /// Waits until there is one.
    pub(crate) async fn any(&self) {
        let mut table = self.table.subscribe();
        let _ = table.wait_for(|table| any(table)).await;
    }

    /// Waits until there is none.
    pub(crate) async fn none(&self) {
        let mut table = self.table.subscribe();
        let _ = table.wait_for(|table| !any(table)).await;
    }

    /// Why a part cannot be used: `None` if it can.
    pub(crate) fn lack(&self, part: Part) -> Option<Lack> {
        let table = self.table.borrow();
        match table.iter().find(|(known, _)| *known == part) {
            None => Some(Lack::None),
            Some((_, Presence::There)) => None,
            Some((_, Presence::Untried)) => Some(Lack::Away("it is being opened".to_owned())),
            Some((_, Presence::Away(reason))) => Some(Lack::Away(reason.clone())),
        }
    }

    /// The parts that there should be.
    pub(crate) fn all(&self) -> Vec<Part> {
        self.table.borrow().iter().map(|(part, _)| *part).collect()
    }

    /// Those that are away.
    pub(crate) fn missing(&self) -> Vec<MissingPart> {
        let away = |part| match self.lack(part)? {
            Lack::Away(reason) => Some(MissingPart {
                part: part.name().to_owned(),
                reason,
            }),
            Lack::None => None,
        };
        self.all().into_iter().filter_map(away).collect()
    }
}

/// Why a part cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Lack {
    /// The bench has none.
    None,
    /// It cannot be reached.
    Away(String),
}

fn any(table: &[(Part, Presence)]) -> bool {
    let mut all = table.iter();
    all.any(|(_, presence)| *presence == Presence::There)
}
