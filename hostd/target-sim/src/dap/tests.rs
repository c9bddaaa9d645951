//! Packets as debuggers send them, to a whole target; and packets that nobody should send.

use super::*;
use crate::chip::{FLASH_BASE, Part, SRAM_BASE, STM32F030R8, STM32F446RE};
use crate::target::BareBoard;

const DHCSR: u32 = 0xe000_edf0;
const DCRSR: u32 = 0xe000_edf4;
const DCRDR: u32 = 0xe000_edf8;
const DEMCR: u32 = 0xe000_edfc;
const AIRCR: u32 = 0xe000_ed0c;
const FPEC: u32 = 0x4002_2000;

/// A probe on a target, with the register accesses that debuggers build on.
struct Bench {
    probe: Probe,
    target: Target,
}

impl Bench {
    fn new() -> Self {
        Self::of(STM32F030R8)
    }

    fn of(part: Part) -> Self {
        let mut target = Target::new(part);
        target.set_power(true, &mut BareBoard);
        let probe = Probe::new(1024, 4);
        Self { probe, target }
    }

    /// A probe that is connected, switched to SWD and powered up, as debuggers begin.
    fn attached() -> Self {
        Self::attached_to(STM32F030R8, 0x0bb1_1477)
    }

    /// The same with another part, whose debug port identifies itself so.
    fn attached_to(part: Part, identification: u32) -> Self {
        let mut bench = Self::of(part);
        assert_eq!(bench.ask(&[CONNECT, 1]), [CONNECT, 1]);
        assert_eq!(
            bench.ask(&[SWJ_CLOCK, 0x40, 0x4b, 0x4c, 0]),
            [SWJ_CLOCK, OK]
        );
        bench.ask(&[TRANSFER_CONFIGURE, 0, 0xff, 0xff, 0, 0]);
        bench.select_swd();
        // Read DPIDR, power up, wait for both acknowledgements.
        let id = bench.ask(&[TRANSFER, 0, 1, 2]);
        assert_eq!(id[..3], [TRANSFER, 1, 1]);
        assert_eq!(id[3..], identification.to_le_bytes());
        bench.ask(&[TRANSFER, 0, 1, 4, 0, 0, 0, 0x50]);
        let status = bench.ask(&[TRANSFER, 0, 1, 6]);
        assert_eq!(status[3..], [0, 0, 0, 0xf0]);
        bench.ap_write(0, 0x2300_0012);
        bench
    }

    fn select_swd(&mut self) {
        let ones = [0xff; 7];
        self.ask(&[&[SWJ_SEQUENCE, 51][..], &ones].concat());
        self.ask(&[SWJ_SEQUENCE, 16, 0x9e, 0xe7]);
        self.ask(&[&[SWJ_SEQUENCE, 51][..], &ones].concat());
        self.ask(&[SWJ_SEQUENCE, 8, 0]);
    }

    fn ask(&mut self, request: &[u8]) -> Vec<u8> {
        let mut response = Vec::new();
        self.probe
            .process(&mut self.target, &mut BareBoard, request, &mut response);
        response
    }

    fn ap_write(&mut self, register: u8, value: u32) {
        let request = [&[TRANSFER, 0, 1, register | 1][..], &value.to_le_bytes()].concat();
        assert_eq!(self.ask(&request), [TRANSFER, 1, 1]);
    }

    fn write(&mut self, address: u32, value: u32) {
        self.ap_write(4, address);
        self.ap_write(0xc, value);
    }

    fn read(&mut self, address: u32) -> u32 {
        self.ap_write(4, address);
        let response = self.ask(&[TRANSFER, 0, 1, 0xc | 3]);
        assert_eq!(response[..3], [TRANSFER, 1, 1]);
        u32::from_le_bytes(response[3..].try_into().unwrap())
    }

    fn write_half(&mut self, address: u32, value: u32) {
        self.ap_write(0, 0x2300_0011);
        self.write(address, value << ((address & 2) * 8));
        self.ap_write(0, 0x2300_0012);
    }

    fn register(&mut self, number: u32) -> u32 {
        self.write(DCRSR, number);
        self.read(DCRDR)
    }

    fn set_register(&mut self, number: u32, value: u32) {
        self.write(DCRDR, value);
        self.write(DCRSR, number | 1 << 16);
    }

    fn halt(&mut self) {
        self.write(DHCSR, 0xa05f_0003);
    }

