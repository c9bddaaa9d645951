//! A GDB as a text of packets, and what it does to a core. The real one is in the end-to-end tests.

use std::io;
use std::time::Duration;

use fastrand::Rng;

use super::*;
use crate::fuzz::Core;

/// What begins bytes that are sent as they are.
const RAW: &str = "raw:";

/// Says one packet after the other, each when the one before was answered.
struct Script<'a> {
    packets: std::slice::Iter<'a, &'a str>,
    heard: String,
}

fn packet(text: &str) -> Vec<u8> {
    let sum = text.bytes().fold(0_u8, u8::wrapping_add);
    format!("+${text}#{sum:02x}").into_bytes()
}

impl Wire for Script<'_> {
    fn read(&mut self, into: &mut [u8], _: Duration) -> io::Result<Option<usize>> {
        let Some(next) = self.packets.next() else {
            return Ok(Some(0));
        };
        let bytes = match *next {
            "^C" => vec![3],
            "" => return Ok(None),
            text => match text.strip_prefix(RAW) {
                Some(raw) => raw.as_bytes().to_vec(),
                None => packet(text),
            },
        };
        into[..bytes.len()].copy_from_slice(&bytes);
        Ok(Some(bytes.len()))
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.heard.push_str(&String::from_utf8_lossy(bytes));
        Ok(())
    }
}

fn core() -> Core {
    let mut memory = vec![0; 64];
    memory[..2].copy_from_slice(&[1, 2]);
    Core {
        memory,
        flash: vec![Flash {
            range: 0x800..0x1000,
            sector_bytes: 0x400,
        }],
        ..Core::default()
    }
}

/// How a session with these packets ended, and every byte that was sent.
fn talk(core: &mut Core, packets: &[&str]) -> (Result<Ended, ServeError>, String) {
    let mut script = Script {
        packets: packets.iter(),
        heard: String::new(),
    };
    let ended = serve(&mut script, core);
    (ended, script.heard)
}

/// What these packets are answered, without what frames it.
fn session(core: &mut Core, packets: &[&str]) -> (Result<Ended, ServeError>, Vec<String>) {
    let (ended, heard) = talk(core, packets);
    let answers = heard.split('$').skip(1);
    let answers = answers.map(|answer| answer.split('#').next().unwrap_or_default().to_owned());
    (ended, answers.collect())
}

#[test]
fn a_core_is_halted_looked_at_and_left_running() {
    let mut core = core();
    core.registers[15] = 0x0800_01c4;
    core.memory[4..8].copy_from_slice(&[1, 2, 3, 0xff]);
    let (ended, answers) = session(
        &mut core,
        &[
            "?",
            "m4,4",
            "pf",
            "Pd=00100020",
            "M8,2:abcd",
            "m8,2",
            "m3f,2",
            "Z0,100,2",
            "D",
        ],
    );
    assert_eq!(ended.unwrap(), Ended::Detached);
    assert!(
        answers[0].starts_with('S') || answers[0].starts_with('T'),
        "{answers:?}"
    );
    assert_eq!(&answers[1..3], ["010203ff", "c4010008"]);
    assert_eq!(&answers[3..6], ["OK", "OK", "abcd"]);
    assert!(answers[6].starts_with('E'), "{answers:?}");
    assert_eq!(answers[7], "OK");
    assert_eq!(core.registers[13], 0x2000_1000);
    assert!(!core.is_halted && core.breakpoints == 0);
}

#[test]
fn registers_of_a_floating_point_unit_are_asked_for_one_by_one() {
    let mut core = core();
    let ask = [
        "qXfer:features:read:target.xml:0,fff",
        "g",
        "p13",
        "P14=1122334455667788",
        "p14",
        "P23=12345678",
        "p23",
        "P14=11223344",
        "p24",
    ];
    let (_, answers) = session(&mut core, &ask);
    assert!(!answers[0].contains("vfp"), "{answers:?}");
    // Without such a unit it is refused.
    assert!(answers[2].starts_with('E'), "{answers:?}");
    core.registers = [0x1234_5678; REGISTERS];
    core.floats = vec![0; 33];
    core.floats[1..3].copy_from_slice(&[0x0403_0201, 0x0807_0605]);
    let (_, answers) = session(&mut core, &ask);
    assert_eq!(answers[0].matches("<reg name=\"d").count(), 16);
    assert!(answers[0].contains("\"fpscr\""), "{answers:?}");
    assert_eq!(answers[1].len(), 2 * 4 * REGISTERS);
    assert_eq!(
        answers[2..7],
        [
            "0102030405060708",
            "OK",
            "1122334455667788",
            "OK",
            "12345678"
        ]
    );
    assert_eq!(
        core.floats[..5],
        [
            0x7856_3412,
            0x0403_0201,
            0x0807_0605,
            0x4433_2211,
            0x8877_6655
        ]
    );
    // Half a register, and one behind the last.
    assert!(answers[7].starts_with('E'), "{answers:?}");
    assert!(
        answers[8].is_empty() || answers[8].starts_with('E'),
        "{answers:?}"
    );
}

