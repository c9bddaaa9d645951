//! What a pod can do, as its `status` reports it: the typed record, and the string map that
//! published clients read.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::capture::ConditionKind;
use crate::chunk::raw;
use crate::parity::{Parity, UART_PARITY};
use crate::{DEEP_REPLAY_SAMPLES_MAX, LA_CHANNELS, LA_SAMPLES_MAX};

/// Board of all pods so far; it has some features without announcing them.
const KNOWN_BOARD: &str = "stm32h563";

/// Channels of firmware before 3.1.
const OLD_LA_CHANNELS: u8 = 12;

/// First firmware with all channels.
const ALL_CHANNELS_SINCE: (u32, u32) = (3, 1);

/// Levels of the logic analyzer's bank, in millivolts. The first came with the third revision.
const LA_LEVELS_MV: [u32; 2] = [1800, 3300];

/// ADC fit of boards that report none: volts and volts per count on the front connector.
const NOMINAL_FIT: (f64, f64) = (65.788_9, -0.001_003_762);

/// How a bench says that its logic channels and its analog input are of one instrument.
pub const CAPTURE_DUAL: &str = "capture_dual";

/// The feature of a pod that keeps samples before a trigger.
pub const CAPTURE_PRE: &str = "capture_pre";

/// The feature of a pod that sends a logic capture while it is taken, so that its memory does not bound it.
pub const CAPTURE_STREAM: &str = "capture_stream";

/// Why a bench refuses to capture both from one instant.
pub const TWO_INSTRUMENTS: &str = "the logic channels and the analog input of this bench are two instruments, which sample \
    nothing from one instant: capture one after the other, or name the driver of one instrument that has both in `logic` \
    and in `analog`";

/// How raw ADC counts of the front connector become volts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdcFit {
    /// Volts at count 0 after unwrapping.
    pub a_volts: f64,
    /// Volts per count; negative, since the front end inverts.
    pub b_volts_per_count: f64,
    /// Whether 65536 is added to counts below 32768 first: the front end wraps near 0 V.
    pub unwrap: bool,
}

impl AdcFit {
    /// The voltage of a raw count.
    pub fn volts(&self, count: u16) -> f64 {
        let wrapped = self.unwrap && count < 0x8000;
        let unwrapped = f64::from(count) + if wrapped { 65_536.0 } else { 0.0 };
        self.a_volts + self.b_volts_per_count * unwrapped
    }
}

/// What a pod can do. `None` means unknown: the pod does not say. Serialises as the capability
/// object of a device record: the flags and limits, null where unknown.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Capabilities {
    /// Waveform output: generator and replay, not only a DC level.
    pub ac_dac: Option<bool>,
    /// A DC output.
    pub dac: Option<bool>,
    /// Analog input.
    pub adc: Option<bool>,
    /// Logic-analyzer channels.
    pub la_channels: Option<u8>,
    /// Most logic-analyzer samples of one capture.
    pub la_max_samples: Option<u64>,
    /// Captures can wait for a trigger.
    pub capture_trigger: Option<bool>,
    /// Captures can have samples before their trigger.
    pub capture_pre_samples: Option<bool>,
    /// Logic captures can be longer than its memory.
    pub capture_stream: Option<bool>,
    /// Triggers can be pulses by their length.
    pub trigger_pulse: Option<bool>,
    /// Triggers can be patterns of several channels.
    pub trigger_pattern: Option<bool>,
    /// Triggers can be levels for a time.
    pub trigger_level: Option<bool>,
    /// UART proxy.
    pub uart: Option<bool>,
    /// Debug probe.
    pub cmsis_dap: Option<bool>,
    /// CAN.
    pub can: Option<bool>,
    /// SPI master.
    pub spi: Option<bool>,
    /// Emulated I²C sensor.
    pub i2c_sensor: Option<bool>,
    /// Power profiles.
    pub power_profile: Option<bool>,
    /// Updates over the air.
    pub ota: Option<bool>,
    /// It sends the samples of captures as bytes.
    #[serde(skip)]
    pub capture_raw: bool,
    /// Levels and analog samples may be of one instant. All boards can do that; benches of parts say so.
    #[serde(skip)]
    pub capture_dual: bool,
    /// What parity its UART has if nothing else is asked for. `None`: no parity bit, ever.
    #[serde(skip)]
    pub uart_parity: Option<Parity>,
    /// The pod's own ADC fit. `None` without an ADC.
    #[serde(skip)]
    pub adc_fit: Option<AdcFit>,
    /// `cap.*` for the published clients.
    #[serde(skip)]
    pub parameters: BTreeMap<String, String>,
    /// Whether it is a bench of parts rather than a board.
    #[serde(skip)]
    pub is_of_parts: bool,
    /// Parts that such a bench has and that cannot be reached now.
    #[serde(skip)]
    pub missing: Vec<MissingPart>,
}