    fn unlock_flash(&mut self) {
        self.write(FPEC + 4, 0x4567_0123);
        self.write(FPEC + 4, 0xcdef_89ab);
    }

    fn wait_for_flash(&mut self) -> u32 {
        for _ in 0..100_000 {
            let status = self.read(FPEC + 0xc);
            if status & 1 == 0 {
                return status;
            }
        }
        panic!("the flash stays busy");
    }
}

#[test]
fn information_is_what_the_pod_gives() {
    let mut bench = Bench::new();
    assert_eq!(bench.ask(&[INFO, 0xf0]), [INFO, 1, 1]);
    assert_eq!(bench.ask(&[INFO, 0xfe]), [INFO, 1, 4]);
    assert_eq!(bench.ask(&[INFO, 0xff]), [INFO, 2, 0, 4]);
    assert_eq!(bench.ask(&[INFO, 4])[..3], [INFO, 6, b'1']);
    assert_eq!(bench.ask(&[INFO, 1]), [INFO, 0]);
    assert_eq!(bench.ask(&[INFO]), [INFO, 0]);
    assert_eq!(bench.ask(&[CONNECT, 2]), [CONNECT, 0]);
    assert_eq!(bench.ask(&[0x80, 1, 2]), [0xff]);
    assert_eq!(bench.ask(&[]), [0xff]);
    assert_eq!(bench.ask(&[SWJ_CLOCK, 1]), [SWJ_CLOCK, ERROR]);
    assert_eq!(bench.ask(&[RESET_TARGET]), [RESET_TARGET, OK, 0]);
}

#[test]
fn nobody_answers_without_power_connection_or_switching() {
    let mut bench = Bench::new();
    assert_eq!(bench.ask(&[TRANSFER, 0, 1, 2]), [TRANSFER, 0, 7]);
    bench.ask(&[CONNECT, 1]);
    assert_eq!(bench.ask(&[TRANSFER, 0, 1, 2]), [TRANSFER, 0, 7]);
    bench.target.set_power(false, &mut BareBoard);
    bench.select_swd();
    assert_eq!(bench.ask(&[TRANSFER, 0, 1, 2]), [TRANSFER, 0, 7]);
    bench.target.set_power(true, &mut BareBoard);
    bench.select_swd();
    assert_eq!(bench.ask(&[TRANSFER, 0, 1, 2])[2], 1);
}

#[test]
fn tools_find_out_what_it_is() {
    let mut bench = Bench::attached();
    assert_eq!(bench.read(0xe000_ed00), 0x410c_c200, "CPUID");
    assert_eq!(bench.read(0x4001_5800) & 0xfff, 0x440);
    assert_eq!(bench.read(0x1fff_f7cc) & 0xffff, 64);
    assert_eq!(bench.read(0xe00f_f000), 0xfff0_f003, "ROM table");
    let identity: Vec<u32> = (0..4).map(|n| bench.read(0xe00f_ffe0 + 4 * n)).collect();
    assert_eq!(identity, [0x40, 0x04, 0x0a, 0]);
    assert_eq!(bench.read(0xe000_eff4), 0xe0, "system control space");
    assert_eq!(
        bench.read(0xe000_2000) >> 4 & 15,
        4,
        "breakpoint comparators"
    );
}

#[test]
fn tools_find_out_that_another_is_a_cortex_m4() {
    let mut bench = Bench::attached_to(STM32F446RE, 0x2ba0_1477);
    assert_eq!(bench.read(0xe000_ed00), 0x410f_c241, "CPUID");
    assert_eq!(bench.read(0xe004_2000) & 0xfff, 0x421);
    assert_eq!(bench.read(0x1fff_7a20) >> 16, 512);
    let identity: Vec<u32> = (0..4).map(|n| bench.read(0xe00f_ffe0 + 4 * n)).collect();
    assert_eq!(identity, [0x21, 0x04, 0x0a, 0]);
    let entries: Vec<u32> = (0..7).map(|n| bench.read(0xe00f_f000 + 4 * n)).collect();
    assert_eq!(entries[3..], [0xfff0_1003, 0xfff4_1003, 0xfff4_2002, 0]);
    assert_eq!(bench.read(0xe000_2000) & 0xff0, 0x260, "comparators");
    assert_eq!(bench.read(0xe000_1000) >> 28, 4, "watchpoints");
    bench.halt();
    bench.set_register(0x40 + 31, 0x1234_5678);
    assert_eq!(bench.register(0x40 + 31), 0x1234_5678, "S31");
    bench.write(DEMCR, 1 << 24 | 1);
    assert_eq!(bench.read(DEMCR), 1 << 24 | 1);
    bench.target.set_power(false, &mut BareBoard);
    bench.target.set_power(true, &mut BareBoard);
    bench.select_swd();
    bench.ask(&[TRANSFER, 0, 1, 2]);
    bench.ask(&[TRANSFER, 0, 1, 4, 0, 0, 0, 0x50]);
    bench.ap_write(0, 0x2300_0012);
    assert_eq!(bench.read(DEMCR), 0, "forgotten without power");
}

