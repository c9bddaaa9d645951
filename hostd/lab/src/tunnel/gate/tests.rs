//! What passes the gate and what does not, mode by mode, and that nothing slips past it.

use super::*;

const MS: Duration = Duration::from_millis(1);

fn gate(kind: Kind) -> (Gate, Instant) {
    let now = Instant::now();
    (Gate::new(kind, Tier::Instrument, now), now)
}

fn say(gate: &mut Gate, bytes: &[u8], now: Instant) -> Verdict {
    gate.client(Bytes::copy_from_slice(bytes), now)
}

fn passed(verdict: Verdict) -> Vec<u8> {
    match verdict {
        Verdict::Pass { bytes, rest } => {
            assert!(rest.is_empty(), "left: {rest:?}");
            bytes.to_vec()
        }
        other => panic!("{other:?}"),
    }
}

fn refused(verdict: Verdict) -> String {
    match verdict {
        Verdict::Refuse { line, .. } => String::from_utf8(line).unwrap(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn commands_pass_line_by_line_however_they_are_cut() {
    let (mut gate, now) = gate(Kind::Any);
    let line = b"{\"cmd\":\"ping\"}\n";
    for cut in 1..line.len() {
        assert_eq!(passed(say(&mut gate, &line[..cut], now)), b"");
        assert_eq!(passed(say(&mut gate, &line[cut..], now)), line);
    }
    let two = [&line[..], line].concat();
    assert_eq!(passed(say(&mut gate, &two, now)), two);
    assert_eq!(passed(say(&mut gate, b"\r\n\n", now)), b"");
}

#[test]
fn a_kind_is_for_its_commands_and_nobody_gets_further_than_he_may() {
    for (kind, verb, fits) in [
        (Kind::Uart, "uart_proxy_start", true),
        (Kind::Uart, "la_capture", false),
        (Kind::Capture, "la_capture", true),
        (Kind::Capture, "target_power", false),
        (Kind::Dac, "replay", true),
        (Kind::Dac, "dap_start", false),
        (Kind::Flash, "dap_start", true),
        (Kind::Flash, "ping", false),
        (Kind::Any, "target_power", true),
        (Kind::Any, "speedtest", false),
        (Kind::Any, "wifi_set", false),
        (Kind::Any, "ota_begin", false),
        (Kind::Any, "no_such_verb", false),
    ] {
        let (mut gate, now) = gate(kind);
        let line = format!("{{\"cmd\":\"{verb}\"}}\n");
        match say(&mut gate, line.as_bytes(), now) {
            Verdict::Pass { .. } => assert!(fits, "{kind:?} {verb}"),
            Verdict::Refuse { line, .. } => {
                assert!(!fits, "{kind:?} {verb}");
                assert!(line.starts_with(b"{\"message\":\"forbidden: "), "{line:?}");
            }
            other @ Verdict::Last { .. } => panic!("{other:?}"),
        }
    }
    let now = Instant::now();
    let mut admin = Gate::new(Kind::Any, Tier::Firmware, now);
    passed(say(&mut admin, b"{\"cmd\":\"ota_begin\"}\n", now));
}

#[test]
fn a_line_that_reads_in_two_ways_is_sent_as_it_was_judged() {
    let (mut gate, now) = gate(Kind::Any);
    let twice = b"{\"cmd\":\"ota_begin\",\"cmd\":\"ping\"}\n";
    assert_eq!(passed(say(&mut gate, twice, now)), b"{\"cmd\":\"ping\"}\n");
    for other in [&b"*IDN?\n"[..], b"[]\n", b"{\"cmd\":\n", b"\xff\n"] {
        assert!(refused(say(&mut gate, other, now)).contains("not a JSON object"));
    }
    let long = vec![b'x'; REQUEST_LINE_BYTES_MAX + 2];
    assert!(matches!(
        say(&mut gate, &long, now),
        Verdict::Last {
            why: End::LineTooLong,
            ..
        }
    ));
}

const UART: &[u8] = b"{\"cmd\":\"uart_proxy_start\",\"rx\":3,\"tx\":4}\n";
const OK: &[u8] = b"{\"status\":\"ok\",\"data\":\"uart ready\"}\n";
const ERROR: &[u8] = b"{\"status\":\"error\",\"message\":\"uart busy\"}\n";

#[test]
fn raw_bytes_wait_for_the_pods_consent() {
    let (mut gate, now) = gate(Kind::Uart);
    let eager = [UART, b"{\"cmd\":\"ota_begin\"}\n"].concat();
    let Verdict::Pass { rest, .. } = say(&mut gate, &eager, now) else {
        panic!("refused")
    };
    assert_eq!(rest.as_ref(), b"{\"cmd\":\"ota_begin\"}\n");
    assert!(!gate.is_open());
    assert!(!gate.pod(&ERROR[..9], now));
    assert!(gate.pod(&ERROR[9..], now) && gate.is_open());
    assert!(refused(say(&mut gate, &rest, now)).contains("forbidden"));
    passed(say(&mut gate, UART, now));
    assert!(gate.pod(OK, now));
    assert_eq!(
        passed(say(&mut gate, &rest, now)),
        rest,
        "the target gets it, not the pod"
    );
}

#[test]
fn the_escape_of_a_uart_session_ends_the_tunnel() {
    let ends = |parts: &[(&[u8], u32)]| {
        let (mut gate, mut now) = gate(Kind::Uart);
        passed(say(&mut gate, UART, now));
        gate.pod(OK, now);
        for (bytes, pause_ms) in parts {
            now += MS * *pause_ms;
            passed(say(&mut gate, bytes, now));
        }
        gate.wakes_at().is_some() && gate.pause(now + ESCAPE_PAUSE) == Some(End::Escaped)
    };
    assert!(ends(&[(b"+++", 0)]));
    assert!(ends(&[(b"abc", 0), (b"+++", 1000)]));
    assert!(ends(&[(b"abc", 0), (b"+", 600), (b"++", 300)]));
    assert!(ends(&[(b"+", 1000), (b"++", 900)]));
    assert!(ends(&[(b"+", 0), (b"+++", 1000)]));
    assert!(!ends(&[(b"abc+++", 1000)]));
    assert!(!ends(&[(b"abc", 0), (b"+++", 100)]));
    assert!(!ends(&[(b"++++", 1000)]));
    assert!(!ends(&[(b"+++\r", 1000)]));
}

#[test]
fn the_frames_of_a_debug_session_are_counted() {
    let (mut gate, now) = gate(Kind::Flash);
    passed(say(&mut gate, b"{\"cmd\":\"dap_start\"}\n", now));
    gate.pod(b"{\"status\":\"ok\",\"data\":\"dap ready\"}\n", now);
    let frames = b"\x02\x00ab\x01\x00c";
    for cut in 0..frames.len() {
        passed(say(&mut gate, &frames[..cut], now));
        passed(say(&mut gate, &frames[cut..], now));
    }
    // A frame that holds what would be a command elsewhere.
    passed(say(&mut gate, b"\x05\x00{\"c\"\n", now));
    assert_eq!(gate.pause(now + DAP_PAUSE_MAX), Some(End::Idle));
    let Verdict::Last { bytes, why } = say(
        &mut gate,
        b"\x01\x00x\x00\x00{\"cmd\":\"ota_begin\"}\n",
        now,
    ) else {
        panic!("passed")
    };
    assert_eq!((bytes.as_ref(), why), (&b"\x01\x00x"[..], End::FrameEnded));
    let (mut gate, now) = self::gate(Kind::Flash);
    passed(say(&mut gate, b"{\"cmd\":\"dap_start\"}\n", now));
    gate.pod(b"{\"status\":\"ok\"}\n", now);
    assert!(matches!(
        say(&mut gate, b"\x01\x04", now),
        Verdict::Last {
            why: End::FrameEnded,
            ..
        }
    ));
}

#[test]
fn an_upload_is_as_long_as_it_said_or_ends_with_the_pods_error() {
    let (mut gate, now) = gate(Kind::Dac);
    let upload = b"{\"cmd\":\"load_bin\",\"total\":4}\n";
    passed(say(&mut gate, upload, now));
    assert!(gate.pod(b"{\"status\":\"ok\",\"data\":{\"ready\":4}}\n", now));
    let next = b"\x01\x02\n\x04{\"cmd\":\"wifi_set\"}\n";
    let Verdict::Refuse { before, .. } = say(&mut gate, next, now) else {
        panic!("passed")
    };
    assert_eq!(before.as_ref(), b"\x01\x02\n\x04");
    passed(say(&mut gate, upload, now));
    gate.pod(b"{\"status\":\"ok\"}\n", now);
    passed(say(&mut gate, b"\x01", now));
    gate.pod(
        b"{\"ack\":1}\n{\"status\":\"error\",\"message\":\"no data\"}\n",
        now,
    );
    assert!(refused(say(&mut gate, b"{\"cmd\":\"wifi_set\"}\n", now)).contains("wifi_set"));
    passed(say(&mut gate, upload, now));
    gate.pod(b"{\"status\":\"ok\"}\n", now);
    assert_eq!(gate.pause(now + UPLOAD_PAUSE_MAX), Some(End::Idle));
}

/// Whatever both sides say, no command passes that the caller may not send.
#[test]
fn random_bytes_from_both_sides() {
    let mut state = 0x1234_5678_9abc_def1_u64;
    let mut below = |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % n as u64).unwrap()
    };
    const PARTS: [&[u8]; 12] = [
        UART,
        OK,
        ERROR,
        b"{\"cmd\":\"load_bin\",\"total\":9}\n",
        b"{\"cmd\":\"dap_start\"}\n",
        b"{\"cmd\":\"ota_begin\"}\n",
        b"\n",
        b"+++",
        b"\x00\x00",
        b"\x02\x00",
        b"{",
        b"\xff\x07",
    ];
    for _ in 0..5_000 {
        let mut script = vec![u8::try_from(below(5)).unwrap()];
        for _ in 0..20 {
            let part = PARTS[below(PARTS.len())];
            let part = &part[if below(3) == 0 { below(part.len()) } else { 0 }..];
            script.push(u8::try_from(below(32)).unwrap());
            script.push(u8::try_from(part.len()).unwrap());
            script.extend_from_slice(part);
        }
        fuzz::sayings(&script);
    }
}
