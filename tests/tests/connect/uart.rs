//! The UART as raw bytes and as a serial port.

use std::io::{Read, Write};
use std::process::Command;

use super::*;

#[test]
fn a_terminal_talks_to_the_target_one_at_a_time() {
    let bench = bench();
    let connected = Connected::start(
        &bench.server,
        &[&["d0", "--uart", "0"], &WIRES[..]].concat(),
    );
    let mut first = connected.open("uart");
    talk(&mut first);
    // Nobody else, who is told so, until the first leaves.
    let mut second = connected.open("uart");
    let mut said = Vec::new();
    second.read_to_end(&mut said).unwrap();
    let said = String::from_utf8(said).unwrap();
    assert_eq!(
        said,
        "hostd: there is a client already, and room for no other\r\n"
    );
    first.write_all(b"help\r").unwrap();
    read_until(&mut first, b"commands:");
    drop(first);
    let mut next = connected.open("uart");
    next.write_all(b"help\r").unwrap();
    read_until(&mut next, b"commands:");
    connected.stop();
}

/// What a client of RFC 2217 sends for a setting.
fn setting(bytes: &[u8]) -> Vec<u8> {
    [&[255, 250, 44][..], bytes, &[255, 240]].concat()
}

#[test]
fn a_serial_port_changes_its_rate_without_losing_its_client() {
    let bench = bench();
    let args = [&["d0", "--rfc2217", "0", "--uart", "0"], &WIRES[..]].concat();
    let connected = Connected::start(&bench.server, &args);
    let mut port = connected.open("rfc2217");
    // Both sides will have it so.
    port.write_all(&[255, 253, 44, 255, 251, 44, 255, 251, 0])
        .unwrap();
    let rate = |baud: u32, command: u8| setting(&[&[command][..], &baud.to_be_bytes()].concat());
    port.write_all(&rate(9600, 1)).unwrap();
    read_until(&mut port, &rate(9600, 101));
    port.write_all(&rate(0, 1)).unwrap();
    read_until(&mut port, &rate(9600, 101));
    // What the pod cannot do is answered with what it does.
    port.write_all(&setting(&[2, 7])).unwrap();
    read_until(&mut port, &setting(&[102, 8]));
    port.write_all(&setting(&[5, 5])).unwrap();
    read_until(&mut port, &setting(&[105, 5]));
    port.write_all(&rate(115_200, 1)).unwrap();
    read_until(&mut port, &rate(115_200, 101));
    let mut raw = connected.open("uart");
    talk(&mut raw);
    port.write_all(b"help\r").unwrap();
    read_until(&mut port, b"commands:");
    connected.stop();
}

#[test]
fn a_command_runs_with_the_bridges_up_and_its_code_is_what_counts() {
    let bench = bench();
    let url = bench.server.url.clone();
    let run = |script: &str| {
        let args = [
            &["d0", "--uart", "0"],
            &WIRES[..],
            &["--exec", "--", "bash", "-c", script],
        ];
        let mut command: Command = command(&url, &bench.server.api_key, &args.concat());
        let output = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (
            output.status.code(),
            text(&output.stdout),
            text(&output.stderr),
        )
    };
    let script = r#"exec 3<>"/dev/tcp/${HOSTD_UART%:*}/${HOSTD_UART#*:}"
        for try in $(seq 100); do
            printf 'help\r' >&3
            if IFS= read -r -t 0.3 -d : answer <&3 && [[ $answer == *commands ]]; then echo found; exit 7; fi
        done"#;
    let (code, out, told) = run(script);
    assert_eq!((code, out.as_str()), (Some(7), "found\n"), "{told}");
    assert!(told.contains("d0 is given back"), "{told}");
    assert_eq!(record(&bench)["lease"], Value::Null);
    let (code, _, told) = run("exit 0");
    assert_eq!(code, Some(0), "{told}");
}

#[test]
fn the_first_line_of_the_guide_works_on_the_demo_server() {
    let server = Server::demo().unwrap();
    let path = format!("/api/bench/devices/{}/flash", server.device());
    let firmware = tests::demo_elf();
    let file = ("firmware", "demo.elf", &firmware[..]);
    let flashed = server.client().post_form(&path, &[], file).unwrap();
    assert_eq!(flashed.expect(200)["ok"], true);
    let guide = include_str!("../../../docs/bridges.md");
    let first = guide
        .lines()
        .find_map(|line| line.strip_prefix("hostd connect "))
        .unwrap();
    // Its ports may be in use here.
    let is_port = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let words = first.split_whitespace();
    let words: Vec<&str> = words
        .map(|word| if is_port(word) { "0" } else { word })
        .collect();
    let connected = Connected::start(&server, &words);
    talk(&mut connected.open("uart"));
    connected.address("gdb");
    connected.stop();
}
