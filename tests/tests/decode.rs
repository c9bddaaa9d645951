//! `hostd decode` as the README shows it, on real recordings with their reference output.

use std::path::PathBuf;
use std::process::{Command, Stdio};

fn recordings() -> PathBuf {
    let tests = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    tests
        .parent()
        .unwrap()
        .join("hostd/decode/testdata/captures")
}

fn decode(file: &str, args: &[&str]) -> Command {
    let mut command = Command::new(tests::server::binary().unwrap());
    command
        .arg("decode")
        .arg(recordings().join(file))
        .args(args);
    command
}

fn printed(file: &str, args: &[&str]) -> String {
    let output = decode(file, args).output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}");
    String::from_utf8(output.stdout).unwrap()
}

const DS1307: &str = "i2c_ds1307/rtc_ds1307_200khz.sr";
const I2C: [&str; 4] = ["--protocol", "i2c", "--map", "scl=SCL,sda=SDA"];

#[test]
fn lines_equal_the_reference() {
    let mut i2c = I2C.to_vec();
    i2c.extend(["--annotations", "i2c=addr-data"]);
    let uart = [
        "--protocol",
        "uart",
        "--map",
        "tx=TX",
        "--option",
        "baudrate=115200",
        "--option",
        "data_bits=7",
        "--option",
        "parity=odd",
        "--annotations",
        "uart=tx-data:tx-parity-ok:tx-parity-err:tx-warnings",
    ];
    let spi = [
        "--protocol",
        "spi",
        "--map",
        "clk=CLK,mosi=MOSI,miso=MISO,cs=CS#",
        "--option",
        "cpol=1",
        "--option",
        "cpha=1",
        "--annotations",
        "spi=mosi-data:miso-data",
    ];
    for (file, args, expected) in [
        (DS1307, &i2c[..], "i2c_ds1307/expected.i2c.txt"),
        (
            "uart_hello_7o1/hello_world_7o1_115200.sr",
            &uart[..],
            "uart_hello_7o1/expected.uart.txt",
        ),
        (
            "spi_mode3_0x35/spi_0x35_cpol1_cpha1_trigger_cs_falling_ok.sr",
            &spi[..],
            "spi_mode3_0x35/expected.spi.txt",
        ),
    ] {
        let expected = std::fs::read_to_string(recordings().join(expected)).unwrap();
        assert_eq!(printed(file, args), expected, "{file}");
    }
}

#[test]
fn other_formats_carry_the_same_events() {
    let with = |format| {
        let mut args = I2C.to_vec();
        args.extend(["--annotations", "addr-data", "--format", format]);
        printed(DS1307, &args)
    };
    let (sigrok, json, csv) = (with("sigrok"), with("json"), with("csv"));
    assert_eq!(sigrok.lines().count(), json.lines().count());
    assert_eq!(sigrok.lines().count() + 1, csv.lines().count());
    let first: serde_json::Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    assert_eq!(
        (first["start"].as_u64(), first["class"].as_str()),
        (Some(253), Some("start"))
    );
    assert_eq!(csv.lines().nth(1), Some("253,253,i2c,start,Start"));
}

#[test]
fn mistakes_are_answered_with_what_would_be_right() {
    for (args, expected) in [
        (
            &["--protocol", "i2x", "--map", "scl=SCL,sda=SDA"][..],
            "did you mean `i2c`?",
        ),
        (&["--protocol", "i2c", "--map", "scl=SCL"][..], "`sda`"),
        (
            &["--protocol", "i2c", "--map", "scl=SLC,sda=SDA"][..],
            "it has SCL, SDA",
        ),
        (&["--protocol", "i2c", "--map", "scl"][..], "NAME=VALUE"),
        (
            &[
                "--protocol",
                "uart",
                "--map",
                "rx=SCL",
                "--option",
                "baud=1",
            ][..],
            "baudrate",
        ),
    ] {
        let output = decode(DS1307, args).output().unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && complaint.contains(expected),
            "{args:?}: {complaint}"
        );
    }
}

/// `hostd decode … | head` is not a failure.
#[test]
fn a_reader_may_leave_early() {
    let mut child = decode("i2c_rtc8564_nacks/8564je_nacks.sr", &I2C)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}");
}

