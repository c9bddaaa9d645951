//! What is redacted, what stays readable, and that no part of a secret is left in any encoding.

use std::fmt::Write;

use super::*;
use crate::seeded::Random;

const KEY: &str = "bk_AAAAbbbb1234_0123456789abcdefABCDEF01234567";
const TOKEN: &str = "eyJ0eXAiOiJKV1QiLCJhbGciOiJFZERTQSJ9.eyJpc3MiOiJob3N0ZCJ9.c2lnbmF0dXJl-_abc";
const REFRESH: &str = "rt_01ARZ3NDEKTSV4RRFFQ69G5FAV_0123456789abcdefABCDEF0123456789abcdefABCDEF";
const CODE: &str = "Zk3vQ9mB2xT7pL4wR8nY1cHd";

fn shown(line: &str) -> String {
    String::from_utf8(redact(line.as_bytes()).into_owned()).unwrap()
}

#[test]
fn credentials_are_blotted_out_and_their_ids_stay() {
    for (line, expected) in [
        (
            format!("path=\"/api/x/{KEY}/y\""),
            "path=\"/api/x/bk_AAAAbbbb1234_[redacted]/y\"",
        ),
        (
            format!("other_prefix9_{}", &KEY[3..]),
            "other_prefix9_AAAAbbbb1234_[redacted]",
        ),
        (format!("Bearer {TOKEN}, then"), "Bearer [redacted], then"),
        (format!("x{TOKEN}"), "x[redacted]"),
        (
            format!("{KEY}.{TOKEN}"),
            "bk_AAAAbbbb1234_[redacted].[redacted]",
        ),
        (
            REFRESH.to_owned(),
            "rt_01ARZ3NDEKTSV4RRFFQ69G5FAV_[redacted]",
        ),
        (
            format!("{{\"code\":\"{CODE}\"}}"),
            "{\"code\":\"[redacted]\"}",
        ),
        (
            format!("code={CODE}&x={KEY}"),
            "code=[redacted]&x=bk_AAAAbbbb1234_[redacted]",
        ),
        (
            format!("{KEY} {KEY}"),
            "bk_AAAAbbbb1234_[redacted] bk_AAAAbbbb1234_[redacted]",
        ),
        // Truncated, as long texts are.
        (KEY[..26].to_owned(), "bk_AAAAbbbb1234_[redacted]"),
        (TOKEN[..20].to_owned(), "[redacted]"),
    ] {
        assert_eq!(shown(&line), expected);
        assert_eq!(
            shown(expected),
            expected,
            "the second time nothing is left to do"
        );
    }
}

#[test]
fn disguises_do_not_help() {
    for (line, expected) in [
        (
            "bk%5FAAAAbbbb1234%5f0123456789abcdef01234567",
            "bk%5FAAAAbbbb1234%5f[redacted]",
        ),
        (
            "%2Fbk_AAAAbbbb1234_%30123456789abcdef01234567%2F",
            "%2Fbk_AAAAbbbb1234_[redacted]%2F",
        ),
        (
            "bk%255FAAAAbbbb1234%25255F0123456789abcdef",
            "bk%255FAAAAbbbb1234%25255F[redacted]",
        ),
        (r"%65%79%4A0eXAiOiJKV1QiLCJh.eyJpc3", "[redacted]"),
        (r"\u0065yJ0eXAiOiJKV1QiLCJh\u002eyJpc3", "[redacted]"),
        (r"\\u0065yJ0eXAiOiJKV1QiLCJh rest", "[redacted] rest"),
        (r"\u{65}\x79J0eXAiOiJKV1QiLCJh!", "[redacted]!"),
        (r"line\nZk3vQ9mB2xT7pL4wR8nY1cHd\n", r"line\n[redacted]\n"),
        (
            r"line\\nZk3vQ9mB2xT7pL4wR8nY1cHd\\n",
            r"line\\n[redacted]\\n",
        ),
        (r"%2FZk3vQ9mB2xT7pL4wR8nY1cHd%2F", r"%2F[redacted]%2F"),
    ] {
        assert_eq!(shown(line), expected);
    }
}

#[test]
fn other_lines_stay_as_they_are() {
    for line in [
        "",
        "2026-11-21T09:54:16.123456Z  INFO hostd::http::gateway: request request_id=\"938bPFmaeoxQGi35\" method=GET path=\"/api/bench/devices/01ARZ3NDEKTSV4RRFFQ69G5FAV\" route=\"devices.get\" status=200 took_us=412",
        "sha256=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "request_id=\"2cYbHhL3Pq9wE0rTz5uVx7NmKj4\"",
        "sign_in=01ARZ3NDEKTSV4RRFFQ69G5FAV kid=AAAAbbbb1234",
        "failed to read x: ConnectionResetByPeerError, InternalServerErrorValue1",
        "a_capabilities_of eyJ eyJabc __ ____ %%% \\\\ \\u \\x4 %2 %25 100%",
        "550e8400-e29b-41d4-a716-446655440000 5f43a1b2c3d4e5f60718293a",
    ] {
        assert!(
            matches!(redact(line.as_bytes()), Cow::Borrowed(_)),
            "{line}"
        );
    }
}

