//! Registers of parts on an I²C bus: the descriptions, and what transfers mean.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/stored.rs"]
#[allow(dead_code, reason = "each test uses some of it")]
mod stored;
#[path = "support/traffic.rs"]
#[allow(dead_code, reason = "the equality tests use all of it")]
mod traffic;

use decode::registers::{Part, PartError, Parts};
use decode::segment::Segment;
use decode::{CodePath, Decoding, Format, Plan, Spec, Wanted, sr};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use stored::{all_of, found_raw, store};
use traffic::{Drawing, Load, Rng};

const SCL: u8 = 0;
const SDA: u8 = 1;

/// What a master and the devices say: `W` or `R` and an address, then bytes; `!` behind one that is not acknowledged.
fn bus(transfers: &[&str]) -> Vec<u8> {
    let mut drawing = Drawing::new(1 << 20, 3);
    drawing.hold(20);
    for transfer in transfers {
        // A repeated START if the transfer begins with `+`.
        let (is_repeated, words) = match transfer.strip_prefix('+') {
            Some(words) => (true, words),
            None => (false, *transfer),
        };
        if is_repeated {
            drawing.set(SDA, true);
            drawing.hold(2);
            drawing.set(SCL, true);
            drawing.hold(2);
        } else {
            stop(&mut drawing);
        }
        drawing.set(SDA, false);
        drawing.hold(2);
        drawing.set(SCL, false);
        drawing.hold(2);
        let is_read = words.starts_with('R');
        for (index, word) in words[1..]
            .split(' ')
            .filter(|word| !word.is_empty())
            .enumerate()
        {
            let (word, is_refused) = match word.strip_suffix('!') {
                Some(word) => (word, true),
                None => (word, false),
            };
            let value = u8::from_str_radix(word, 16).unwrap();
            let value = match index {
                0 => value << 1 | u8::from(is_read),
                _ => value,
            };
            for bit in (0..8).rev() {
                clock(&mut drawing, value >> bit & 1 != 0);
            }
            clock(&mut drawing, is_refused);
        }
    }
    stop(&mut drawing);
    drawing.hold(20);
    drawing.samples
}

fn clock(drawing: &mut Drawing, bit: bool) {
    drawing.set(SDA, bit);
    drawing.hold(2);
    drawing.set(SCL, true);
    drawing.hold(2);
    drawing.set(SCL, false);
    drawing.hold(2);
}

fn stop(drawing: &mut Drawing) {
    drawing.set(SDA, false);
    drawing.hold(2);
    drawing.set(SCL, true);
    drawing.hold(2);
    drawing.set(SDA, true);
    drawing.hold(4);
}

fn names() -> Vec<String> {
    ["SCL", "SDA"].map(str::to_owned).to_vec()
}

const MAP: [(&str, &str); 2] = [("scl", "SCL"), ("sda", "SDA")];

fn spec(parts: &str) -> Spec {
    Spec::parse("i2c-registers", &MAP, &[("parts", parts)], None, &names()).unwrap()
}

fn said(parts: &str, transfers: &[&str]) -> Vec<String> {
    let spec = spec(parts);
    let samples = bus(transfers);
    let found = found_raw(&spec, &samples, Plan::Sequential(CodePath::best()));
    found.iter().map(|one| spec.words(one)).collect()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("registers")
}

