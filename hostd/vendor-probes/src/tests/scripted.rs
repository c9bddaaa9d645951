//! What the front makes of packets, and of what a port answers.

use super::word;
use crate::*;

/// A port that answers as it was told, and remembers what it was asked for.
#[derive(Default)]
struct Script {
    /// What accesses read, the last one first; nothing more is acknowledged once they run out.
    reads: Vec<u32>,
    /// The acknowledgement after that.
    then: Option<Ack>,
    error: Option<PortError>,
    asked: Vec<String>,
}

impl Script {
    fn say(&mut self, what: String) -> Result<(), PortError> {
        self.asked.push(what);
        self.error.clone().map_or(Ok(()), Err)
    }
}

impl Port for &mut Script {
    fn connect(&mut self) -> Result<(), PortError> {
        self.say("connect".to_owned())
    }

    fn disconnect(&mut self) -> Result<(), PortError> {
        self.say("disconnect".to_owned())
    }

    fn set_clock(&mut self, hz: u32) -> Result<(), PortError> {
        self.say(format!("clock {hz}"))
    }

    fn configure(&mut self, idle_cycles: u8, wait_retries: u16) {
        self.asked
            .push(format!("configure {idle_cycles} {wait_retries}"));
    }

    fn sequence(&mut self, bits: &[bool]) -> Result<(), PortError> {
        let ones = bits.iter().filter(|bit| **bit).count();
        self.say(format!("{} bits with {ones} ones", bits.len()))
    }

    fn access(&mut self, accesses: &[Access]) -> Result<Accessed, PortError> {
        self.say(format!("{} accesses", accesses.len()))?;
        let mut accessed = Accessed {
            done: 0,
            ack: Ack::Ok,
            values: Vec::new(),
        };
        for access in accesses {
            if access.is_read {
                let Some(value) = self.reads.pop() else {
                    accessed.ack = self.then.unwrap_or(Ack::Silence);
                    break;
                };
                accessed.values.push(value);
            }
            accessed.done += 1;
        }
        Ok(accessed)
    }

    fn set_reset(&mut self, is_held: bool) -> Result<(), PortError> {
        self.say(format!("reset {is_held}"))
    }
}

/// The answers to packets, and what the port was asked for.
fn answers(mut script: Script, packets: &[&[u8]]) -> (Vec<Vec<u8>>, Vec<String>) {
    let mut front = Front::new(&mut script, "Test");
    let answers = packets.iter().map(|packet| front.answer(packet).unwrap());
    let answers = answers.collect();
    (answers, script.asked)
}

const CONNECT: &[u8] = &[0x02, 1];

#[test]
fn it_says_what_it_is() {
    let told = |id| answers(Script::default(), &[&[0x00, id]]).0.remove(0);
    assert_eq!(told(0x02), b"\x00\x05Test\0");
    assert_eq!(told(0x04), b"\x00\x061.1.0\0");
    assert_eq!(told(0xF0), [0, 1, 1]);
    assert_eq!(told(0xFE), [0, 1, PACKETS]);
    assert_eq!(told(0xFF), [0, 2, 0x00, 0x04]);
    assert_eq!(told(0x55), [0, 0]);
}

#[test]
fn what_is_no_command_is_invalid() {
    // JTAG, `DAP_SWD_Sequence`, commands of vendors, and nothing at all.
    for packet in [&[][..], &[0x14], &[0x1D, 1, 0x88], &[0x7F, 1], &[0x80]] {
        assert_eq!(answers(Script::default(), &[packet]).0, [[0xFF]]);
    }
}

#[test]
fn commands_that_are_cut_off_are_errors() {
    for packet in [
        &[0x04, 0, 1][..],
        &[0x08, 0, 1, 2, 3],
        &[0x09, 1],
        &[0x10, 0x80, 0x80, 0, 0, 0],
        &[0x11, 1, 2, 3],
        &[0x11, 0, 0, 0, 0],
        &[0x12],
        &[0x12, 9, 0xFF],
        &[0x12, 0, 0xFF],
        &[0x13],
        &[0x13, 0x04],
    ] {
        let (answers, asked) = answers(Script::default(), &[CONNECT, packet]);
        assert_eq!(answers[1], [packet[0], 0xFF], "{packet:x?}");
        assert_eq!(asked, ["connect"], "{packet:x?}");
    }
    assert_eq!(
        answers(Script::default(), &[&[0x02, 2]]).0,
        [[0x02, 0]],
        "JTAG"
    );
}