/// A part of a bench that cannot be reached now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingPart {
    /// Its name: `uart`, `power`, `probe`.
    pub part: String,
    /// Why, as a fragment.
    pub reason: String,
}

impl Capabilities {
    /// Reads the data of `status`.
    pub fn from_status(status: &Map<String, Value>) -> Self {
        let caps = caps(status);
        let has = |names: &[&str]| {
            let caps = caps.as_ref()?;
            Some(names.iter().any(|name| caps.iter().any(|cap| cap == name)))
        };
        let analog = status
            .get("analog")
            .and_then(Value::as_bool)
            .or_else(|| has(&["analog", "scope"]));
        let with_analog = |names: &[&str]| match analog {
            Some(false) => Some(false),
            _ => has(names),
        };
        let adc_fit = (analog != Some(false)).then(|| adc_fit(status));
        let told = |name: &str| status.get(name).and_then(Value::as_u64);
        let is_of_parts = status.contains_key("parts");
        let known_board = status.get("board").and_then(Value::as_str) == Some(KNOWN_BOARD);
        let mut capabilities = Self {
            ac_dac: with_analog(&["dac_replay", "generate16"]),
            dac: with_analog(&["dac", "dac_dc"]),
            adc: analog,
            la_channels: la_channels(status, has(&["la", "analyzer"])),
            la_max_samples: known_board
                .then_some(LA_SAMPLES_MAX)
                .or_else(|| told("la_max_samples")),
            capture_trigger: has(&[ConditionKind::Edge.capability()]),
            capture_pre_samples: has(&[CAPTURE_PRE]),
            capture_stream: has(&[CAPTURE_STREAM]),
            trigger_pulse: has(&[ConditionKind::Pulse.capability()]),
            trigger_pattern: has(&[ConditionKind::Pattern.capability()]),
            trigger_level: has(&[ConditionKind::Level.capability()]),
            uart: has(&["uart", "serial"]),
            cmsis_dap: has(&["swd"]),
            can: has(&["can"]),
            spi: has(&["spi_master"]),
            i2c_sensor: has(&["i2c_sensor"]),
            power_profile: has(&["power_profile"]),
            ota: has(&["ota"]),
            capture_raw: has(&[raw::CAPABILITY]) == Some(true),
            capture_dual: !is_of_parts || has(&[CAPTURE_DUAL]) == Some(true),
            uart_parity: status
                .get(UART_PARITY)
                .and_then(Value::as_str)
                .and_then(Parity::named),
            adc_fit,
            parameters: BTreeMap::new(),
            is_of_parts,
            missing: missing(status),
        };
        capabilities.parameters = parameters(status, caps.as_deref(), &capabilities);
        capabilities
    }
}

impl Capabilities {
    /// Whether it has triggers of this kind; `None` if it does not say.
    pub fn has_trigger(&self, kind: ConditionKind) -> Option<bool> {
        match kind {
            ConditionKind::Edge => self.capture_trigger,
            ConditionKind::Pulse => self.trigger_pulse,
            ConditionKind::Pattern => self.trigger_pattern,
            ConditionKind::Level => self.trigger_level,
        }
    }

    /// Why `what` is not there, as a sentence; on a bench of parts, `part` gives it.
    pub fn lack(&self, what: &str, part: &str) -> String {
        let away = self.missing.iter().find(|missing| missing.part == part);
        match away {
            Some(away) => format!("the part `{part}` of the bench is away: {}", away.reason),
            None if self.is_of_parts => format!("the bench has no part `{part}`"),
            None => format!("the board has no {what}"),
        }
    }

    /// Levels in millivolts that the bank of the logic analyzer can have: those of all boards if
    /// the revision is unknown.
    pub fn la_levels_mv(&self) -> &'static [u32] {
        let revision = self.parameters.get("cap.board_rev");
        match revision.map(String::as_str) {
            Some("v2") => &LA_LEVELS_MV[1..],
            _ => &LA_LEVELS_MV,
        }
    }
}

fn caps(status: &Map<String, Value>) -> Option<Vec<String>> {
    let listed = status.get("caps")?.as_array()?;
    let names = listed.iter().filter_map(Value::as_str);
    Some(names.map(str::to_lowercase).collect())
}

/// What is malformed is left out.
fn missing(status: &Map<String, Value>) -> Vec<MissingPart> {
    let listed = status.get("missing").and_then(Value::as_array);
    let listed = listed.into_iter().flatten();
    listed
        .filter_map(|entry| MissingPart::deserialize(entry).ok())
        .collect()
}