#[test]
fn the_cortex_m0_stops_at_the_use_of_memory() {
    const CODE: u32 = FLASH_BASE + 0x100;
    const PLACE: u32 = 0x2000_0100;
    const DFSR: u32 = 0xe000_ed30;
    let mut bench = Bench::attached();
    assert_eq!(bench.read(0xe000_1000), 2 << 28, "watchpoints");
    // nop; str r0,[r1]; b to the first.
    let program = [0x00, 0xbf, 0x08, 0x60, 0xfc, 0xe7];
    bench.target.chip().flash_mut()[0x100..0x106].copy_from_slice(&program);
    bench.halt();
    for (register, value) in [(1, PLACE), (15, CODE), (16, 1 << 24)] {
        bench.set_register(register, value);
    }
    bench.write(DEMCR, 1 << 24);
    bench.write(0xe000_1030, PLACE);
    bench.write(0xe000_1038, 6);
    bench.write(DFSR, 0x1f);
    bench.write(DHCSR, 0xa05f_0001);
    let until_ns = bench.target.now_ns() + 1_000_000;
    bench.target.run_until(until_ns, &mut BareBoard);
    assert_ne!(bench.read(DHCSR) & 1 << 17, 0, "halted");
    assert_eq!(bench.register(15), CODE + 4);
    assert_eq!(bench.read(DFSR), 4, "DWTTRAP");
    assert_eq!(bench.read(0xe000_1038), 6 | 1 << 24);
    assert_eq!(bench.read(0xe000_1038), 6);
    // Switched off, it stops nowhere.
    bench.write(DEMCR, 0);
    bench.write(DHCSR, 0xa05f_0001);
    let until_ns = bench.target.now_ns() + 1_000_000;
    bench.target.run_until(until_ns, &mut BareBoard);
    assert_eq!(bench.read(DHCSR) & 1 << 17, 0, "it runs");
}

#[test]
fn an_erased_part_is_halted_out_of_lockup() {
    let mut bench = Bench::attached();
    bench.write(DHCSR, 0xa05f_0001);
    assert_ne!(bench.read(DHCSR) & 1 << 19, 0, "locked up");
    bench.halt();
    let status = bench.read(DHCSR);
    assert_eq!(status & (1 << 17 | 1 << 19), 1 << 17);
    assert_eq!(bench.register(15), 0xffff_fffe);
}

#[test]
fn the_reset_vector_can_be_caught() {
    let mut bench = Bench::attached();
    bench.target.chip().flash_mut()[..8].copy_from_slice(&[0, 0x10, 0, 0x20, 0x41, 0, 0, 8]);
    bench.halt();
    bench.read(DHCSR);
    assert_eq!(bench.read(DHCSR) & 1 << 25, 0);
    bench.write(DEMCR, 1);
    bench.write(AIRCR, 0x05fa_0004);
    let status = bench.read(DHCSR);
    assert_eq!(status & (1 << 25 | 1 << 17 | 3), 1 << 25 | 1 << 17 | 3);
    assert_eq!(bench.read(DHCSR) & 1 << 25, 0, "cleared by reading");
    assert_eq!(
        (bench.register(15), bench.register(13)),
        (0x0800_0040, 0x2000_1000)
    );
    assert_eq!(bench.read(0xe000_ed30) & 8, 8, "the reason");
}

