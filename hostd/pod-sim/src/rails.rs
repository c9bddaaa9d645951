//! Target power: two switched rails with their monitors, and switches that act later on their own.
//! If a rail's input dips, the target loses power, but the switch keeps its position.

use serde_json::{Value, json};

use super::args::Args;
use super::noise::gaussian;
use super::refuse::Refuse;
use super::timeline::Timeline;

/// How long a rail takes to rise.
const RISE_NS: u64 = 20_000_000;

/// An overloaded eFuse opens after `TRIP_NS`, and retries after `RETRY_NS`.
const TRIP_NS: u64 = 2_800_000;
const RETRY_NS: u64 = 110_000_000;

/// The current that a tripping eFuse passes, in µA: 2 A on the internal rail, 3 A on the external
/// one.
const LIMIT_UA: [i64; 2] = [2_000_000, 3_000_000];

/// Longest delay of a switch, in milliseconds.
const DELAY_MS_MAX: i64 = 600_000;

/// Standard deviation of the noise on the monitors' voltage and current readings.
const NOISE_MV: f64 = 1.5;
const NOISE_UA: f64 = 60.0;

/// What supplies a rail, and its load.
#[derive(Debug, Clone, PartialEq)]
pub struct RailConfig {
    /// Voltage when on, in mV.
    pub bus_mv: u32,
    /// Current the target draws when on, in µA.
    pub load_ua: u32,
}

impl RailConfig {
    /// 5 V from USB-C, with a small board as its load.
    pub fn internal() -> Self {
        Self {
            bus_mv: 5_020,
            load_ua: 42_000,
        }
    }