fn version(status: &Map<String, Value>) -> Option<&str> {
    let version = status
        .get("version")
        .or_else(|| status.get("firmware_version"));
    version.and_then(Value::as_str)
}

fn la_channels(status: &Map<String, Value>, has_la: Option<bool>) -> Option<u8> {
    if has_la == Some(false) {
        return Some(0);
    }
    // Boards do not say; benches of parts have what their analyzer has.
    if let Some(told) = status.get("la_channels").and_then(Value::as_u64) {
        return Some(u8::try_from(told).unwrap_or(u8::MAX).min(LA_CHANNELS));
    }
    let mut parts = version(status)?.split('.');
    let mut part = || parts.next()?.parse::<u32>().ok();
    let version = (part()?, part()?);
    Some(if version >= ALL_CHANNELS_SINCE {
        LA_CHANNELS
    } else {
        OLD_LA_CHANNELS
    })
}

fn adc_fit(status: &Map<String, Value>) -> AdcFit {
    let number = |name: &str| status.get(name).and_then(Value::as_f64);
    let micro = number("adc_cal_a_uv").zip(number("adc_cal_b_nv"));
    let reported = micro
        .map(|(a_uv, b_nv)| (a_uv / 1e6, b_nv / 1e9))
        .or_else(|| number("adc_cal_a").zip(number("adc_cal_b")));
    let (a_volts, b_volts_per_count) = reported.unwrap_or(NOMINAL_FIT);
    let unwrap = status.get("adc_cal_unwrap").and_then(Value::as_bool);
    AdcFit {
        a_volts,
        b_volts_per_count,
        unwrap: unwrap.unwrap_or(true),
    }
}

/// Flags that clients look for under `cap.`, one for each entry of `caps`.
const FLAGS: [&str; 36] = [
    "scope",
    "analyzer",
    "serial",
    "tunnel",
    "command",
    "ota",
    "dac",
    "dac_dc",
    "dac_replay",
    "dac_deep_replay",
    "dac_control_loop",
    "dac_loop_sources",
    "dac_loop_input_map",
    "dac_cotrig",
    "dac_limits",
    "la_pins",
    "gpio_read",
    "capture_trigger",
    "power_profile",
    "capture_b64",
    "nrst_pin",
    "usb_cc",
    "spi_master",
    "spi_stream",
    "calibrate",
    "cal_dmm",
    "current_out",
    "can",
    "pod_current",
    "sensor_types",
    "gps",
    "ota_sig",
    "lease_state",
    "cloud_ca",
    "cloud_proxy",
    "blob_slots",
];

/// Values of `status` that clients read under `cap.` with the same name.
const COPIED: [&str; 8] = [
    "board",
    "board_rev",
    "adc_bits",
    "adc_channels",
    "adc_fullscale_mv",
    "analog",
    "flash_kb",
    "sig_policy",
];

fn parameters(
    status: &Map<String, Value>,
    caps: Option<&[String]>,
    capabilities: &Capabilities,
) -> BTreeMap<String, String> {
    let mut map = BTreeMap::new();
    let mut put = |name: &str, value: String| {
        map.insert(format!("cap.{name}"), value);
    };
    for name in COPIED {
        match status.get(name) {
            Some(Value::String(text)) => put(name, text.clone()),
            Some(value @ (Value::Number(_) | Value::Bool(_))) => put(name, value.to_string()),
            _ => {}
        }
    }
    if let Some(version) = version(status) {
        put("firmware_version", version.to_owned());
    }
    // A client prefers a board's built-in fit to the pod's own unless the map contains the pod's.
    if let Some(fit) = capabilities.adc_fit {
        put("adc_cal_a", format!("{:.6}", fit.a_volts));
        put("adc_cal_b", format!("{:.9}", fit.b_volts_per_count));
        put("adc_cal_unwrap", fit.unwrap.to_string());
    }
    let caps = caps.unwrap_or_default();
    let listed = |name: &str| caps.iter().any(|cap| cap == name);
    // A false flag cannot switch anything off in the clients, so only true ones are worth sending.
    for flag in FLAGS {
        let announced = match flag {
            "analyzer" => listed("la") || listed("analyzer"),
            "serial" => listed("uart") || listed("serial"),
            name => listed(name),
        };
        if announced {
            put(flag, "true".to_owned());
        }
    }
    if listed("generate16") {
        put("generate_bits", "16".to_owned());
    }
    // Without the image for it, a pod accepts a long replay but plays nothing.
    if listed("dac_deep_replay") {
        let told = status.get("dac_replay_max_samples").and_then(Value::as_u64);
        let most = told.unwrap_or(DEEP_REPLAY_SAMPLES_MAX);
        put("dac_replay_max_samples", most.to_string());
    }
    map
}

#[cfg(test)]
mod tests;
