//! The bits that reach a simulated target, through a probe that hears early and one that does not.

use target_sim::chip::{STM32F030R8, STM32F446RE};
use target_sim::target::{BareBoard, Target};

use super::word;
use crate::swd::{Bit, Swd, Wire};
use crate::*;

/// A wire to a target. The probe hears `LEAD` clocks early, so it cannot know the last bit of a transfer.
struct Bench<const LEAD: usize> {
    target: Target,
    hz: u32,
    transfers: usize,
}

impl<const LEAD: usize> Wire for Bench<LEAD> {
    const LEAD: usize = LEAD;

    fn connect(&mut self) -> Result<(), PortError> {
        Ok(())
    }

    fn disconnect(&mut self) -> Result<(), PortError> {
        Ok(())
    }

    fn set_clock(&mut self, hz: u32) -> Result<u32, PortError> {
        self.hz = hz;
        Ok(hz)
    }

    fn clock(&mut self, bits: &[Bit]) -> Result<Vec<bool>, PortError> {
        self.transfers += 1;
        let mut heard = Vec::new();
        for bit in bits {
            heard.push(match bit {
                Bit::Out(level) => {
                    self.target.swd_clock_out(*level);
                    *level
                }
                Bit::In => self.target.swd_clock_in(),
            });
        }
        let until = self.target.now_ns() + bits.len() as u64 * 1_000_000_000 / u64::from(self.hz);
        self.target.run_until(until, &mut BareBoard);
        heard.rotate_left(LEAD);
        Ok(heard)
    }

    fn set_reset(&mut self, is_held: bool) -> Result<(), PortError> {
        self.target.set_reset_pin(is_held, &mut BareBoard);
        Ok(())
    }
}

fn front<const LEAD: usize>(part: target_sim::chip::Part) -> Front<Swd<Bench<LEAD>>> {
    let mut target = Target::new(part);
    target.set_power(true, &mut BareBoard);
    let wire = Bench {
        target,
        hz: 1_000_000,
        transfers: 0,
    };
    Front::new(Swd::new(wire), "Test")
}

/// From JTAG to SWD: line reset, the code of the switch, line reset, idle.
const SWITCH: &[u8] = &[
    0x12, 136, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x9E, 0xE7, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
    0xFF, 0xFF, 0x00,
];

const POWER: u32 = 1 << 28 | 1 << 30;
const RAM: u32 = 0x2000_0000;
const FLASH: u32 = 0x0800_0000;

/// The flash controller of the STM32F0: keys, control, and bits of the latter.
const KEYR: u32 = 0x4002_2004;
const KEYS: [u32; 2] = [0x4567_0123, 0xCDEF_89AB];
const CR: u32 = 0x4002_2010;
const PROGRAMS: u32 = 1;
const ERASES_ALL: u32 = 1 << 2;
const STARTS: u32 = 1 << 6;

fn transfer(accesses: &[(u8, Option<u32>)]) -> Vec<u8> {
    let mut packet = vec![0x05, 0, u8::try_from(accesses.len()).unwrap()];
    for (byte, data) in accesses {
        packet.push(*byte);
        packet.extend(data.iter().flat_map(|data| word(*data)));
    }
    packet
}

/// Requests, by their bits: DP or AP, write or read, address.
const READ_ID: u8 = 0x02;
const ABORT: u8 = 0x00;
const CONTROL: u8 = 0x04;
const READ_CONTROL: u8 = 0x06;
const SELECT: u8 = 0x08;
const CSW: u8 = 0x01;
const TAR: u8 = 0x05;
const DRW: u8 = 0x0D;
const READ_DRW: u8 = 0x0F;
const READ_BUFFER: u8 = 0x0E;

impl<const LEAD: usize> Front<Swd<Bench<LEAD>>> {
    fn done(&mut self, packet: &[u8]) -> Vec<u8> {
        self.answer(packet).unwrap()
    }

    fn transfers(&mut self) -> usize {
        self.port.wire().transfers
    }