#[test]
fn the_reset_pin_holds_and_connects_under_reset() {
    let mut bench = Bench::attached();
    bench.target.chip().flash_mut()[..8].copy_from_slice(&[0, 0x10, 0, 0x20, 0x41, 0, 0, 8]);
    assert_eq!(bench.ask(&[SWJ_PINS, 0, 0x80, 0, 0, 0, 0]), [SWJ_PINS, 0]);
    bench.write(DHCSR, 0xa05f_0001);
    bench.write(DEMCR, 1);
    assert_eq!(
        bench.ask(&[SWJ_PINS, 0x80, 0x80, 0, 0, 0, 0]),
        [SWJ_PINS, 0x80]
    );
    assert_ne!(
        bench.read(DHCSR) & 1 << 17,
        0,
        "halted before its first instruction"
    );
    assert_eq!(bench.register(15), 0x0800_0040);
}

#[test]
fn code_is_stepped_broken_and_run() {
    const CODE: u32 = FLASH_BASE + 0x100;
    let mut bench = Bench::attached();
    // movs r0,#1; movs r1,#2; adds r2,r0,r1; bkpt; b .
    let program = [0x01, 0x20, 0x02, 0x21, 0x42, 0x18, 0x00, 0xbe, 0xfe, 0xe7];
    bench.target.chip().flash_mut()[0x100..0x10a].copy_from_slice(&program);
    bench.halt();
    bench.set_register(15, CODE);
    bench.set_register(16, 1 << 24);
    bench.write(DHCSR, 0xa05f_000d);
    assert_eq!(bench.register(15), CODE + 2);
    assert_ne!(bench.read(DHCSR) & 1 << 17, 0, "halted after the step");
    bench.write(0xe000_2000, 3);
    bench.write(0xe000_2008, (CODE + 4) | 1 | 1 << 30);
    bench.write(DHCSR, 0xa05f_0001);
    assert_eq!(bench.register(15), CODE + 4, "comparator");
    assert_eq!(bench.read(0xe000_ed30) & 2, 2);
    bench.write(0xe000_2008, 0);
    bench.write(DHCSR, 0xa05f_0001);
    assert_eq!(bench.register(15), CODE + 6, "at the BKPT");
    assert_eq!(bench.register(2), 3);
    bench.set_register(15, CODE + 8);
    bench.write(DHCSR, 0xa05f_0001);
    let status = bench.read(DHCSR);
    assert_eq!(status & (1 << 17 | 1 << 24), 1 << 24, "running");
    bench.halt();
    assert_eq!(bench.register(15), CODE + 8);
}

#[test]
fn flash_is_erased_and_programmed_from_outside() {
    let mut bench = Bench::attached();
    bench.halt();
    bench.write_half(FLASH_BASE, 0x1234);
    assert_eq!(bench.read(FLASH_BASE), u32::MAX, "locked");
    bench.unlock_flash();
    bench.write(FPEC + 0x10, 1);
    bench.write_half(FLASH_BASE + 2, 0x1234);
    assert_eq!(bench.wait_for_flash() & 0x34, 0x20, "end of operation");
    assert_eq!(bench.read(FLASH_BASE), 0x1234_ffff);
    bench.write_half(FLASH_BASE + 2, 0x1111);
    assert_eq!(bench.wait_for_flash() & 0x14, 4, "not erased");
    bench.write(FPEC + 0xc, 0x34);
    bench.write(FPEC + 0x10, 2);
    bench.write(FPEC + 0x14, FLASH_BASE + 0x200);
    bench.write(FPEC + 0x10, 0x42);
    let before_ns = bench.target.now_ns();
    assert_eq!(bench.wait_for_flash() & 0x14, 0);
    assert!(
        bench.target.now_ns() - before_ns > 25_000_000,
        "an erase takes its time"
    );
    assert_eq!(bench.read(FLASH_BASE), u32::MAX);
}

#[test]
fn a_wrong_key_is_a_bus_error_and_locks_until_reset() {
    let mut bench = Bench::attached();
    bench.halt();
    bench.ap_write(4, FPEC + 4);
    let response = bench.ask(&[TRANSFER, 0, 1, 0xd, 1, 2, 3, 4]);
    assert_eq!(response, [TRANSFER, 0, 4]);
    assert_eq!(
        bench.ask(&[WRITE_ABORT, 0, 0x1e, 0, 0, 0]),
        [WRITE_ABORT, OK]
    );
    bench.ap_write(4, FPEC + 4);
    let response = bench.ask(&[TRANSFER, 0, 1, 0xd, 0x23, 0x01, 0x67, 0x45]);
    assert_eq!(response, [TRANSFER, 0, 4]);
}