#[test]
fn a_core_stops_at_the_use_of_a_place() {
    let mut core = core();
    core.is_halted = true;
    // Without comparators GDB is told that there are no watchpoints.
    let (_, answers) = session(&mut core, &["Z2,20000010,4"]);
    assert_eq!(answers, [""]);
    core.comparators = 2;
    core.uses = Some(0x2012_3456);
    let (_, answers) = session(
        &mut core,
        &[
            "Z2,20000010,4",
            "Z4,20123456,1",
            "Z3,20000030,2",
            "vCont;s",
            "",
            "z4,20123456,1",
            "Z3,20000030,2",
            "vCont;s",
            "",
            "D",
        ],
    );
    assert_eq!(&answers[..2], ["OK", "OK"]);
    assert!(answers[2].starts_with('E'), "{answers:?}");
    assert!(answers[3].contains("awatch:20123456;"), "{answers:?}");
    assert_eq!(&answers[4..6], ["OK", "OK"]);
    assert!(
        answers[6].starts_with("S05") || answers[6].starts_with("T05"),
        "{answers:?}"
    );
    assert!(!answers[6].contains("watch"), "{answers:?}");
    // Nothing is left behind.
    assert!(core.watchpoints.is_empty());
}

#[test]
fn a_core_goes_on_stops_and_is_interrupted() {
    let mut core = core();
    let (ended, answers) = session(&mut core, &["vCont;s", "", "vCont;c", "", "^C", "D"]);
    assert_eq!(ended.unwrap(), Ended::Detached);
    assert_eq!(core.registers[15], 2);
    let stops: Vec<_> = answers
        .iter()
        .filter_map(|answer| answer.get(..3))
        .collect();
    assert_eq!(&stops[..2], ["S05", "S02"], "{answers:?}");
}

/// Packets that no GDB sends.
const MALFORMED: [&str; 14] = [
    "mxyz,4",
    "m4",
    "m4,",
    "m123456789,4",
    "m0,ffffffff",
    "M4,2:zz",
    "X4,2",
    "Gzz",
    "G00",
    "P",
    "Z0,zz,2",
    "vCont;x",
    "vCont;s;s",
    "vFlashErase:800",
];

#[test]
fn what_cannot_be_understood_is_refused_and_the_session_goes_on() {
    for no_acks in [false, true] {
        for malformed in MALFORMED {
            let mut core = core();
            core.comparators = 1;
            core.memory[4..8].copy_from_slice(&[1, 2, 3, 0xff]);
            let mut packets = vec![
                "qSupported:multiprocess+",
                "Z0,100,2",
                "Z2,20000010,4",
                malformed,
                "m4,4",
                "z0,100,2",
                "z2,20000010,4",
                "?",
                "D",
            ];
            if no_acks {
                packets.insert(1, "QStartNoAckMode");
            }
            let (ended, answers) = session(&mut core, &packets);
            assert_eq!(ended.unwrap(), Ended::Detached, "{malformed}: {answers:?}");
            // Breakpoints, watchpoints and what GDB said that it can do are still known.
            let expected = [
                "OK",
                "OK",
                "E01",
                "010203ff",
                "OK",
                "OK",
                "T05thread:p01.01;",
                "OK",
            ];
            let first = packets.len() - expected.len();
            assert_eq!(answers[first..], expected, "{malformed}");
        }
    }
}