    /// 12 V from the supply input, with nothing connected.
    pub fn external() -> Self {
        Self {
            bus_mv: 12_050,
            load_ua: 0,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Rails {
    config: [RailConfig; 2],
    /// Positions of the switches.
    on: [Timeline<bool>; 2],
    /// Whether the target has power: the switch is on and the input is present.
    live: [Timeline<bool>; 2],
    /// Current of the chip on a rail, in addition to its board, in µA.
    chips: [Timeline<f64>; 2],
    /// Rail index, and from when to when it supplies no power: its input is too low, or its eFuse
    /// tripped.
    dips: Vec<(usize, u64, u64)>,
    /// Rail index, and from when to when its output is shorted, including retries.
    shorts: Vec<(usize, u64, u64)>,
    seed: u64,
    has_pod_monitor: bool,
}

impl Rails {
    pub(crate) fn new(config: [RailConfig; 2], seed: u64, has_pod_monitor: bool) -> Self {
        Self {
            config,
            on: [Timeline::new(false), Timeline::new(false)],
            live: [Timeline::new(false), Timeline::new(false)],
            chips: [Timeline::new(0.0), Timeline::new(0.0)],
            dips: Vec::new(),
            shorts: Vec::new(),
            seed,
            has_pod_monitor,
        }
    }

    /// Whether the target has power from rail 1 or 2, over time.
    pub(crate) fn switch(&self, efuse: u8) -> &Timeline<bool> {
        &self.live[usize::from(efuse == 2)]
    }

    /// From this instant on, the chip on rail 1 or 2 draws this current, in µA.
    pub(crate) fn draw(&mut self, efuse: u8, from_ns: u64, chip_ua: f64) {
        let chip = &mut self.chips[usize::from(efuse == 2)];
        // Differences below what a monitor shows would only fill the timeline.
        if (chip.at(from_ns) - chip_ua).abs() > NOISE_UA {
            chip.set(from_ns, chip_ua);
        }
    }

    /// Switches both rails off and drops all that was planned.
    pub(crate) fn reboot(&mut self, now_ns: u64) {
        for rail in &mut self.on {
            rail.cancel_after(now_ns);
            if *rail.at(now_ns) {
                rail.set(now_ns, false);
            }
        }
        (0..self.on.len()).for_each(|rail| self.supply(rail));
    }

    pub(crate) fn prune(&mut self, before_ns: u64) {
        let rails = self.on.iter_mut().chain(&mut self.live);
        rails.for_each(|rail| rail.prune(before_ns));
        self.chips.iter_mut().for_each(|chip| chip.prune(before_ns));
        self.dips.retain(|(_, _, to)| *to > before_ns);
        self.shorts.retain(|(_, _, to)| *to > before_ns);
    }

    /// The input of rail 1 or 2 is too low between these instants.
    pub(crate) fn brown_out(&mut self, efuse: u8, from_ns: u64, to_ns: u64) {
        let rail = usize::from(efuse == 2);
        self.dips.push((rail, from_ns, to_ns));
        self.supply(rail);
    }

    /// The output of rail 1 or 2 is shorted between these instants: its eFuse trips, retries and
    /// trips again, until the short is gone at a retry.
    pub(crate) fn short(&mut self, efuse: u8, from_ns: u64, to_ns: u64) {
        let rail = usize::from(efuse == 2);
        if to_ns <= from_ns.saturating_add(TRIP_NS) {
            // Too brief for the eFuse to notice.
            return;
        }
        let tries = (to_ns - from_ns).div_ceil(TRIP_NS + RETRY_NS);
        let over_ns = from_ns.saturating_add(tries.saturating_mul(TRIP_NS + RETRY_NS));
        self.dips.push((rail, from_ns + TRIP_NS, over_ns));
        self.shorts.push((rail, from_ns, over_ns));
        self.supply(rail);
    }

    /// Whether a shorted rail conducts at an instant: the short has just begun, or the eFuse
    /// retries.
    fn is_tripping(&self, rail: usize, at_ns: u64) -> bool {
        let mut shorts = self.shorts.iter();
        shorts.any(|(of, from, to)| {
            let inside = *of == rail && (*from..*to).contains(&at_ns);
            inside && (at_ns - from) % (TRIP_NS + RETRY_NS) < TRIP_NS
        })
    }

    /// Whether rail 1 or 2 is on, and whether it has failed.
    pub(crate) fn efuse(&self, efuse: u8, now_ns: u64) -> (bool, bool) {
        let index = usize::from(efuse == 2);
        let on = *self.on[index].at(now_ns);
        (on, on && self.is_dipped(index, now_ns))
    }

    fn is_dipped(&self, rail: usize, at_ns: u64) -> bool {
        let mut dips = self.dips.iter();
        dips.any(|(of, from, to)| *of == rail && (*from..*to).contains(&at_ns))
    }

    /// Recomputes when the target has power.
    fn supply(&mut self, rail: usize) {
        let dips = self.dips.iter().filter(|(of, ..)| *of == rail);
        let mut instants: Vec<u64> = self.on[rail].changes().map(|(at, _)| *at).collect();
        let since = instants.first().copied().unwrap_or(0);
        instants.extend(
            dips.flat_map(|(_, from, to)| [*from, *to])
                .filter(|at| *at >= since),
        );
        instants.sort_unstable();
        let mut live = Timeline::new(false);
        let mut before = None;
        for at_ns in instants {
            let now = *self.on[rail].at(at_ns) && !self.is_dipped(rail, at_ns);
            if before != Some(now) {
                live.set(at_ns, now);
                before = Some(now);
            }
        }
        self.live[rail] = live;
    }

    /// `target_power`: switches now, or later on the pod's own clock; a newer command replaces a
    /// pending one.
    pub(crate) fn target_power(&mut self, args: &Args<'_>, now_ns: u64) -> Result<Value, Refuse> {
        let efuse: u8 = args
            .uint("efuse", 1..=2)?
            .ok_or(Refuse::Missing { field: "efuse" })?;
        let state = args
            .flag("state")?
            .ok_or(Refuse::Missing { field: "state" })?;
        let delay_ms: u64 = args.uint("delay_ms", 0..=DELAY_MS_MAX)?.unwrap_or(0);
        let index = usize::from(efuse == 2);
        let rail = &mut self.on[index];
        rail.cancel_after(now_ns);
        // A rail that is already on does not rise again.
        if *rail.at(now_ns) != state {
            rail.set(now_ns + delay_ms * 1_000_000, state);
        }
        self.supply(index);
        Ok(json!({"efuse": efuse, "enabled": u8::from(state), "delay_ms": delay_ms}))
    }

    /// `target_status`.
    pub(crate) fn target_status(&self, now_ns: u64) -> Value {
        let fuse = |efuse: u8| {
            let index = usize::from(efuse == 2);
            let (on, fault) = self.efuse(efuse, now_ns);
            let (since, live) = *self.live[index].since(now_ns);
            let valid = live && now_ns >= since + RISE_NS;
            json!({"enabled": u8::from(on), "fault": u8::from(fault), "valid": u8::from(valid)})
        };
        json!({"efuse1": fuse(1), "efuse2": fuse(2), "status_supported": true})
    }

    /// `power_status`.
    pub(crate) fn power_status(&self, now_ns: u64) -> Value {
        let (internal_mv, internal_ua) = self.reading(0, now_ns);
        let (external_mv, external_ua) = self.reading(1, now_ns);
        let mut status = json!({
            "internal": {"ok": true, "bus_mv": internal_mv, "current_ua": internal_ua},
            "external": {"ok": true, "bus_mv": external_mv, "current_ua": external_ua},
        });
        if self.has_pod_monitor {
            // The pod's own current from USB-C.
            let pod_ua = 285_000 + rounded(gaussian(self.seed, now_ns) * 400.0);
            status["pod"] = json!({"ok": true, "bus_mv": 5_040, "current_ua": pod_ua,
                "total_ua": pod_ua + internal_ua});
        }
        status
    }

    /// The monitor's reading of rail 1 or 2 at an instant: mV and µA.
    pub(crate) fn monitor(&self, efuse: u8, at_ns: u64) -> (i64, i64) {
        self.reading(usize::from(efuse == 2), at_ns)
    }

    /// Voltage in mV and current in µA after a switch.
    fn reading(&self, index: usize, now_ns: u64) -> (i64, i64) {
        if *self.on[index].at(now_ns) && self.is_tripping(index, now_ns) {
            return (0, LIMIT_UA[index]);
        }
        let (since, live) = *self.live[index].since(now_ns);
        if !live {
            return (0, 0);
        }
        let rise_us = u32::try_from((now_ns - since).min(RISE_NS) / 1_000).expect("at most 20 ms");
        let share = f64::from(rise_us) / 20_000.0;
        let salt = self.seed.wrapping_add(index as u64 + 1);
        let config = &self.config[index];
        let volts = f64::from(config.bus_mv) + gaussian(salt, now_ns) * NOISE_MV;
        let amps = f64::from(config.load_ua)
            + self.chips[index].at(now_ns)
            + gaussian(!salt, now_ns) * NOISE_UA;
        (rounded(volts * share), rounded(amps * share))
    }
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "readings are far below 2^53"
)]
fn rounded(value: f64) -> i64 {
    value.round() as i64
}

#[cfg(test)]
mod tests;