#[test]
fn read_protection_hides_the_flash_and_giving_it_up_costs_it() {
    let mut bench = Bench::attached();
    bench.target.chip().flash_mut()[..4].copy_from_slice(&[1, 2, 3, 4]);
    bench.target.chip().protect_from_reading();
    bench.ap_write(4, FLASH_BASE);
    assert_eq!(bench.ask(&[TRANSFER, 0, 1, 0xf]), [TRANSFER, 0, 4]);
    bench.ask(&[WRITE_ABORT, 0, 0x1e, 0, 0, 0]);
    bench.halt();
    bench.unlock_flash();
    bench.write(FPEC + 8, 0x4567_0123);
    bench.write(FPEC + 8, 0xcdef_89ab);
    bench.write(FPEC + 0x10, 0x220);
    bench.write(FPEC + 0x10, 0x260);
    bench.wait_for_flash();
    bench.write(FPEC + 0x10, 0x210);
    bench.write_half(0x1fff_f800, 0xaa);
    bench.wait_for_flash();
    bench.write(FPEC + 0x10, 0x2200);
    assert_eq!(bench.read(FPEC + 0x1c) >> 1 & 3, 0, "loaded by the launch");
    assert_eq!(bench.read(FLASH_BASE), u32::MAX);
}

#[test]
fn blocks_move_words_and_are_cut_to_the_packet() {
    let mut bench = Bench::attached();
    bench.ap_write(4, SRAM_BASE);
    let words: Vec<u8> = (0..80u8).collect();
    let request = [&[TRANSFER_BLOCK, 0, 20, 0, 0xd][..], &words].concat();
    assert_eq!(bench.ask(&request), [TRANSFER_BLOCK, 20, 0, 1]);
    bench.ap_write(4, SRAM_BASE);
    let response = bench.ask(&[TRANSFER_BLOCK, 0, 20, 0, 0xf]);
    assert_eq!(response[..4], [TRANSFER_BLOCK, 20, 0, 1]);
    assert_eq!(response[4..], words);
    let response = bench.ask(&[TRANSFER_BLOCK, 0, 0xff, 0xff, 0xf]);
    assert_eq!(response[..4], [TRANSFER_BLOCK, 255, 0, 1]);
    assert_eq!(response.len(), 1024);
    // A truncated block is carried out as far as it goes.
    assert_eq!(
        bench.ask(&[TRANSFER_BLOCK, 0, 9, 0, 0xd, 1, 2, 3, 4, 5]),
        [TRANSFER_BLOCK, 1, 0, 1]
    );
    assert_eq!(
        bench.ask(&[TRANSFER_BLOCK, 0, 0, 0, 0xf]),
        [TRANSFER_BLOCK, 0, 0, 0]
    );
}

#[test]
fn values_are_matched_under_a_mask() {
    let mut bench = Bench::attached();
    bench.write(SRAM_BASE, 0x1234_5678);
    bench.ap_write(0, 0x2300_0002);
    bench.ap_write(4, SRAM_BASE);
    let mask = [TRANSFER, 0, 1, 0x10 | 0xd, 0xff, 0, 0, 0];
    assert_eq!(bench.ask(&mask), [TRANSFER, 1, 1]);
    let wanted = [TRANSFER, 0, 1, 0x10 | 0xf, 0x78, 0, 0, 0];
    assert_eq!(bench.ask(&wanted), [TRANSFER, 1, 1]);
    let other = [TRANSFER, 0, 2, 0x10 | 0xf, 0x79, 0, 0, 0, 2];
    assert_eq!(bench.ask(&other), [TRANSFER, 1, 0x11]);
}

#[test]
fn the_wire_can_be_moved_bit_by_bit() {
    let mut bench = Bench::attached();
    bench.select_swd();
    let response = bench.ask(&[SWD_SEQUENCE, 3, 8, 0xa5, 0x84, 0x80 | 34]);
    // Turnaround and acknowledgement, then data and parity.
    assert_eq!(response[..3], [SWD_SEQUENCE, OK, 0b0011]);
    assert_eq!(response[3..7], [0x77, 0x14, 0xb1, 0x0b]);
    assert_eq!(bench.ask(&[SWD_SEQUENCE, 1, 16, 0]), [SWD_SEQUENCE, ERROR]);
}

