//! The system control block's settings: sleep, traps, vector table.

use crate::word::bit;

const NESTED_THREADS: u32 = 0;
const UNALIGNED_TRAP: u32 = 3;
const DIVISION_TRAP: u32 = 4;
const ALIGNED_FRAMES: u32 = 9;
const CONFIGURATION_MASK: u32 = 0x31b;
const CONTROL_MASK: u32 = 0b1_0110;
const VECTORS_MASK: u32 = 0xffff_ff80;

#[derive(Debug)]
pub(super) struct SystemControl {
    /// SCR.
    pub(super) control: u32,
    /// CCR.
    pub(super) configuration: u32,
    /// VTOR.
    pub(super) vectors: u32,
}

impl Default for SystemControl {
    fn default() -> Self {
        Self {
            control: 0,
            configuration: 1 << ALIGNED_FRAMES,
            vectors: 0,
        }
    }
}

impl SystemControl {
    pub(super) fn set_control(&mut self, value: u32) {
        self.control = value & CONTROL_MASK;
    }

    pub(super) fn configure(&mut self, value: u32) {
        self.configuration = value & CONFIGURATION_MASK;
    }

    pub(super) fn set_vectors(&mut self, value: u32) {
        self.vectors = value & VECTORS_MASK;
    }

    pub(super) fn allows_nested_threads(&self) -> bool {
        bit(self.configuration, NESTED_THREADS)
    }

    pub(super) fn traps_unaligned(&self) -> bool {
        bit(self.configuration, UNALIGNED_TRAP)
    }

    pub(super) fn traps_division(&self) -> bool {
        bit(self.configuration, DIVISION_TRAP)
    }

    pub(super) fn aligns_frames(&self) -> bool {
        bit(self.configuration, ALIGNED_FRAMES)
    }
}