#[test]
fn the_help_names_the_one_exception() {
    let mut command = Command::new(tests::server::binary().unwrap());
    let output = command.args(["decode", "--help"]).output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let words: Vec<&str> = help.split_whitespace().collect();
    let told = words.join(" ");
    assert!(
        told.contains("those of sigrok-cli with one exception"),
        "{help}"
    );
    assert!(
        told.contains("START or STOP ends whatever was being collected"),
        "{help}"
    );
}

#[test]
fn channels_that_could_be_two_or_are_one_are_refused() {
    for (map, said) in [
        ("scl=0,sda=1", "a name or a place"),
        ("scl=SCL,sda=SCL", "the same channel SCL"),
        ("scl=SCL,sda=CLK", "it has SCL, SDA"),
    ] {
        let output = decode(DS1307, &["--protocol", "i2c", "--map", map])
            .output()
            .unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !output.status.success() && complaint.contains(said),
            "{complaint}"
        );
    }
}

/// What a search prints, and its exit code.
fn found(file: &str, args: &[&str]) -> (i32, String) {
    let output = decode(file, args).output().unwrap();
    let complaint = String::from_utf8(output.stderr).unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    (output.status.code().unwrap(), text + &complaint)
}

#[test]
fn places_are_found() {
    let file = DS1307;
    let reference = std::fs::read_to_string(recordings().join("i2c_ds1307/expected.i2c.txt"));
    let reference = reference.unwrap();
    let nacks = reference.matches("i2c-1: NACK").count();
    let (code, lines) = found(file, &["--find", "i2c nack"]);
    assert_eq!((code, lines.lines().count()), (0, nacks), "{lines}");
    // The lines that the decoder has for them.
    let first = reference
        .lines()
        .find(|line| line.contains("NACK"))
        .unwrap();
    let range = first.split_once(' ').unwrap().0;
    assert!(
        lines.starts_with(&format!("{range} NACK on sda\n")),
        "{lines}"
    );

    let map = ["--map", "scl=SCL,sda=SDA"];
    let nothing = [&["--find", "address 0x01 nack"], &map[..]].concat();
    assert_eq!(found(file, &nothing), (1, String::new()));
    let one = ["--find", "edge on SCL", "--limit", "1", "--format", "json"];
    let (code, line) = found(file, &one);
    let place: serde_json::Value = serde_json::from_str(&line).unwrap();
    let from = place["from"].as_u64().unwrap();
    assert_eq!((code, place["to"].as_u64().unwrap()), (0, from + 1));
    let later = (from + 1).to_string();
    let (_, next) = found(file, &[&one[..], &["--from", &later]].concat());
    assert_ne!(next, line);
    let (code, csv) = found(
        file,
        &["--find", "i2c stop", "--to", "0", "--format", "csv"],
    );
    assert_eq!((code, csv.as_str()), (1, "from,to,text\n"));
}

#[test]
fn what_cannot_be_searched_is_said() {
    for (args, told) in [
        (
            &["--find", "pulse on SCL thinner than 1 us"][..],
            "failed to read the query at character 14: found `thinner`, expected `shorter` or `longer`",
        ),
        (
            &["--find", "edge on SLC"],
            "failed to find channel `SLC` in the capture; it has SCL, SDA",
        ),
        (
            &["--find", "uart break"],
            "name channels and options behind `with`, as `with rx=LA1 baudrate=115200`",
        ),
        (
            &["--find", "edge on SCL", "--map", "scl=SCL"],
            "the query looks at signals alone",
        ),
        (
            &["--find", "edge on SCL", "--protocol", "i2c"],
            "cannot be used with",
        ),
    ] {
        let (code, text) = found(DS1307, args);
        assert_eq!(code, 2, "{text}");
        assert!(text.contains(told), "{text}");
    }
}