#[test]
fn time_passes_with_the_traffic() {
    let mut bench = Bench::attached();
    let before_ns = bench.target.now_ns();
    bench.ask(&[DELAY, 0xe8, 0x03]);
    assert_eq!(bench.target.now_ns() - before_ns, 1_000_000);
    bench.ask(&[SWJ_CLOCK, 0x40, 0x42, 0x0f, 0]);
    let before_ns = bench.target.now_ns();
    bench.read(SRAM_BASE);
    let passed_ns = bench.target.now_ns() - before_ns;
    assert!(
        (180_000..190_000).contains(&passed_ns),
        "four transfers at 1 MHz: {passed_ns}"
    );
}

#[test]
fn a_write_to_a_busy_flash_makes_the_next_access_wait() {
    let mut bench = Bench::attached();
    bench.halt();
    bench.unlock_flash();
    bench.write(FPEC + 0x10, 1);
    bench.ap_write(0, 0x2300_0011);
    bench.ap_write(4, FLASH_BASE);
    // With the fastest clock and no retries, the second write cannot be finished when the next access
    // comes.
    bench.ask(&[SWJ_CLOCK, 0xff, 0xff, 0xff, 0xff]);
    bench.ask(&[TRANSFER_CONFIGURE, 0, 0, 0, 0, 0]);
    let twice = [TRANSFER_BLOCK, 0, 2, 0, 0xd, 1, 0, 1, 0, 2, 0, 2, 0];
    let response = bench.ask(&twice);
    assert_eq!(response, [TRANSFER_BLOCK, 2, 0, 2]);
    bench.ask(&[TRANSFER_CONFIGURE, 0, 100, 0, 0, 0]);
    assert_eq!(bench.ask(&[TRANSFER, 0, 1, 3])[..3], [TRANSFER, 1, 1]);
    assert_eq!(bench.target.chip().flash()[..4], [1, 0, 2, 0]);
}

/// Random packets, some of them almost valid.
fn packets(seed: u64, count: u32) {
    let mut state = seed | 1;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        crate::word::low_word(state >> 16)
    };
    const COMMANDS: [u8; 12] = [0, 2, 4, 5, 5, 6, 6, 8, 0x10, 0x11, 0x12, 0x1d];
    let mut bench = Bench::attached();
    for _ in 0..count {
        let length = random() % 40;
        let mut packet: Vec<u8> = (0..length)
            .map(|_| crate::word::low_byte(random()))
            .collect();
        if let Some(first) = packet.first_mut().filter(|_| random() % 8 != 0) {
            *first = COMMANDS[(random() % 12) as usize];
        }
        match packet.as_mut_slice() {
            // Removes waits and slow clocks, which would only cost time.
            [SWJ_PINS, _, _, wait @ ..] => wait.fill(0),
            [SWJ_CLOCK, hz @ ..] => hz.fill(0xff),
            [TRANSFER_CONFIGURE, _, _, high, _, high_2, ..] => (*high, *high_2) = (0, 0),
            [DELAY, _, high, ..] => *high = 0,
            _ => {}
        }
        let response = bench.ask(&packet);
        assert!(!response.is_empty() && response.len() <= bench.probe.packet_bytes());
        assert!(response[0] == 0xff || response[0] == packet[0]);
        if random() % 8 == 0 {
            bench.ask(&[CONNECT, 1]);
            bench.select_swd();
            bench.ask(&[TRANSFER, 0, 3, 2, 0, 0x1e, 0, 0, 0, 4, 0, 0, 0, 0x50]);
        }
    }
}

#[test]
fn no_packet_breaks_the_probe() {
    for seed in 1..=8 {
        packets(seed * 0x9e37_79b9, 400);
    }
}

#[test]
fn the_entry_for_fuzzers_takes_anything() {
    let mut state = 0x0bad_cafe_dead_beefu64;
    for _ in 0..50 {
        let data: Vec<u8> = (0..300)
            .map(|place| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                // Mostly short packets.
                let byte = state.to_le_bytes()[6];
                if place % 16 == 1 { 0 } else { byte & 0x1f }
            })
            .collect();
        fuzz::packets(&data);
    }
}

#[test]
fn a_target_can_be_owned_by_any_thread() {
    fn is_send<T: Send>() {}
    is_send::<Target>();
    is_send::<Probe>();
}