#[test]
fn every_file_is_built_in_and_says_where_it_has_its_values_from() {
    let files = std::fs::read_dir(folder()).unwrap();
    let files: BTreeSet<String> = files
        .map(|file| {
            file.unwrap()
                .path()
                .file_stem()
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    let known: BTreeSet<String> = Parts::built_in()
        .iter()
        .map(|part| part.id().to_owned())
        .collect();
    assert_eq!(known, files);
    for part in Parts::built_in().iter() {
        assert!(part.data_sheet().len() > 10, "{}", part.id());
        assert!(!part.addresses().is_empty() && !part.name().is_empty());
    }
}

#[test]
fn a_sensor_is_set_up_and_read() {
    let transfers = [
        "W76 D0",
        "+R76 60!",
        "W76 F2 01 F4 27",
        "W76 F5 A0",
        "W76 F7",
        "+R76 51 2B 00 80 4A 00 6B 3C!",
    ];
    assert_eq!(
        said("bme280", &transfers),
        [
            "BME280 0x76: select id",
            "BME280 0x76: read id = 0x60 (chip BME280)",
            "BME280 0x76: write ctrl_hum = 0x01 (osrs_h ×1)",
            "BME280 0x76: write ctrl_meas = 0x27 (osrs_t ×1, osrs_p ×1, mode normal)",
            "BME280 0x76: write config = 0xA0 (t_sb 1000 ms, filter off)",
            "BME280 0x76: select press",
            "BME280 0x76: read press = 0x512B00 (count 332464)",
            "BME280 0x76: read temp = 0x804A00 (count 525472)",
            "BME280 0x76: read hum = 0x6B3C (count 27452)",
        ]
    );
}

#[test]
fn a_pointer_goes_on_from_transfer_to_transfer_and_around() {
    assert_eq!(
        said(
            "ds1307",
            &["W68 3E 01", "+R68 AA!", "R68 59 30!", "R68 72 05!"]
        ),
        [
            "DS1307 0x68: write RAM 0x3E = 01",
            "DS1307 0x68: read RAM 0x3F = AA",
            "DS1307 0x68: read seconds = 0x59 (seconds 59)",
            "DS1307 0x68: read minutes = 0x30 (minutes 30)",
            "DS1307 0x68: read hours = 0x72 (hours 12, half PM)",
            "DS1307 0x68: read day = 0x05 (day 5)",
        ]
    );
    // Of a part with wide registers it stays.
    assert_eq!(
        said(
            "tmp102@0x48",
            &["W48 01 60 A0", "W48 00", "R48 19 10", "R48 E7 00 19!"]
        ),
        [
            "TMP102 0x48: write configuration = 0x60A0 (R 12 bits, F 1 fault, POL active low, TM comparator, CR 4 Hz, AL)",
            "TMP102 0x48: select temperature",
            "TMP102 0x48: read temperature = 0x1910 (temperature 25.0625 °C)",
            "TMP102 0x48: read temperature = 0xE700 (temperature -25 °C)",
            "TMP102 0x48: read temperature = 19 (1 of 2 bytes)",
        ]
    );
}

#[test]
fn a_memory_is_written_page_by_page() {
    assert_eq!(
        said(
            "at24c02@0x50",
            &["W50 06 01 02 03", "W50 FF", "+R50 09 0A!"]
        ),
        [
            "AT24C02 0x50: write memory 0x06 = 01 02",
            "AT24C02 0x50: write memory 0x00 = 03",
            "AT24C02 0x50: select 0xFF",
            "AT24C02 0x50: read memory 0xFF = 09",
            "AT24C02 0x50: read memory 0x00 = 0A",
        ]
    );
    assert_eq!(
        said("at24c256@0x50", &["W50 12 34 AB CD", "W50 12"]),
        [
            "AT24C256 0x50: write memory 0x1234 = AB CD",
            "AT24C256 0x50: write 12",
        ]
    );
}

#[test]
fn ports_commands_and_control_bytes() {
    assert_eq!(
        said("pcf8574@0x27", &["W27 09 08", "R27 F0!"]),
        [
            "PCF8574 0x27: write port = 0x09 (P3, P0)",
            "PCF8574 0x27: write port = 0x08 (P3)",
            "PCF8574 0x27: read port = 0xF0 (P7, P6, P5, P4)",
        ]
    );
    assert_eq!(
        said(
            "sht31",
            &["W44 24 00", "R44 66 66 93 80 00 A2!", "W44 30 A2"]
        ),
        [
            "SHT31 0x44: command measure high",
            "SHT31 0x44: read measure high = 0x6666938000A2 (temperature 25 °C, humidity 50.0008 %)",
            "SHT31 0x44: command soft reset",
        ]
    );
    assert_eq!(
        said(
            "ssd1306",
            &[
                "W3C 00 AE D5",
                "W3C 00 80",
                "W3C 80 A1 80 81 80 CF",
                "W3C 40 FF 00",
                "W3C 00 F0"
            ]
        ),
        [
            "SSD1306 0x3C: command display = 0xAE (display off)",
            "SSD1306 0x3C: command clock = 0xD580 (divide by 1, frequency 8)",
            "SSD1306 0x3C: command segment remap = 0xA1 (column 127 is SEG0)",
            "SSD1306 0x3C: command contrast = 0x81CF (contrast 207)",
            "SSD1306 0x3C: write FF 00",
            "SSD1306 0x3C: command 0xF0",
        ]
    );
}

#[test]
fn what_is_not_known_or_not_answered_is_said() {
    assert_eq!(
        said(
            "bme280@0x76",
            &[
                "W76!",
                "R77!",
                "W20 01 02",
                "R76 12 34!",
                "W76 A5 11",
                "W76 F4 27!"
            ]
        ),
        [
            "BME280 0x76: no answer to a write",
            "0x77: no answer to a read",
            "0x20: write 01 02",
            "BME280 0x76: read 12 34",
            "BME280 0x76: write 0xA5 = 11",
            "BME280 0x76: 0x27 was not acknowledged",
            "BME280 0x76: select ctrl_meas",
        ]
    );
}

#[test]
fn json_has_the_register_and_its_fields() {
    let spec = spec("bme280");
    let found = found_raw(&spec, &bus(&["W76 F4 27"]), Plan::best());
    let mut json = Vec::new();
    Format::Json.write(&spec, &found, &mut json).unwrap();
    let json = String::from_utf8(json).unwrap();
    assert!(
        json.contains(
            "\"class\":\"write\",\"text\":\"BME280 0x76: write ctrl_meas = 0x27 (osrs_t ×1, osrs_p ×1, mode normal)\",\
             \"device\":118,\"part\":\"bme280\",\"register\":\"ctrl_meas\",\"at\":244,\"value\":39,\
             \"fields\":{\"osrs_t\":\"×1\",\"osrs_p\":\"×1\",\"mode\":\"normal\"}}"
        ),
        "{json}"
    );
}

#[test]
fn parts_are_named_with_addresses_where_several_can_have_one() {
    let parse = |parts: &str| {
        Spec::parse("i2c-registers", &MAP, &[("parts", parts)], None, &names())
            .map_err(|error| error.to_string())
    };
    for fine in [
        "",
        "bme280",
        "bme280@0x76, bmp280@119",
        "ds1307,mpu6050@0x69",
        "ds3231,mpu6050@0x68",
    ] {
        assert!(parse(fine).is_ok(), "{fine}: {:?}", parse(fine));
    }
    for (wrong, told) in [
        ("bme281", "did you mean `bme280`?"),
        ("bme280,bmp280", "with an address"),
        ("bme280@0x76,bmp280@0x76", "one part for each address"),
        ("bme280@0x78", "addresses 0x08 to 0x77"),
        ("bme280@", "addresses 0x08 to 0x77"),
    ] {
        let error = parse(wrong).unwrap_err();
        assert!(error.contains(told), "{wrong}: {error}");
    }
}

#[test]
fn wrong_descriptions_are_refused() {
    let head = "name = \"X\"\ndata_sheet = \"none, for a test\"\naddresses = [0x10]\n";
    let with = |rest: &str| Part::parse("x", &format!("{head}{rest}"));
    assert!(with("").is_ok());
    assert!(matches!(Part::parse("X", head), Err(PartError::Id(_))));
    for wrong in [
        "what = 1",
        "style = \"odd\"",
        "style = \"port\"\n[pointer]\n",
        "[pointer]\nbytes = 3",
        "[pointer]\nlast = 256",
        "[pointer]\nfirst = 9\nlast = 8",
        "[pointer]\npage = 3",
        "[pointer]\nstart = 300",
        "[pointer]\neach = \"register\"\nwrites = \"pairs\"",
        "[[register]]\nat = 256\nname = \"a\"",
        "[[register]]\nat = 0\nname = \"\"",
        "[[register]]\nat = 0\nname = \"a\\\"\"",
        "[[register]]\nat = 0\nname = \"a\"\nbytes = 9",
        "[[register]]\nat = 0\nname = \"a\"\nmask = 1",
        "[[register]]\nat = 0\nname = \"a\"\nbytes = 2\n[[register]]\nat = 1\nname = \"b\"",
        "[[register]]\nat = 0\nname = \"a\"\nfields = [{ name = \"f\", bits = \"8\" }]",
        "[[register]]\nat = 0\nname = \"a\"\nfields = [{ name = \"f\", bits = \"1:0\", when = \"2\" }]",
        "[[register]]\nat = 0\nname = \"a\"\nfields = [{ name = \"f\", bits = \"1:0\", scale = nan }]",
        "[[register]]\nat = 0\nname = \"a\"\nfields = [{ name = \"f\", bits = \"1:0\", scale = 1e300 }]",
        "[[register]]\nat = 0\nname = \"a\"\nfields = [{ name = \"f\", bits = \"1:0\", unit = \"\\\\\" }]",
        "[[register]]\nat = 0\nname = \"a\"\nfields = [{ name = \"f\", bits = \"1:0\", values = { 4 = \"x\" } }]",
        "[[memory]]\nfirst = 2\nlast = 1\nname = \"m\"",
        "style = \"control\"\n[[register]]\nat = 0x81\nname = \"a\"\nmask = 0x80",
    ] {
        assert!(with(wrong).is_err(), "{wrong}");
    }
    let many = "[[memory]]\nfirst = 1\nlast = 1\nname = \"m\"\n".repeat(65);
    assert!(matches!(with(&many), Err(PartError::Many("memories"))));
    let long = format!("#{}", " ".repeat(64 << 10));
    assert!(matches!(with(&long), Err(PartError::Long(_))));
}

/// What a mutated description makes of traffic, if it is one, has no quotes that would end a text early.
#[test]
fn mutated_descriptions_never_panic() {
    let texts: Vec<String> = Parts::built_in()
        .iter()
        .map(|part| std::fs::read_to_string(folder().join(format!("{}.toml", part.id()))).unwrap())
        .collect();
    let samples = traffic::i2c(20_000, Load::Dense, 5);
    let mut rng = Rng::new(77);
    let mut accepted = 0;
    let pieces = [
        "0",
        "9",
        "=",
        "\"",
        "[",
        "]",
        "{",
        "}",
        "\n",
        "0xFFFFFFFF",
        "-1",
        "nan",
        "63:0",
        "bytes = 8\n",
    ];
    for round in 0..6_000 {
        let mut text = texts[round % texts.len()].clone();
        for _ in 0..rng.range(1, 4) {
            let mut at = usize::try_from(rng.range(0, text.len() as u64)).unwrap();
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            let piece = pieces[usize::try_from(rng.range(0, pieces.len() as u64)).unwrap()];
            let mut end = (at + usize::try_from(rng.range(0, 6)).unwrap()).min(text.len());
            while !text.is_char_boundary(end) {
                end += 1;
            }
            text.replace_range(at..end, piece);
        }
        let Ok(part) = Part::parse("x", &text) else {
            continue;
        };
        accepted += 1;
        if accepted % 20 == 0 {
            let mut parts = Parts::default();
            parts.add(part).unwrap();
            let wanted = Wanted {
                protocol: "i2c-registers",
                map: &MAP,
                options: &[("parts", "x")],
                annotations: None,
            };
            let spec = Spec::parse_with(&parts, wanted, &names()).unwrap();
            for found in found_raw(&spec, &samples, Plan::best()) {
                assert!(!spec.words(&found).contains(['"', '\\', '\n']));
            }
        }
    }
    assert!(accepted > 300, "{accepted}");
}

/// Any traffic, any part: the same on every path, and nothing panics.
#[test]
fn any_traffic_is_followed_the_same_on_every_path() {
    let ids: Vec<String> = Parts::built_in()
        .iter()
        .map(|part| part.id().to_owned())
        .collect();
    let mut count = 0;
    for (seed, id) in (0..).zip(&ids) {
        // One part that answers at all addresses.
        let all: Vec<String> = (0x08..=0x77)
            .map(|address| format!("{id}@{address}"))
            .collect();
        let spec = spec(&all.join(","));
        for samples in [
            traffic::i2c(60_000, Load::Dense, seed),
            traffic::noise(40_000, 9, seed),
        ] {
            let expected = found_raw(&spec, &samples, Plan::Sequential(CodePath::Portable));
            count += expected.len();
            assert!(
                found_raw(&spec, &samples, Plan::Parallel(640)) == expected,
                "{id}"
            );
            let stored = store(&samples);
            let segment = Segment::open(&stored).unwrap();
            let from_store = all_of(Decoding::of_segment(&segment, &spec).unwrap());
            assert!(from_store == expected, "{id}, stored");
        }
    }
    assert!(count > 500, "{count}");
}

fn recorded(file: &str, parts: &str) -> Vec<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testdata/captures")
        .join(file);
    let bytes = std::fs::read(file).unwrap();
    let archive = sr::Archive::parse(&bytes, &sr::Limits::default()).unwrap();
    let job = [("parts", parts)];
    let spec = Spec::parse("i2c-registers", &MAP, &job, None, archive.channels()).unwrap();
    let mut lines = Vec::new();
    decode::decode_sr(&archive, &spec, &mut |found| {
        lines.extend(found.iter().map(|one| spec.words(one)));
        ControlFlow::Continue(())
    })
    .unwrap();
    lines
}

#[test]
fn real_recordings_say_what_their_parts_did() {
    let clock = recorded("i2c_ds1307/rtc_ds1307_200khz.sr", "ds1307");
    assert_eq!(
        clock[..8],
        [
            "DS1307 0x68: select seconds",
            "DS1307 0x68: read seconds = 0x30 (seconds 30)",
            "DS1307 0x68: read minutes = 0x35 (minutes 35)",
            "DS1307 0x68: read hours = 0x23 (hours 23)",
            "DS1307 0x68: read day = 0x01 (day 1)",
            "DS1307 0x68: read date = 0x10 (date 10)",
            "DS1307 0x68: read month = 0x03 (month 3)",
            "DS1307 0x68: read year = 0x13 (year 13)",
        ]
    );
    assert_eq!(clock.len(), 7 * 8);
    let temper = recorded(
        "multi_rding_temper/rding_temper_i2c_usb_led_eeprom_and_sensor_5s.sr",
        "lm75@0x4F,at24c02@0x50",
    );
    assert_eq!(temper[0], "AT24C02 0x50: select 0x00");
    assert_eq!(
        temper[1],
        "AT24C02 0x50: read memory 0x00 = 57 58 14 00 14 00 53 00"
    );
    let last = "LM75 0x4F: read temperature = 0x1E80 (temperature 30.5 °C)";
    assert_eq!(temper.last().unwrap(), last);
    assert!(temper.iter().all(|line| !line.starts_with("0x")));
    let nacks = recorded("i2c_rtc8564_nacks/8564je_nacks.sr", "pcf8563");
    assert_eq!(nacks[0], "PCF8563 0x51: no answer to a write");
    let refused = nacks.iter().filter(|line| line.contains("no answer"));
    assert!(refused.count() > 1000);
    let player = recorded("i2c_trekstor_120s/trekstor_ebr30_a_i2c_120s.sr", "pcf8563");
    assert_eq!(player[..2], ["0x15: write 02", "0x15: read 10"]);
    let clock = player.iter().filter(|line| line.starts_with("PCF8563"));
    let clock: Vec<&String> = clock.collect();
    assert_eq!(clock.len(), 2 * 138);
    assert_eq!(clock[4], "PCF8563 0x51: select Hours");
    assert_eq!(clock[5], "PCF8563 0x51: read Hours = 0x95 (hours 15)");
}
