//! All refusals of the simulated pod, with the messages that clients classify.

use pod_protocol::DUAL_BYTES_PER_S_MAX;
use pod_protocol::capture::Trigger;

/// A refusal; its `Display` is the `message` of the reply.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(crate) enum Refuse {
    #[error("unknown cmd")]
    UnknownCommand,
    #[error("missing cmd")]
    MissingCommand,
    #[error("the request is not a JSON object")]
    NotObject,
    #[error("the request exceeds {limit} bytes")]
    RequestTooLong { limit: usize },
    #[error("missing {field}")]
    Missing { field: &'static str },
    #[error("bad {field}: want {want}")]
    Bad {
        field: &'static str,
        want: &'static str,
    },
    #[error("{field} out of range: want {min}..{max}")]
    OutOfRange {
        field: &'static str,
        min: i64,
        max: i64,
    },
    #[error("{field} out of range: want {min}..{max}")]
    Beyond {
        field: &'static str,
        min: f64,
        max: f64,
    },
    #[error("this BenchPod has no analog front end: `{command}` needs one")]
    NoAnalog { command: String },
    #[error("this board plays no waveforms: its DAC holds DC levels only")]
    DcOnly,
    /// The capture hardware or a step train is in use. Clients compare the whole message.
    #[error("busy")]
    Busy,
    #[error("la voltage not set: select it with {{\"cmd\":\"la_voltage\",\"mv\":3300}}")]
    LaVoltageUnset,
    #[error("1800 mV needs a v3 board")]
    LaVoltageNeedsV3,
    #[error("`{command}` needs a v3 board")]
    NeedsV3 { command: &'static str },
    #[error("the LA voltage cannot change while channels are in use: {used}")]
    LaVoltageInUse { used: String },
    #[error("pin conflict: LA{la} is in use by {function}; {hint}")]
    PinConflict {
        la: u8,
        function: &'static str,
        hint: String,
    },
    #[error(
        "pull conflict: LA{la} has its pull-down engaged and {function} cannot work with it; \
         {{\"cmd\":\"la\",\"la\":{la},\"pullup\":\"off\"}} or use another channel"
    )]
    PullEngaged { la: u8, function: &'static str },
    #[error("pull conflict: LA{la} is in use by {function}, which cannot work with a pull-down")]
    PullUnwanted { la: u8, function: &'static str },
    #[error("LA{la} has no bias resistor")]
    NoPull { la: u8 },
    #[error("the bias resistors are 3.3 V referenced and stay off at 1.8 V")]
    PullAt1V8,
    #[error(
        "LA{la} is not an output; {{\"cmd\":\"gpio\",\"la\":{la},\"mode\":\"output\"}} makes it one"
    )]
    NotOutput { la: u8 },
    #[error("dir_la must differ from la")]
    SameStepPins,
    #[error("{}", trigger.timeout_text())]
    TriggerTimeout { trigger: Trigger },
    #[error("a capture needs samples")]
    NoSamples,
    #[error("{samples} samples exceed the limit of {limit}")]
    TooManySamples { samples: u64, limit: u64 },
    #[error("the capture would take {seconds} s, it must take less than {limit} s")]
    TooSlow { seconds: u64, limit: u64 },
    #[error("the rates add up to {} MB/s, the limit is {} MB/s", megabytes(bytes_per_s), megabytes(&DUAL_BYTES_PER_S_MAX))]
    TooFast { bytes_per_s: u64 },
    #[error("the input is moving: the burst spans {span} counts, the limit is {limit}")]
    Unsteady { span: u32, limit: u32 },
    #[error("the waveform reaches {reached_mv} mV, the output spans {min_mv}..{max_mv} mV")]
    BeyondOutput {
        reached_mv: i64,
        min_mv: i64,
        max_mv: i64,
    },
    #[error("{freq_mhz} mHz cannot be played{}", .at_rate.map(|rate| format!(" at {rate} S/s")).unwrap_or_default())]
    Frequency { freq_mhz: u64, at_rate: Option<u64> },
    #[error("cal1 and cal2 exclude each other")]
    BothLoopbacks,
    #[error("no SPI session: start one with {{\"cmd\":\"spi_start\"}}")]
    SpiIdle,
    #[error("an SPI session is open: stop it first ({{\"cmd\":\"spi_stop\"}})")]
    SpiOpen,
    #[error("an SWD session is open: end the SWD session first")]
    SwdOpen,
    #[error("swclk and swdio must differ")]
    SameSwdPins,
    #[error("sck, mosi, miso and cs must differ")]
    SameSpiPins,
    #[error("verify failed at address {at:#x}")]
    SpiVerify { at: u32 },
    #[error("the flash does not take its write enable")]
    SpiNoEnable,
    #[error("the flash stays busy")]
    SpiStuck,
    #[error("the control loop needs image 0: {{\"cmd\":\"fpga_image\",\"image\":0}}")]
    LoopImage,
    #[error("no control loop is armed")]
    LoopIdle,
    #[error("a sweep and an input map exclude each other: {{\"cmd\":\"dac_loop_input\"}} chooses")]
    SweptMap,
    #[error("DAC limits are set: `{command}` is refused")]
    LimitsSet { command: String },
    #[error("DAC limits: the {path} output must stay within {min_mv}..{max_mv} mV")]
    BeyondLimits {
        path: &'static str,
        min_mv: i32,
        max_mv: i32,
    },
    #[error("DAC limits: the stage on the {path} output is inverted and must stay connected")]
    LimitedRoute { path: &'static str },
    #[error("the codes are too close: they must be {limit} apart")]
    CodesTooClose { limit: u16 },
    #[error("{read_mv} mV is far from the {expected_mv} mV the output should give")]
    FarOff { read_mv: i64, expected_mv: i64 },
    #[error("the gain is {percent} % off, which no calibration corrects")]
    GainOff { percent: String },
    #[error("something drives the input: it reads {mv} mV, the limit is {limit_mv} mV")]
    Driven { mv: i64, limit_mv: i64 },
    #[error("the ADC offset comes first: {{\"cmd\":\"calibrate\",\"source\":\"current_in\"}}")]
    NeedsOffset,
    #[error(
        "the {path} output has no line of its own: {{\"cmd\":\"calibrate\",\"dac\":\"{path}\"}} comes first"
    )]
    NeedsLine { path: &'static str },
    #[error("a power profile is running")]
    ProfileRuns,
    #[error("no power profile to read")]
    NoProfile,
    #[error("{command}: change it {how}")]
    Elsewhere {
        command: &'static str,
        how: &'static str,
    },
    #[error("no sensor is emulated: start one with {{\"cmd\":\"sensor_start\"}}")]
    NoSensor,
    #[error("sda and scl must differ")]
    SameSensorPins,
    #[error("{key} is not a value of the {model}")]
    UnknownValue { key: String, model: &'static str },
    #[error("the sentences take {needed} bit/s at this rate, more than {baud} baud")]
    GpsRate { needed: u64, baud: u32 },
    #[error("sig_policy: only the USB console can loosen `{policy}`")]
    Loosens { policy: &'static str },
    #[error("sig_policy: this firmware has no keys to check signatures with")]
    NoKeys,
    #[error("identity_wipe: change it on the device, at its USB console")]
    NoWipe,
    #[error("cloud_set: this firmware connects over TLS only")]
    PlainCloud,
    #[error("speedtest: only through a tunnel")]
    TunnelOnly,
    #[error("busy: {target} update from {holder} is in progress")]
    Updating {
        target: &'static str,
        holder: String,
    },
    #[error("no update is {state}")]
    NoUpdate { state: &'static str },
    #[error("size out of range: this takes at most {limit} bytes")]
    ImageTooLarge { limit: u64 },
    #[error("locked: `{command}` is not open to the LAN")]
    Locked { command: String },
    #[error("busy: a cloud job holds this pod ({holder}, {left_s} s left)")]
    Leased { holder: String, left_s: u64 },
    #[error("forbidden: `{command}` needs tier {tier}, this tunnel has {allowed}")]
    Forbidden {
        command: String,
        tier: u8,
        allowed: u8,
    },
    #[error("safe mode: `{command}` is off after repeated crashes at boot")]
    SafeMode { command: String },
    #[error("uart busy")]
    UartBusy,
    #[error("no uart session is open")]
    NoUart,
    #[error("rx and tx must differ")]
    SameUartPins,
    #[error("no capture to read: there was none, or a newer one or an upload took its place")]
    NothingCaptured,
    #[error("offset lies beyond the {samples} samples of the capture")]
    BeyondCapture { samples: u64 },
    #[error("nothing was uploaded")]
    NothingUploaded,
    #[error("{samples} samples were asked for, {uploaded} were uploaded")]
    BeyondUpload { samples: u64, uploaded: u64 },
    #[error("the upload stalled: no byte for {seconds} s")]
    UploadStalled { seconds: u64 },
    #[error("ua out of range: want 4000 or {min_ua}..{max_ua}")]
    CurrentRange { min_ua: i64, max_ua: i64 },
    #[error("CAN is disabled: configure it first")]
    CanDisabled,
    #[error("CAN cannot do {bitrate} bit/s")]
    CanBitrate { bitrate: u64 },
    #[error("the CAN responder has {limit} rules, which is all it can have")]
    CanRules { limit: usize },
    #[error("bad {field}: want a list of at most 8 bytes")]
    CanData { field: &'static str },
}

/// Megabytes with all digits: a size over a limit must not be rounded to the limit.
fn megabytes(bytes: &u64) -> String {
    let (whole, rest) = (bytes / 1_000_000, bytes % 1_000_000);
    let text = format!("{whole}.{rest:06}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

impl Refuse {
    /// A reading in volts that does not match the output it belongs to.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "float to integer casts saturate"
    )]
    pub(crate) fn far(read_v: f64, expected_v: f64) -> Self {
        Self::FarOff {
            read_mv: (read_v * 1e3).round() as i64,
            expected_mv: (expected_v * 1e3).round() as i64,
        }
    }
}
