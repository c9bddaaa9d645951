//! How often the log says that a device is away: when that begins, and then once an hour.

use std::time::Duration;

use tokio::time::Instant;

/// Until it is said again of a device that stays away.
const AGAIN_AFTER: Duration = Duration::from_secs(3600);

/// In which way a device is away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Away {
    /// Its link broke, and it may come back.
    Lost,
    /// Nobody waits for it.
    Offline,
}

/// What the log has said of a device's absence.
#[derive(Debug, Default)]
pub(super) struct Absence(Option<(Away, Instant)>);

impl Absence {
    /// Whether the log is to say now that the device is away in this way.
    pub(super) fn is_due(&mut self, away: Away) -> bool {
        let now = Instant::now();
        let is_said = self
            .0
            .is_some_and(|(said, at)| said == away && now.duration_since(at) < AGAIN_AFTER);
        if !is_said {
            self.0 = Some((away, now));
        }
        !is_said
    }

    /// The device is there.
    pub(super) fn end(&mut self) {
        self.0 = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often it is said of a device that is tried so often, four seconds apart.
    async fn said(absence: &mut Absence, away: Away, tries: u32) -> u32 {
        let mut said = 0;
        for _ in 0..tries {
            said += u32::from(absence.is_due(away));
            tokio::time::advance(Duration::from_secs(4)).await;
        }
        said
    }

    #[tokio::test(start_paused = true)]
    async fn an_absence_is_said_once_and_then_hourly() {
        let mut absence = Absence::default();
        assert_eq!(said(&mut absence, Away::Lost, 20).await, 1);
        assert_eq!(said(&mut absence, Away::Offline, 899).await, 1);
        assert_eq!(said(&mut absence, Away::Offline, 900).await, 1);
        assert_eq!(said(&mut absence, Away::Offline, 9_000).await, 10);
        absence.end();
        assert_eq!(said(&mut absence, Away::Offline, 2).await, 1);
    }
}