#[test]
fn settings_reach_the_port() {
    let packets: [&[u8]; 8] = [
        CONNECT,
        &[0x11, 0x40, 0x42, 0x0F, 0],
        &[0x04, 2, 100, 0, 0, 0],
        &[
            0x12, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
            0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
            0xFF, 0xFF, 0xFF, 0xFF, 1,
        ],
        &[0x10, 0, 0x80, 0, 0, 0, 0],
        &[0x10, 0, 0x01, 0, 0, 0, 0],
        &[0x08, 0, 0x1E, 0, 0, 0],
        &[0x03],
    ];
    let (answers, asked) = answers(Script::default(), &packets);
    let expected: [&[u8]; 8] = [
        &[0x02, 1],
        &[0x11, 0],
        &[0x04, 0],
        &[0x12, 0],
        &[0x10, 0],
        &[0x10, 0],
        &[0x08, 0],
        &[0x03, 0],
    ];
    assert_eq!(answers, expected);
    assert_eq!(
        asked,
        [
            "connect",
            "clock 1000000",
            "configure 2 100",
            "256 bits with 249 ones",
            "reset true",
            "1 accesses",
            // Whoever leaves lets go of the reset line.
            "reset false",
            "disconnect",
        ]
    );
}

#[test]
fn accesses_of_a_packet_are_made_together() {
    let script = Script {
        reads: vec![3, 2, 1],
        ..Script::default()
    };
    let packet = [&[0x05, 0, 4, 0x02, 0x0F, 0x08][..], &word(7), &[0x06]].concat();
    let (answers, asked) = answers(script, &[CONNECT, &packet]);
    assert_eq!(
        answers[1],
        [&[0x05, 4, 1][..], &word(1), &word(2), &word(3)].concat()
    );
    assert_eq!(asked, ["connect", "4 accesses"]);
}

#[test]
fn a_refused_access_ends_a_packet() {
    for (ack, byte) in [
        (Ack::Wait, 2),
        (Ack::Fault, 4),
        (Ack::Silence, 7),
        (Ack::Broken, 8),
    ] {
        let script = || Script {
            reads: vec![1],
            then: Some(ack),
            ..Script::default()
        };
        let (told, _) = answers(script(), &[CONNECT, &[0x05, 0, 3, 0x02, 0x06, 0x06]]);
        assert_eq!(told[1], [&[0x05, 1, byte][..], &word(1)].concat());
        let (told, _) = answers(script(), &[CONNECT, &[0x06, 0, 3, 0, 0x0F]]);
        assert_eq!(told[1], [&[0x06, 1, 0, byte][..], &word(1)].concat());
    }
}

#[test]
fn a_value_is_waited_for() {
    let mask = [&[0x05, 0, 1, 0x20 | 0x10][..], &word(0xFF)].concat();
    let wait = [&[0x05, 0, 2, 0x10 | 0x06][..], &word(0x42), &[0x02]].concat();
    let retries = [0x04, 0, 0, 0, 2, 0];
    let wanting = |reads: &[u32]| {
        let script = Script {
            reads: reads.iter().rev().copied().collect(),
            ..Script::default()
        };
        answers(script, &[CONNECT, &retries, &mask, &wait]).0
    };
    // Under the mask, with two more tries, and the packet goes on behind it.
    let told = wanting(&[1, 2, 0x142, 9]);
    assert_eq!(told[2], [0x05, 1, 1]);
    assert_eq!(told[3], [&[0x05, 2, 1][..], &word(9)].concat());
    // Not found: the bit says so, and what follows is left.
    assert_eq!(wanting(&[1, 2, 3, 9])[3], [0x05, 1, 0x11]);
    // The target fell silent meanwhile.
    assert_eq!(wanting(&[1])[3], [0x05, 0, 7]);
}

