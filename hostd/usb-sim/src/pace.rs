//! How fast a simulated bus is: each bulk transfer takes the time that its packets take on a real one.

use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use super::descriptors::Speed;

/// How much time a bus makes up for when its thread was not there to use it. A real controller goes on by itself with
/// what it was given; half a megabyte, which programs keep under way, takes it 10 ms.
const MADE_UP_MAX: Duration = Duration::from_millis(10);

/// The time of a bus, shared by all endpoints of a device. By default transfers take none.
///
/// A transfer goes as soon as the bus is free, and the bus is free again when the transfer would be over.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pace(Option<Arc<Timetable>>);

#[derive(Debug)]
struct Timetable {
    speed: Speed,
    free_at: Mutex<Instant>,
    /// Somebody found the bus taken.
    missed: Notify,
}

impl Pace {
    /// That of a bus with nothing on it but one device of this speed.
    pub(crate) fn of(speed: Speed) -> Self {
        Self(Some(Arc::new(Timetable {
            speed,
            free_at: Mutex::new(Instant::now()),
            missed: Notify::new(),
        })))
    }

    /// Whether a transfer may go now. If not, [`freed`](Self::freed) tells when to ask again.
    pub(crate) fn is_free(&self) -> bool {
        let Some(timetable) = &self.0 else {
            return true;
        };
        let is_free = *timetable.free_at() <= Instant::now();
        if !is_free {
            timetable.missed.notify_one();
        }
        is_free
    }

    /// A transfer of so many bytes goes.
    pub(crate) fn carry(&self, bytes: usize) {
        let Some(timetable) = &self.0 else {
            return;
        };
        let now = Instant::now();
        let mut free_at = timetable.free_at();
        let unused = now.saturating_duration_since(*free_at);
        let begins = (*free_at).max(now) - unused.min(MADE_UP_MAX);
        *free_at = begins + time(timetable.speed, bytes);
    }

    /// Waits until the bus is free, once somebody found it taken.
    pub(crate) async fn freed(&self) {
        let Some(timetable) = &self.0 else {
            return pending().await;
        };
        timetable.missed.notified().await;
        let free_at = *timetable.free_at();
        sleep_until(free_at).await;
    }
}

impl Timetable {
    fn free_at(&self) -> MutexGuard<'_, Instant> {
        self.free_at.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long the packets of a transfer take. Each costs its bytes and a constant for what goes around them, and as many
/// full ones fit in a frame or microframe as tables 5-9 and 5-10 of the Universal Serial Bus Specification 2.0 say.
fn time(speed: Speed, bytes: usize) -> Duration {
    let (packet, around, packets_max, frame) = match speed {
        Speed::Full => (64, 13, 19, Duration::from_millis(1)),
        Speed::High => (512, 55, 13, Duration::from_micros(125)),
    };
    let bytes = u64::try_from(bytes).expect("the length of a transfer is of 32 bits");
    let packets = bytes.div_ceil(packet).max(1);
    let frame = u64::try_from(frame.as_nanos()).expect("a frame is far below a second");
    Duration::from_nanos(frame * (bytes + packets * around) / (packets_max * (packet + around)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes a second in transfers of this length.
    fn rate(speed: Speed, length: usize) -> f64 {
        let length_exact = f64::from(u32::try_from(length).unwrap());
        length_exact / time(speed, length).as_secs_f64()
    }

    #[test]
    fn full_packets_are_as_fast_as_the_specification_says() {
        for (speed, length, most) in [
            (Speed::High, 64 * 1024, 53_248_000.0),
            (Speed::Full, 64 * 1024, 1_216_000.0),
        ] {
            let rate = rate(speed, length);
            assert!((rate / most - 1.0).abs() < 0.001, "{speed:?}: {rate}");
        }
        // Packets of one byte use of a microframe what full ones leave over, which does not count here.
        let slow = rate(Speed::High, 1);
        assert!((slow / 1_064_000.0 - 1.0).abs() < 0.02, "{slow}");
        // An empty transfer is a packet, too.
        assert!(Duration::ZERO < time(Speed::High, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn a_bus_makes_up_for_some_of_the_time_that_it_missed() {
        let pace = Pace::of(Speed::High);
        let began = Instant::now();
        // As much as is made up for goes at once, then a transfer each time that the bus is free.
        tokio::time::advance(100 * MADE_UP_MAX).await;
        let mut at_once = 0;
        while pace.is_free() {
            pace.carry(64 * 1024);
            at_once += 1;
        }
        assert_eq!(at_once, 9);
        for _ in 0..1000 {
            pace.freed().await;
            assert!(pace.is_free());
            pace.carry(64 * 1024);
            assert!(!pace.is_free());
        }
        let took = began.elapsed() - 100 * MADE_UP_MAX;
        let real = time(Speed::High, 64 * 1024) * 1000;
        let gap = took.abs_diff(real);
        assert!(gap < Duration::from_millis(3), "{took:?} for {real:?}");
    }

    #[tokio::test]
    async fn without_a_speed_there_is_always_time() {
        let pace = Pace::default();
        for _ in 0..1000 {
            pace.carry(1 << 24);
            assert!(pace.is_free());
        }
    }
}
