//! Configuration of a simulated pod: its board, what is wired to it, and what goes wrong.

use pod_protocol::LA_SAMPLES_MAX;
use pod_protocol::connection::TLS_PORT;

use super::{AnalogSource, Board, Fault, Firmware, Playback, RailConfig, TargetConfig};

/// Samples in one packet of a real pod.
pub const REAL_PACKET_SAMPLES: u32 = 256;

/// Maximum number of samples in one packet, so that its line stays within the limit of readers.
pub const PACKET_SAMPLES_MAX: u32 = 16_384;

/// A simulated pod and what is connected to it.
#[derive(Debug, Clone)]
pub struct SimConfig {
    /// The source of its identity and noise.
    pub seed: u64,
    /// The board.
    pub board: Board,
    /// Whether the DAC plays waveforms. If not, it only holds DC levels.
    pub ac_dac: bool,
    /// The rails of eFuse 1 (internal 5 V) and eFuse 2 (external supply).
    pub rails: [RailConfig; 2],
    /// What drives the front connector.
    pub ext: AnalogSource,
    /// What drives the 4-20 mA input, in volts across its sense resistor.
    pub current_in: AnalogSource,
    /// What the target drives on the logic-analyzer channels.
    pub playback: Option<Playback>,
    /// LA bank voltage selected at start, in mV; `None` leaves it to the client, as real pods do.
    pub la_voltage_mv: Option<u16>,
    /// Channels wired together, in pairs: what the pod drives on one appears on the other.
    pub jumpers: Vec<(u8, u8)>,
    /// The channel wired to the target's reset line, which idles high.
    pub nrst_la: Option<u8>,
    /// Channels that a NOR flash is wired to: clock, output, input and select in the pod's terms.
    pub spi_flash: Option<[u8; 4]>,
    /// The simulated microcontroller on the bench, if there is one. Its board's current replaces
    /// the configured current of its rail.
    pub target: Option<TargetConfig>,
    /// Maximum number of samples in a packet, at most [`PACKET_SAMPLES_MAX`].
    pub packet_samples: u32,
    /// Samples that a capture which is sent while it is taken may be behind, before it loses some.
    pub stream_samples: u64,
    /// The firmware version that it announces.
    pub firmware: Firmware,
    /// What goes wrong, counted from its start.
    pub faults: Vec<Fault>,
    /// Size of the firmware flash in KiB.
    pub flash_kb: u16,
    /// Ed25519 public keys that may sign an update.
    pub update_keys: Vec<[u8; 32]>,
    /// Port of its TLS listener, which it reports.
    pub tls_port: u16,
}

impl Default for SimConfig {
    fn default() -> Self {
        Self {
            seed: 1,
            board: Board::V3,
            ac_dac: true,
            rails: [RailConfig::internal(), RailConfig::external()],
            ext: AnalogSource::idle(),
            current_in: AnalogSource::open_current_input(),
            playback: None,
            la_voltage_mv: None,
            jumpers: Vec::new(),
            nrst_la: None,
            spi_flash: None,
            target: None,
            packet_samples: REAL_PACKET_SAMPLES,
            stream_samples: LA_SAMPLES_MAX,
            firmware: Firmware::CURRENT,
            faults: Vec::new(),
            flash_kb: 2048,
            update_keys: Vec::new(),
            tls_port: TLS_PORT,
        }
    }
}
