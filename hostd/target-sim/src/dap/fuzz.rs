//! An entry for fuzzers: any bytes become packets for a probe on a running target.

use super::Probe;
use crate::chip::{Part, STM32F030R8, STM32F446RE};
use crate::firmware::{demo_elf, load_elf};
use crate::target::{BareBoard, Target};

/// How long a target may run for one input, in nanoseconds.
const DURATION_NS_MAX: u64 = 1_000_000_000;

/// Splits `data` into packets, each preceded by its length in two bytes, as pods frame them; for a target of each
/// family.
///
/// # Panics
/// If an answer breaks the rules: it is empty, too long, or answers another command. Nothing else may
/// panic.
pub fn packets(data: &[u8]) {
    for part in [STM32F030R8, STM32F446RE] {
        packets_to(part, data);
    }
}

fn packets_to(part: Part, data: &[u8]) {
    let mut target = Target::new(part);
    // An image that cannot be loaded leaves an erased part, which is fine here.
    let _ = load_elf(target.chip(), demo_elf(&part));
    target.set_power(true, &mut BareBoard);
    let mut probe = Probe::new(256, 1);
    let mut response = Vec::new();
    let mut rest = data;
    while let Some(([low, high], tail)) = rest.split_first_chunk() {
        let length = usize::from(u16::from_le_bytes([*low, *high])).min(tail.len());
        let (packet, tail) = tail.split_at(length);
        rest = tail;
        probe.process(&mut target, &mut BareBoard, packet, &mut response);
        assert!(!response.is_empty() && response.len() <= probe.packet_bytes());
        assert!(response[0] == 0xff || packet.first() == Some(&response[0]));
        if target.now_ns() > DURATION_NS_MAX {
            return;
        }
    }
}
