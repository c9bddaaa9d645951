//! What passes unchanged, and what is spoiled, however it arrives in pieces.

use base::seeded::Random;

use super::*;

/// What becomes of these bytes when they arrive in pieces of at most so many.
fn passed(text: &str, piece: usize) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let mut heads = Heads::new();
    for part in bytes.chunks_mut(piece) {
        heads.pass(part);
    }
    String::from_utf8(bytes).unwrap()
}

const FINE: [&str; 9] = [
    "GET / HTTP/1.1\r\nhost: x\r\n\r\n",
    "\r\n\r\nGET / HTTP/1.1\r\n\r\n",
    "POST / HTTP/1.1\r\ncontent-length: 3\r\n\r\na\nb",
    "POST / HTTP/1.1\r\ncontent-length: 3\r\ncontent-length: 3\r\n\r\na\nb",
    "POST / HTTP/1.1\r\ntransfer-encoding: gzip, Chunked\r\n\r\n2;x=y\r\n\n\n\r\n0a \r\n0123456\n89\r\n0\r\na: b\r\n\r\n",
    "POST / HTTP/1.1\r\ncontent-length: 0\r\n\r\n",
    "POST / HTTP/1.1\r\nx: content-length: 3\r\nx-content-length: 9\r\n\r\n",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nanything\n",
    // The library refuses these by itself, and ends the connection.
    "POST / HTTP/1.1\r\ncontent-length: x\r\n\r\nanything\n",
];

/// The part of each that is spoiled is marked.
const REFUSED: [&str; 9] = [
    "GET / HTTP/1.1~",
    "~",
    "GET / HTTP/1.1\r\nhost: x~",
    "GET / HTTP/1.1\r\nhost: x\r\n~",
    "POST / HTTP/1.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r~",
    "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\ncontent-length: 4\r\n\r~",
    "POST / HTTP/1.1\r\ntransfer-encoding: x\r\ncontent-length: 4\r\n\r~",
    "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n3~",
    "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n0\r\na: b~",
];

#[test]
fn requests_pass_one_behind_the_other() {
    for first in &FINE[..7] {
        for second in FINE {
            let both = format!("{first}{second}");
            for piece in [1, 2, 7, both.len()] {
                assert_eq!(passed(&both, piece), both, "{piece}");
            }
        }
    }
}

#[test]
fn what_can_be_read_in_two_ways_is_spoiled_behind_any_request() {
    for before in std::iter::once("").chain(FINE[..7].iter().copied()) {
        for refused in REFUSED {
            let sent = format!("{before}{}rest\n", refused.replace('~', "\n"));
            let spoiled = format!("{before}{}rest\n", refused.replace('~', "\0"));
            for piece in [1, 2, 7, sent.len()] {
                assert_eq!(passed(&sent, piece), spoiled, "{piece}");
            }
        }
    }
}

#[test]
fn long_lines_hide_nothing() {
    let spaces = " ".repeat(LINE_BYTES_MAX);
    for field in ["content-length", "transfer-encoding"] {
        let head = format!("POST / HTTP/1.1\r\n{field}:{spaces}chunked\r\n\r\n");
        assert!(passed(&head, 9).contains('\0'), "{field}");
    }
    let zeroes = "0".repeat(LINE_BYTES_MAX);
    let sized = format!("POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n{zeroes}5\r\n");
    assert!(passed(&sized, 9).ends_with('\0'));
    let long = format!("GET /{zeroes} HTTP/1.1\r\nx: {spaces}y\r\n\r\n");
    assert_eq!(passed(&long, 9), long);
}

#[test]
fn pieces_make_no_difference() {
    let mut random = Random(0x4ead);
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..=random.below(3) {
            text += FINE[random.index(7)];
        }
        let mut bytes = text.into_bytes();
        for _ in 0..random.below(4) {
            let at = random.index(bytes.len());
            match random.below(3) {
                0 => bytes[at] = b"\r\n:0 c"[random.index(6)],
                1 => drop(bytes.remove(at)),
                _ => bytes.insert(at, b"\r\n:0 c"[random.index(6)]),
            }
        }
        let mut whole = bytes.clone();
        Heads::new().pass(&mut whole);
        let mut heads = Heads::new();
        let piece = 1 + random.index(9);
        for part in bytes.chunks_mut(piece) {
            heads.pass(part);
        }
        assert_eq!(bytes, whole);
    }
}