#[test]
fn a_packet_that_does_not_arrive_whole_is_asked_for_again() {
    let mut core = core();
    let (ended, heard) = talk(
        &mut core,
        &[
            "raw:$m0,2#ff",
            "raw:$m0,2#fb",
            "raw:-",
            "raw:$m0,2#x",
            "raw:y",
            "D",
        ],
    );
    assert_eq!(ended.unwrap(), Ended::Detached);
    assert_eq!(heard, "-+$0102#c3$0102#c3-+$OK#9a");
    // Without acknowledgements there is nothing to say.
    let (ended, heard) = talk(
        &mut core,
        &["QStartNoAckMode", "raw:$m0,2#ff", "raw:-", "m0,2", "D"],
    );
    assert_eq!(ended.unwrap(), Ended::Detached);
    assert_eq!(heard, "+$OK#9a$0102#c3$OK#9a");
    // One that is too long is refused, and what follows is none of its rest.
    let bytes = [packet(&"m".repeat(20_000)), packet("m0,2"), packet("D")].concat();
    let mut pieces = Pieces {
        bytes,
        heard: Vec::new(),
    };
    assert_eq!(serve(&mut pieces, &mut core).unwrap(), Ended::Detached);
    assert_eq!(pieces.heard, b"+$E01#a6+$0102#c3+$OK#9a");
}

#[test]
fn a_packet_that_cannot_be_understood_leaves_a_core_running() {
    let mut core = core();
    let (ended, answers) = session(&mut core, &["vCont;c", "", "mxyz,4", "", "^C", "m0,2", "D"]);
    assert_eq!(ended.unwrap(), Ended::Detached);
    assert_eq!(answers, ["E01", "S02", "0102", "OK"]);
    // It was let go once, and once more at the end.
    assert_eq!(core.said, ["run", "run"]);
}

/// `monitor` with a text.
fn monitor(text: &str) -> String {
    let digits: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
    format!("qRcmd,{digits}")
}

#[test]
fn a_core_that_the_monitor_lets_go_is_watched_from_then_on() {
    let (run, halt) = (monitor("reset run"), monitor("halt"));
    let (run, halt) = (run.as_str(), halt.as_str());
    for before in [&[run][..], &[halt, run], &[run, halt, run]] {
        let mut core = core();
        let packets = [before, &["vCont;c", "", "", "^C", "m0,2", "D"]].concat();
        let (ended, answers) = session(&mut core, &packets);
        assert_eq!(ended.unwrap(), Ended::Detached, "{answers:?}");
        let rest = &answers[2 * before.len()..];
        assert_eq!(rest, ["S02", "0102", "OK"], "{answers:?}");
        // `continue` did not let it go once more: that was the end.
        assert_eq!(core.said.iter().filter(|said| **said == "run").count(), 1);
    }
    // Where it stops meanwhile is where it is said to have stopped.
    let mut core = core();
    core.halts_after = Some(3);
    let (_, answers) = session(&mut core, &[run, "vCont;c", "", "", "", "", "D"]);
    assert_eq!(answers[2..], ["S05", "OK"], "{answers:?}");
    assert_eq!(core.said, ["reset", "run"]);
    // It is halted again before it is stepped, or let go as ever.
    for (after, last) in [("vCont;s", "S05"), ("vCont;c", "S02")] {
        let mut core = self::core();
        let packets = [run, halt, after, "", "^C", "D"];
        let (ended, answers) = session(&mut core, &packets);
        assert_eq!(ended.unwrap(), Ended::Detached, "{answers:?}");
        assert_eq!(answers[4..], [last, "OK"], "{answers:?}");
    }
    let mut core = self::core();
    let (ended, answers) = session(&mut core, &[run, "vCont;s", "", "D"]);
    assert_eq!(ended.unwrap(), Ended::Detached, "{answers:?}");
    assert_eq!(answers[2..], ["S05", "OK"], "{answers:?}");
    assert_eq!(core.registers[15], 2);
}

#[test]
fn a_core_that_is_not_let_go_does_not_end_the_session() {
    let mut core = core();
    core.refuses_to_run = true;
    let (_, answers) = session(&mut core, &["vCont;c", "m0,2"]);
    assert!(answers[0].starts_with('O'), "{answers:?}");
    assert_eq!(answers[1..], ["E01", "0102"]);
}

#[test]
fn an_interrupt_of_a_halted_core_is_forgotten() {
    let mut core = core();
    let packets = [
        "^C", "^C", "m0,2", "^C", "vCont;c", "", "", "^C", "^C", "vCont;c", "", "^C", "D",
    ];
    let (ended, answers) = session(&mut core, &packets);
    assert_eq!(ended.unwrap(), Ended::Detached);
    assert_eq!(answers, ["0102", "S02", "S02", "OK"]);
    // One that comes as the core stops by itself does not hide why.
    let mut core = self::core();
    core.halts_after = Some(2);
    let (_, answers) = session(&mut core, &["vCont;c", "", "^C", "D"]);
    assert_eq!(answers[..1], ["S05"]);
}