#[test]
fn a_part_of_a_file_is_decoded() {
    let mut i2c = I2C.to_vec();
    i2c.extend(["--annotations", "i2c=addr-data"]);
    let all = printed(DS1307, &i2c);
    // A range begins with its first START, and ends with the limit.
    let starts: Vec<&str> = all.lines().filter(|line| line.ends_with("Start")).collect();
    let second = starts[1].split('-').next().unwrap();
    let from = [&i2c[..], &["--from", second, "--limit", "5"]].concat();
    let at = all.find(starts[1]).unwrap();
    let expected: Vec<&str> = all[at..].lines().take(5).collect();
    assert_eq!(printed(DS1307, &from).lines().collect::<Vec<_>>(), expected);
    let to = [&i2c[..], &["--to", second]].concat();
    assert_eq!(printed(DS1307, &to), all[..at]);
    // Without pulses shorter than a millisecond, nothing of a bus at 100 kHz is left.
    let filtered = [&i2c[..], &["--glitch", "1000000"]].concat();
    let left = printed(DS1307, &filtered);
    assert!(left.lines().count() < all.lines().count() / 10, "{left}");
    let counted = [&i2c[..], &["--summary", "4"]].concat();
    let counts: serde_json::Value = serde_json::from_str(&printed(DS1307, &counted)).unwrap();
    let of_class = counts["classes"]["start"].as_array().unwrap();
    let sum: u64 = of_class.iter().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(
        (of_class.len(), usize::try_from(sum).unwrap()),
        (4, starts.len())
    );
}

#[test]
fn registers_of_known_parts_and_of_ones_own_are_named() {
    let registers = ["--protocol", "i2c-registers", "--map", "scl=SCL,sda=SDA"];
    let mut known = registers.to_vec();
    known.extend(["--option", "parts=ds1307", "--limit", "3"]);
    let lines = printed(DS1307, &known);
    assert_eq!(
        lines.lines().nth(1),
        Some("343-359 i2c-registers-1: DS1307 0x68: read seconds = 0x30 (seconds 30)"),
        "{lines}"
    );
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.toml");
    let text = "name = \"Mine\"\ndata_sheet = \"my own, page 1\"\naddresses = [0x68]\n\
                [[register]]\nat = 0\nname = \"now\"\nbytes = 7\n";
    std::fs::write(&file, text).unwrap();
    let mut own = registers.to_vec();
    let option = ["--option", "parts=mine", "--registers"];
    own.extend(option);
    own.push(file.to_str().unwrap());
    let lines = printed(DS1307, &own);
    assert!(
        lines.contains("Mine 0x68: read now = 0x30352301100313"),
        "{lines}"
    );
    let mut missing = registers.to_vec();
    missing.extend(["--option", "parts=mine"]);
    let output = decode(DS1307, &missing).output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && complaint.contains("ds1307"),
        "{complaint}"
    );
}

#[test]
fn both_lines_of_a_uart_talk() {
    let args = [
        "--protocol",
        "uart-conversation",
        "--map",
        "rx=Pin 1,tx=Pin 3",
        "--option",
        "baudrate=115200",
        "--option",
        "show=ascii",
        "--annotations",
        "data",
    ];
    let lines = printed("uart_amulet_bootup/bootup.sr", &args);
    let lines: Vec<&str> = lines.lines().collect();
    let said = |line: &&str| line.split_once(": ").unwrap().1.to_owned();
    let last: Vec<String> = lines[lines.len() - 3..].iter().map(said).collect();
    assert_eq!(last, ["RX [D2]9F", "TX [E2]9F1.23 [00]", "RX [F0]"]);
}

/// By a script in place of `sigrok-cli`, on the search path.
#[test]
fn decoders_of_sigrok_are_used_where_it_is_installed() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("sigrok-cli");
    let script = "#!/bin/sh\ncase \"$1\" in\n  -P) printf 'ID: %s\\nName: A decoder\\nPossible decoder input IDs:\\n- logic\\n\
                  Annotation classes:\\n- word: Words\\nRequired channels:\\n- line (LINE): A line\\n' \"$2\"; exit 0;;\nesac\n\
                  bytes=$(wc -c); printf '1-2 good-1: word: \"%s bytes\"\\n' \"$bytes\"\n";
    let engine = [
        "--engine",
        "sigrok",
        "--protocol",
        "good",
        "--map",
        "line=SCL",
    ];
    let mut absent = decode(DS1307, &engine);
    let output = absent.env("PATH", folder.path()).output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && complaint.contains("sigrok-cli is not installed"),
        "{complaint}"
    );
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", folder.path().display());
    let mut there = decode(DS1307, &engine);
    let output = there.env("PATH", path).output().unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert_eq!(lines, "1-2 good-1: 24576 bytes\n", "{complaint}");
}