fn base62(random: &mut Random, len: usize) -> String {
    const ALL: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let chars = (0..len).map(|_| char::from(ALL[random.index(ALL.len())]));
    chars.collect()
}

/// A credential, and the part of it that is secret.
fn credential(random: &mut Random) -> (String, String) {
    match random.below(3) {
        0 => {
            let (len, secret_len) = (1 + random.index(16), 22 + random.index(43));
            let (prefix, kid) = (base62(random, len), base62(random, KEY_ID_LEN));
            let secret = base62(random, secret_len);
            (format!("{prefix}_{kid}_{secret}"), secret)
        }
        1 => {
            let id = crate::id::ulid(&crate::clock::Clock::system());
            let secret = base62(random, 44);
            (format!("rt_{id}_{secret}"), secret)
        }
        _ => {
            let (payload_len, signature) = (20 + random.index(200), base62(random, 86));
            let payload = base62(random, payload_len);
            (format!("{}.{payload}.{signature}", &TOKEN[..36]), signature)
        }
    }
}

/// `text` as some program may have written it.
fn disguised(random: &mut Random, text: &str) -> String {
    let way = random.below(5);
    let mut out = String::new();
    for c in text.chars() {
        let code = u32::from(c);
        let encoded = match way {
            1 => write!(out, "%{code:02x}"),
            2 if random.below(3) == 0 => write!(out, "%{code:02X}"),
            3 if random.below(3) == 0 => write!(out, "%25{code:02X}"),
            4 if random.below(3) == 0 => write!(out, "\\u{code:04x}"),
            _ => write!(out, "{c}"),
        };
        encoded.unwrap();
    }
    out
}

fn undisguised(text: &[u8]) -> Vec<u8> {
    let (mut out, mut at) = (Vec::new(), 0);
    while at < text.len() {
        let c = char_at(&text[at..]);
        out.push(c.decoded.unwrap_or(b' '));
        at += c.len;
    }
    out
}

#[test]
fn no_secret_is_left_in_any_disguise() {
    let mut random = Random(0x7265_6461_6374);
    for _ in 0..20_000 {
        let (credential, secret) = credential(&mut random);
        let noise: String = (0..random.index(40))
            .map(|_| char::from(b" /?&=\"'{}[]:,;\n\t!"[random.index(17)]))
            .collect();
        let line = format!("{noise}{}{noise}", disguised(&mut random, &credential));
        for line in [
            line.clone(),
            serde_json::to_string(&line).unwrap(),
            format!("{line:?}"),
        ] {
            let left = undisguised(&redact(line.as_bytes()));
            let tail = &secret.as_bytes()[secret.len() - 8..];
            assert!(memchr::memmem::find(&left, tail).is_none(), "{line}");
        }
    }
}

#[test]
fn codes_are_found_but_for_very_few() {
    let mut random = Random(0x636f_6465);
    let missed = (0..20_000).filter(|_| {
        let code = base62(&mut random, CODE_LEN);
        shown(&code) == code
    });
    assert!(missed.count() <= 5);
}

#[test]
fn a_line_of_json_stays_one() {
    let mut random = Random(0x6a73_6f6e);
    let parts = [
        KEY, TOKEN, REFRESH, CODE, "\\", "\n", "\"", "\u{1}", "ä", "n", "u0041", "%", "%5F", "_",
    ];
    for _ in 0..20_000 {
        let count = random.index(8);
        let text: String = (0..count)
            .map(|_| parts[random.index(parts.len())])
            .collect();
        let line = serde_json::json!({ "path": text }).to_string();
        let line = redact(line.as_bytes());
        assert!(
            serde_json::from_slice::<serde_json::Value>(&line).is_ok(),
            "{text:?}"
        );
    }
}

#[test]
fn random_bytes_do_no_harm() {
    let mut random = Random(0x6279_7465);
    let bytes = b"%%%\\\\\\u{}x25Ff_AeyJ.- \xff\0";
    for _ in 0..50_000 {
        let len = random.index(60);
        let line: Vec<u8> = (0..len).map(|_| bytes[random.index(bytes.len())]).collect();
        let once = redact(&line).into_owned();
        assert_eq!(redact(&once), once, "{}", line.escape_ascii());
    }
}