#[test]
fn answers_and_packets_stay_within_bounds() {
    let script = || Script {
        reads: vec![7; 4096],
        ..Script::default()
    };
    let reads = [&[0x05, 0, 255][..], &[0x02; 255]].concat();
    let (told, _) = answers(script(), &[CONNECT, &reads]);
    assert_eq!((told[1].len(), told[1][1]), (3 + 4 * 255, 255));
    let (told, _) = answers(script(), &[CONNECT, &[0x06, 0, 0xFF, 0xFF, 0x0F]]);
    assert_eq!(
        (told[1].len(), &told[1][..4]),
        (PACKET_BYTES, &[0x06, 255, 0, 1][..])
    );
    // Cut off: as far as it goes.
    let cut = [&[0x06, 0, 3, 0, 0x0D][..], &word(1), &word(2), &[3]].concat();
    assert_eq!(answers(script(), &[CONNECT, &cut]).0[1], [0x06, 2, 0, 1]);
    assert_eq!(
        answers(script(), &[CONNECT, &[0x05, 0, 9, 0x01, 1]]).0[1],
        [0x05, 0, 0]
    );
    assert_eq!(answers(script(), &[CONNECT, &[0x06]]).0[1], [0x06, 0, 0, 0]);
}

#[test]
fn nothing_goes_to_the_wires_before_they_are_connected() {
    let packets: [&[u8]; 4] = [
        &[0x05, 0, 1, 0x02],
        &[0x06, 0, 1, 0, 0x0F],
        &[0x12, 8, 0xFF],
        &[0x08, 0, 0, 0, 0, 0],
    ];
    let (answers, asked) = answers(Script::default(), &packets);
    let expected: [&[u8]; 4] = [&[0x05, 0, 7], &[0x06, 0, 0, 7], &[0x12, 0], &[0x08, 0xFF]];
    assert_eq!(answers, expected);
    assert!(asked.is_empty(), "{asked:?}");
}

#[test]
fn what_a_port_cannot_do_is_an_error_and_a_lost_one_the_end() {
    let packets: [(&[u8], &[u8]); 6] = [
        (CONNECT, &[0x02, 0]),
        (&[0x11, 1, 0, 0, 0], &[0x11, 0xFF]),
        (&[0x10, 0, 0x80, 0, 0, 0, 0], &[0x10, 0x80]),
        (&[0x03], &[0x03, 0xFF]),
        (&[0x05, 0, 1, 0x02], &[0x05, 0, 8]),
        (&[0x12, 8, 0xFF], &[0x12, 0xFF]),
    ];
    for (packet, refused) in packets {
        let mut script = Script::default();
        let mut front = Front::new(&mut script, "Test");
        front.answer(CONNECT).unwrap();
        front.port.error = Some(PortError::Refused("no".to_owned()));
        assert_eq!(front.answer(packet).unwrap(), refused);
        front.port.error = Some(PortError::Lost("gone".to_owned()));
        assert_eq!(front.answer(packet).unwrap_err(), "gone");
    }
}

#[test]
fn any_packets() {
    const ROUNDS: usize = 20_000;
    let mut rng = fastrand::Rng::with_seed(0x71a6);
    let packets: [&[u8]; 7] = [
        &[0x02, 1],
        &[0x04, 0, 3, 0, 2, 0],
        &[0x05, 0, 3, 0x02, 0x16, 1, 0, 0, 0, 0x0F],
        &[0x05, 0, 2, 0x30, 1, 2, 3, 4, 0x0D, 1, 2, 3, 4],
        &[0x06, 0, 255, 0, 0x0F],
        &[0x06, 0, 2, 0, 0x0D, 1, 2, 3, 4, 5, 6, 7, 8],
        &[0x12, 16, 0x9E, 0xE7],
    ];
    for _ in 0..ROUNDS {
        let mut bytes = Vec::new();
        for _ in 0..rng.usize(1..6) {
            let packet = packets[rng.usize(..packets.len())];
            let length = u16::try_from(packet.len()).unwrap();
            bytes.extend(length.to_le_bytes());
            bytes.extend(packet);
        }
        for _ in 0..rng.usize(..4) {
            let at = rng.usize(..bytes.len());
            bytes[at] = rng.u8(..);
        }
        let answers = (0..bytes.len()).map(|_| rng.u8(..6) * rng.u8(..2));
        let answers: Vec<u8> = answers.collect();
        bytes.extend(answers);
        fuzzing::packets(&bytes);
    }
}
