//! The debug probe over TCP, in the words of OpenOCD; the client tests have the real one.

use std::io::{Read, Write};

use super::*;

const HEADER: [u8; 4] = *b"DAP\0";

/// One packet and its answer.
fn ask(probe: &mut TcpStream, packet: &[u8]) -> Vec<u8> {
    let length = u16::try_from(packet.len()).unwrap().to_le_bytes();
    let request = [&HEADER, &length[..], &[1, 0], packet].concat();
    probe.write_all(&request).unwrap();
    let mut head = [0; 8];
    probe.read_exact(&mut head).unwrap();
    assert_eq!((&head[..4], head[6]), (&HEADER[..], 2), "{head:?}");
    let mut answer = vec![0; usize::from(u16::from_le_bytes([head[4], head[5]]))];
    probe.read_exact(&mut answer).unwrap();
    answer
}

#[test]
fn packets_reach_the_targets_debug_port() {
    let bench = bench();
    let connected = Connected::start(&bench.server, &["d0", "--dap", "0"]);
    for _ in 0..2 {
        let mut probe = connected.open("dap");
        // The packet size, and that of the pod is the largest.
        assert_eq!(ask(&mut probe, &[0, 0xff]), [0, 2, 0, 4]);
        assert_eq!(ask(&mut probe, &[2, 1]), [2, 1]);
        ask(&mut probe, &[0x11, 0x40, 0x42, 0x0f, 0]);
        ask(&mut probe, &[4, 0, 0xff, 0, 0, 0]);
        ask(&mut probe, &[0x13, 0]);
        // JTAG to SWD, line resets, then the identity of the debug port.
        let reset = [0x12, 51, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
        ask(&mut probe, &reset);
        ask(&mut probe, &[0x12, 16, 0x9e, 0xe7]);
        ask(&mut probe, &reset);
        ask(&mut probe, &[0x12, 8, 0]);
        let identity = ask(&mut probe, &[5, 0, 1, 2]);
        assert_eq!(identity[..3], [5, 1, 1], "{identity:?}");
        assert_eq!(identity[3..], 0x0bb1_1477_u32.to_le_bytes());
        // The next one comes at once, while the pod still lets go of the probe.
    }
    connected.stop();
}

#[test]
fn the_probe_has_one_client_whatever_it_speaks() {
    let bench = bench();
    let args = [
        "d0",
        "--dap",
        "0",
        "--gdb",
        "0",
        "--chip",
        "target/stm32f0x.cfg",
    ];
    let mut connected = Connected::start(&bench.server, &args);
    let mut probe = connected.open("dap");
    ask(&mut probe, &[0, 0xff]);
    let mut other = connected.open("dap");
    assert!(is_cut(&mut other));
    connected.hear("there is a client already, and room for no other");
    let mut gdb = connected.open("gdb");
    assert!(is_cut(&mut gdb));
    connected
        .hear("failed to use the debug probe: a client of --dap has it; one of the two at a time");
    // It goes on for whom it belongs to, and beside the UART.
    assert_eq!(ask(&mut probe, &[0, 0xfe]), [0, 1, 4]);
    // What is no probe's client is told to go, and the probe is free again.
    probe.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    assert!(is_cut(&mut probe));
    connected.hear("the client does not speak CMSIS-DAP over TCP");
    connected.stop();
}

#[test]
fn what_the_pod_refuses_is_told() {
    let bench = bench();
    let args = ["d0", "--dap", "0", "--swclk", "12", "--swdio", "12"];
    let mut connected = Connected::start(&bench.server, &args);
    assert!(is_cut(&mut connected.open("dap")));
    connected.hear("failed to begin a debug session: the pod says: ");
    connected.stop();
}

#[test]
fn a_probes_client_is_cut_off_with_the_lease() {
    let bench = bench();
    let mut connected = Connected::start(&bench.server, &["d0", "--dap", "0"]);
    let mut probe = connected.open("dap");
    ask(&mut probe, &[0, 0xff]);
    take_away(&bench);
    assert!(is_cut(&mut probe));
    let (code, told) = connected.ended();
    assert_eq!(code, Some(5), "{told}");
    assert!(told.contains("hostd: the lease is over: "), "{told}");
}