    /// In touch with the target, with word accesses that count up.
    fn ready(&mut self) {
        self.done(&[0x02, 1]);
        self.done(&[0x04, 0, 100, 0, 0, 0]);
        self.done(SWITCH);
        let set = [
            (READ_ID, None),
            (ABORT, Some(0x1E)),
            (SELECT, Some(0)),
            (CONTROL, Some(POWER)),
            (READ_CONTROL, None),
            (CSW, Some(0x2300_0012)),
        ];
        let told = self.done(&transfer(&set));
        assert_eq!(told[..3], [0x05, 6, 1]);
        // The detection of overruns is not shown.
        assert_eq!(told[7..], word(POWER | POWER << 1));
    }
}

fn memory<const LEAD: usize>() {
    for (part, id) in [(STM32F030R8, 0x0BB1_1477), (STM32F446RE, 0x2BA0_1477)] {
        let mut front = front::<LEAD>(part);
        assert_eq!(
            front.done(&transfer(&[(READ_ID, None)])),
            [0x05, 0, 7],
            "not connected"
        );
        front.done(&[0x02, 1]);
        assert_eq!(
            front.done(&transfer(&[(READ_ID, None)])),
            [0x05, 0, 7],
            "still JTAG"
        );
        front.ready();
        let told = front.done(&transfer(&[(READ_ID, None)]));
        assert_eq!(told, [&[0x05, 1, 1][..], &word(id)].concat());

        let data: Vec<u32> = (0..250).map(|number| number * 0x0101_0101).collect();
        let bytes: Vec<u8> = data.iter().flat_map(|data| word(*data)).collect();
        let before = front.transfers();
        front.done(&transfer(&[(TAR, Some(RAM))]));
        let block = [&[0x06, 0, 250, 0, DRW][..], &bytes].concat();
        assert_eq!(front.done(&block), [0x06, 250, 0, 1]);
        let told = front.done(&transfer(&[
            (TAR, Some(RAM)),
            (READ_DRW, None),
            (READ_DRW, None),
            (READ_CONTROL, None),
            (READ_DRW, None),
        ]));
        let expected = [data[0], data[1], POWER | POWER << 1, data[2]];
        assert_eq!(told[..3], [0x05, 5, 1]);
        assert_eq!(told[3..], expected.map(word).concat());
        front.done(&transfer(&[(TAR, Some(RAM))]));
        let told = front.done(&[0x06, 0, 250, 0, READ_DRW]);
        assert_eq!(told[..4], [0x06, 250, 0, 1]);
        assert!(told[4..] == bytes);
        // Hundreds of accesses, and few transfers to the probe.
        assert!(
            front.transfers() - before <= 8,
            "{}",
            front.transfers() - before
        );
    }
}

#[test]
fn memory_through_a_probe_that_hears_early() {
    memory::<1>();
}

#[test]
fn memory_through_a_probe_that_does_not() {
    memory::<0>();
}

#[test]
fn a_fault_stays_until_it_is_cleared() {
    let mut front = front::<1>(STM32F030R8);
    front.ready();
    // Nothing is there; the packet ends with the access before, and nothing of what follows is done.
    let nowhere = [
        (TAR, Some(0x6000_0000)),
        (READ_DRW, None),
        (TAR, Some(RAM)),
        (DRW, Some(7)),
    ];
    assert_eq!(front.done(&transfer(&nowhere)), [0x05, 1, 4]);
    assert_eq!(front.done(&transfer(&[(TAR, Some(RAM))])), [0x05, 0, 4]);
    // The debugger sees why, and not what this side added.
    let told = front.done(&transfer(&[(READ_CONTROL, None)]));
    assert_eq!(
        told,
        [&[0x05, 1, 1][..], &word(POWER | POWER << 1 | 1 << 5)].concat()
    );
    // Behind an access that is refused no abort is carried out.
    let hidden = [(READ_BUFFER, None), (ABORT, Some(0x1E))];
    assert_eq!(front.done(&transfer(&hidden)), [0x05, 0, 4]);
    assert_eq!(front.done(&transfer(&[(TAR, Some(RAM))])), [0x05, 0, 4]);
    assert_eq!(front.done(&[0x08, 0, 0x1E, 0, 0, 0]), [0x08, 0]);
    let told = front.done(&transfer(&[
        (TAR, Some(RAM)),
        (DRW, Some(7)),
        (READ_CONTROL, None),
    ]));
    assert_eq!(
        told,
        [&[0x05, 3, 1][..], &word(POWER | POWER << 1)].concat()
    );
}