#[test]
fn a_target_that_is_lost_is_told() {
    let mut core = core();
    core.is_lost_at = Some(0x10);
    let (ended, answers) = session(&mut core, &["m0,2", "m10,2", "m0,2"]);
    let error = ended.unwrap_err().to_string();
    assert_eq!(error, "the target is gone");
    assert_eq!(answers, ["0102", "E.the target is gone"]);
}

/// Says all of these bytes, as many at once as are taken.
struct Pieces {
    bytes: Vec<u8>,
    heard: Vec<u8>,
}

impl Wire for Pieces {
    fn read(&mut self, into: &mut [u8], _: Duration) -> io::Result<Option<usize>> {
        let count = self.bytes.len().min(into.len());
        let now: Vec<u8> = self.bytes.drain(..count).collect();
        into[..count].copy_from_slice(&now);
        Ok(Some(count))
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.heard.extend(bytes);
        Ok(())
    }
}

#[test]
fn what_gdb_loads_is_programmed_at_once() {
    let mut core = core();
    let (_, answers) = session(
        &mut core,
        &[
            "vFlashErase:800,400",
            "vFlashWrite:800:abc",
            "vFlashWrite:803:def",
            "vFlashWrite:900:x",
            "vFlashDone",
            "vFlashErase:0,400",
            "vFlashErase:c00,400",
            "vFlashDone",
        ],
    );
    assert_eq!(answers[4], "OK", "{answers:?}");
    assert_eq!(core.programmed[0], (0x800, b"abcdef".to_vec()));
    assert_eq!(core.programmed[1], (0x900, b"x".to_vec()));
    assert!(answers[5].starts_with('E'), "{answers:?}");
    assert_eq!(core.programmed[2], (0xc00, vec![0xff; 0x400]));
}

#[test]
fn gdb_is_told_of_registers_flash_and_commands() {
    let mut core = core();
    let reset = "qRcmd,72657365742068616c74";
    let ask = [
        "qXfer:features:read:target.xml:0,ffb",
        "qXfer:memory-map:read::0,ffb",
        reset,
    ];
    let (_, answers) = session(&mut core, &ask);
    assert_eq!(answers[0].matches("<reg name").count(), REGISTERS);
    assert!(answers[0].contains("m-profile"), "{answers:?}");
    let map = "<memory type=\"ram\" start=\"0x0\" length=\"0x800\"/>\
               <memory type=\"flash\" start=\"0x800\" length=\"0x800\">\
               <property name=\"blocksize\">0x400</property></memory>\
               <memory type=\"ram\" start=\"0x1000\" length=\"0xf";
    assert!(answers[1].contains(map), "{answers:?}");
    assert_eq!(core.said, ["reset", "run"]);
}

#[test]
fn gdb_that_just_goes_leaves_the_core_running() {
    let mut core = core();
    let (ended, _) = session(&mut core, &["Z1,100,2"]);
    assert_eq!(ended.unwrap(), Ended::Gone);
    assert!(!core.is_halted && core.breakpoints == 0);
}

#[test]
fn any_bytes_are_a_gdb_that_does_no_harm() {
    let mut random = Rng::with_seed(3333);
    let valid = [
        "?",
        "g",
        "m0,10",
        "M0,2:abcd",
        "X0,2:ab",
        "Z0,8,2",
        "z0,8,2",
        "Z2,8,4",
        "z2,8,4",
        "vCont;c",
        "vCont;s",
        "c",
        "s",
        "pf",
        "Pf=01000000",
        "p13",
        "P14=1122334455667788",
        "qSupported:multiprocess+;swbreak+",
        "vFlashErase:800,400",
        "vFlashWrite:800:abc",
        "vFlashDone",
        "qRcmd,7265736574",
        "qXfer:features:read:target.xml:0,100",
        "qXfer:memory-map:read::0,100",
        "QStartNoAckMode",
        "vKill;1",
        "k",
        "D",
        "H g0",
        "qC",
        "!",
        "vMustReplyEmpty",
    ];
    for _ in 0..20_000 {
        let mut bytes = Vec::new();
        for _ in 0..random.usize(1..6) {
            bytes.extend(packet(random.choice(valid).unwrap()));
            if random.u8(..8) == 0 {
                bytes.push(3);
            }
        }
        for _ in 0..random.usize(0..5) {
            let at = random.usize(..bytes.len());
            match random.u8(..3) {
                0 => bytes[at] = random.u8(..),
                1 => bytes.insert(at, b"$#+-}*:,;0f"[random.usize(..11)]),
                _ => drop(bytes.remove(at)),
            }
        }
        crate::fuzz::gdb(&bytes);
    }
}