#[test]
fn a_fault_before_the_target_has_power_leaves_the_line_in_step() {
    let mut front = front::<1>(STM32F030R8);
    front.done(&[0x02, 1]);
    front.done(SWITCH);
    let told = front.done(&transfer(&[(READ_ID, None), (READ_DRW, None)]));
    assert_eq!(told[..3], [0x05, 1, 4]);
    let told = front.done(&transfer(&[(READ_CONTROL, None)]));
    assert_eq!(told, [&[0x05, 1, 1][..], &word(1 << 5)].concat());
    front.ready();
}

#[test]
fn a_busy_target_is_asked_again() {
    let mut front = front::<1>(STM32F030R8);
    front.ready();
    // Unlocked, to be programmed by half words: each keeps the bus for longer than the next one takes on the wire.
    for (address, data) in [(KEYR, KEYS[0]), (KEYR, KEYS[1]), (CR, PROGRAMS)] {
        let told = front.done(&transfer(&[(TAR, Some(address)), (DRW, Some(data))]));
        assert_eq!(told, [0x05, 2, 1], "{address:#x}");
    }
    front.done(&transfer(&[(CSW, Some(0x2300_0011)), (TAR, Some(FLASH))]));
    let halves: Vec<u32> = (0..16).map(|number| 0x1001 * number).collect();
    let bytes = halves.iter().flat_map(|half| word(half << 16 | half));
    let block = [&[0x06, 0, 16, 0, DRW][..], &bytes.collect::<Vec<u8>>()].concat();
    let before = front.transfers();
    assert_eq!(front.done(&block), [0x06, 16, 0, 1]);
    let tries = front.transfers() - before;
    assert!(tries > 8, "it was never busy: {tries}");
    front.done(&transfer(&[(CSW, Some(0x2300_0012)), (TAR, Some(FLASH))]));
    let told = front.done(&[0x06, 0, 8, 0, READ_DRW]);
    let words = halves
        .chunks(2)
        .flat_map(|half| word(half[1] << 16 | half[0]));
    assert_eq!(told[4..], words.collect::<Vec<u8>>());
}

#[test]
fn a_target_that_stays_busy_is_told_so() {
    let mut front = front::<1>(STM32F030R8);
    front.ready();
    front.done(&[0x04, 0, 0, 0, 0, 0]);
    for (address, data) in [
        (KEYR, KEYS[0]),
        (KEYR, KEYS[1]),
        (CR, ERASES_ALL),
        (CR, ERASES_ALL | STARTS),
    ] {
        let told = front.done(&transfer(&[(TAR, Some(address)), (DRW, Some(data))]));
        assert_eq!(told, [0x05, 2, 1], "{address:#x}");
    }
    let told = front.done(&transfer(&[
        (TAR, Some(FLASH)),
        (DRW, Some(0)),
        (READ_BUFFER, None),
    ]));
    assert_eq!(told, [0x05, 2, 2]);
    // It is in step all the same.
    let told = front.done(&transfer(&[(READ_ID, None), (READ_CONTROL, None)]));
    assert_eq!(told[..3], [0x05, 2, 1]);
}

#[test]
fn a_target_without_power_is_silent() {
    let mut front = front::<1>(STM32F030R8);
    front.ready();
    front.port.wire().target.set_power(false, &mut BareBoard);
    assert_eq!(front.done(&transfer(&[(READ_ID, None)])), [0x05, 0, 7]);
    front.port.wire().target.set_power(true, &mut BareBoard);
    front.ready();
}
