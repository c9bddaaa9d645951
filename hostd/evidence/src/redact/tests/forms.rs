//! All ways to write a secret that tools use, each whole and cut at every place.

use std::fmt::Write;
use std::time::{Duration, Instant};

use base64::engine::general_purpose::{STANDARD, URL_SAFE};

use super::*;

/// Most bytes that a byte in digits has, with what is between them.
const DIGITS_SHOWN: usize = "0x70, ".len();

/// With something that each language escapes.
const VALUES: [&str; 4] = [
    "hunter2-correct-horse:battery/staple+=&",
    "pass\"word\\with\"quotes and\ttab $x `y` <z>",
    "it's a secret: üß€😀!",
    "-----BEGIN KEY-----\nMIIEpAIBAAKCAQEA7bq9\nshort\nQmFzZTY0TGluZU9mS2V5\n-----END KEY-----",
];

/// Each byte as `write` says.
fn each_byte(value: &str, write: impl Fn(u8) -> String) -> String {
    value.bytes().map(write).collect()
}

/// Each character as `write` says.
fn each_char(value: &str, write: impl Fn(char) -> String) -> String {
    value.chars().map(write).collect()
}

fn percent(value: &str, stay: &str, is_capital: bool) -> String {
    each_byte(value, |byte| {
        let c = char::from(byte);
        match c.is_ascii_alphanumeric() || stay.contains(c) {
            true => c.to_string(),
            false if is_capital => format!("%{byte:02X}"),
            false => format!("%{byte:02x}"),
        }
    })
}

fn utf16(c: char) -> String {
    let mut units = [0; 2];
    c.encode_utf16(&mut units)
        .iter()
        .fold(String::new(), |mut text, unit| {
            let _ = write!(text, "\\u{unit:04x}");
            text
        })
}

fn json(value: &str, is_ascii: bool) -> String {
    each_char(value, |c| match c {
        '"' | '\\' => format!("\\{c}"),
        '\n' => "\\n".to_owned(),
        '\t' => "\\t".to_owned(),
        c if is_ascii && !c.is_ascii() => utf16(c),
        c => c.to_string(),
    })
}

fn html(value: &str, quote: &str, apostrophe: &str) -> String {
    let value = value.replace('&', "&amp;").replace('<', "&lt;");
    let value = value.replace('>', "&gt;").replace('"', quote);
    value.replace('\'', apostrophe)
}

fn lines(text: &str, columns: usize) -> String {
    let lines = text.as_bytes().chunks(columns).map(super::text);
    lines.collect::<Vec<_>>().join("\n")
}

fn hexadecimal(value: &str, between: &str, is_capital: bool) -> String {
    let digits = value.bytes().map(|byte| match is_capital {
        true => format!("{byte:02X}"),
        false => format!("{byte:02x}"),
    });
    digits.collect::<Vec<_>>().join(between)
}

/// What tools print of a secret.
#[expect(clippy::too_many_lines, reason = "a table")]
fn written(value: &str) -> Vec<(&'static str, String)> {
    let encoded = STANDARD.encode(value);
    let octal = |byte: u8| match byte {
        b'!'..=b'~' if byte != b'\\' => char::from(byte).to_string(),
        _ => format!("\\{byte:03o}"),
    };
    let shell =
        |c: char| match c.is_ascii_alphanumeric() || "-_./:\n\t".contains(c) || !c.is_ascii() {
            true => c.to_string(),
            false => format!("\\{c}"),
        };
    vec![
        ("plain", value.to_owned()),
        ("URL", percent(value, "-._~", true)),
        ("URL, lower case", percent(value, "-._~", false)),
        ("URL that leaves /", percent(value, "-._~/", true)),
        (
            "URL that leaves what a path may have",
            percent(value, "-._~/:+=&$@", true),
        ),
        ("form", percent(value, "-._* ", true).replace(' ', "+")),
        (
            "every byte as URL",
            each_byte(value, |byte| format!("%{byte:02x}")),
        ),
        ("JSON", json(value, true)),
        ("JSON in UTF-8", json(value, false)),
        ("JSON that escapes /", json(value, true).replace('/', "\\/")),
        ("JSON that escapes all", each_char(value, utf16)),
        ("Python", json(value, false).replace('\'', "\\'")),
        (
            "Python bytes",
            each_byte(value, |byte| format!("\\x{byte:02x}")),
        ),
        ("C", each_byte(value, octal)),
        ("shell, %q", each_char(value, shell)),
        (
            "shell, $'…'",
            json(value, false)
                .replace('\'', "\\'")
                .replace("\\\"", "\""),
        ),
        ("shell, '…'", value.replace('\'', "'\\''")),
        ("shell, shlex", value.replace('\'', "'\"'\"'")),
        ("HTML", html(value, "&quot;", "&#x27;")),
        ("HTML by number", html(value, "&#34;", "&#39;")),
        ("XML", html(value, "&quot;", "&apos;")),
        (
            "HTML that escapes all",
            each_char(value, |c| format!("&#{};", u32::from(c))),
        ),
        ("hexadecimal", hexadecimal(value, "", false)),
        ("capital hexadecimal", hexadecimal(value, "", true)),
        ("od", lines(&hexadecimal(value, " ", false), 48)),
        ("xxd -p", lines(&hexadecimal(value, "", false), 60)),
        ("hexadecimal with colons", hexadecimal(value, ":", true)),
        ("xxd -i", format!("0x{}", hexadecimal(value, ", 0x", false))),
        ("base 64", encoded.clone()),
        ("base 64 of URLs", URL_SAFE.encode(value)),
        ("base 64 behind 1", STANDARD.encode(format!("x{value}"))),
        ("base 64 behind 2", STANDARD.encode(format!("xx{value}y"))),
        (
            "base 64 of a login",
            STANDARD.encode(format!("user:{value}")),
        ),
        ("base 64, 20", lines(&encoded, 20)),
        ("base 64, 64", lines(&encoded, 64)),
        ("base 64, 76", lines(&encoded, 76)),
        ("base 64, 3", lines(&encoded, 3)),
        ("base 64, CRLF", lines(&encoded, 30).replace('\n', "\r\n")),
        ("CRLF", value.replace('\n', "\r\n")),
        (
            "coloured",
            each_char(value, |c| format!("\x1b[01;31m{c}\x1b[m\x1b[K")),
        ),
        (
            "coloured JSON",
            each_char(&json(value, true), |c| format!("\x1b[1m{c}")),
        ),
        ("title", format!("\x1b]0;{value}\x07")),
        ("overwritten", each_char(value, |c| format!("{c}\r"))),
    ]
}

/// Whether more of a value is to be seen than what its neighbours in an encoding have of it.
fn is_hidden(shown: &str) -> bool {
    let around = shown.replace("[secret]", "");
    around.len() <= 24
}

#[test]
fn every_way_to_write_a_secret_is_found() {
    for value in VALUES {
        let secrets = secrets(&[value.as_bytes()]);
        for (how, said) in written(value) {
            let shown = text(&secrets.redacted(said.as_bytes()));
            assert!(shown.contains("[secret]"), "{how}: {said:?} {shown:?}");
            let seen = crate::plain::text(&shown);
            assert!(is_hidden(&seen), "{how}: {said:?} {shown:?}");
            assert!(!crate::plain::text(&shown).contains(&value[..8]), "{how}");
        }
    }
}

#[test]
fn no_cut_shows_what_is_found_in_the_whole() {
    let value = VALUES[1];
    let secrets = secrets(&[value.as_bytes()]);
    for (how, said) in written(value) {
        let said = format!("<{said}>");
        let whole = text(&secrets.redacted(said.as_bytes()));
        for cut in 0..said.len() {
            let mut redactor = secrets.redactor();
            let mut out = Vec::new();
            let (begin, end) = said.as_bytes().split_at(cut);
            redactor.push(begin, &mut out);
            redactor.push(end, &mut out);
            redactor.finish(&mut out);
            let shown = text(&out);
            // Of digits, the first byte may have been shown when it was alone.
            let is_same =
                shown == whole || shown.len() <= whole.len() + DIGITS_SHOWN && is_hidden(&shown);
            assert!(is_same, "{how} {cut}: {shown:?} {whole:?}");
        }
    }
}

#[test]
fn innocent_text_stays_as_it_is() {
    let secrets = secrets(&[VALUES[0].as_bytes(), VALUES[2].as_bytes()]);
    let said = "100% of src/a\\b.c: it's 50%+ \\u12 &amp &#; '\\'' \"x\" %zz %4 0x12 deadbeef\n\
        aHVudGVyMg== hunter2 \x1b[31mred\x1b[0m \\\n";
    assert_eq!(text(&secrets.redacted(said.as_bytes())), said);
    let mut random = Rng::with_seed(11);
    let letters = b"%\\'\"&;#x0189abfuU+ \n-:";
    for _ in 0..2000 {
        let said: Vec<u8> = (0..60)
            .map(|_| random.choice(letters).copied().unwrap())
            .collect();
        let mut redactor = secrets.redactor();
        let mut out = Vec::new();
        for part in said.chunks(random.usize(1..9)) {
            redactor.push(part, &mut out);
        }
        redactor.finish(&mut out);
        assert_eq!(text(&out), text(&said));
    }
}

#[test]
fn what_a_page_joins_has_no_secret() {
    let secrets = secrets(&[b"hunter2-correct-horse"]);
    let grep = "url=hunter2-\x1b[01;31m\x1b[Kcorrect\x1b[m\x1b[K-horse@h";
    let shown = text(&secrets.redacted(grep.as_bytes()));
    assert_eq!(crate::plain::text(&shown), "url=[secret]@h");
    // Nor has the beginning of what was cut off.
    let mut cut = "x hunter2-correct-hors".to_owned();
    secrets.redact_cut(&mut cut);
    assert_eq!(cut, "x ");
    let mut cut = "x hunter2-correct-horse y hun".to_owned();
    secrets.redact_cut(&mut cut);
    assert_eq!(cut, "x [secret] y ");
}

#[test]
fn a_secret_of_one_letter_costs_no_more_than_another() {
    let mut took = Vec::new();
    for letter in *b"az" {
        let secret = vec![letter; 4096];
        let secrets = secrets(&[&secret]);
        let said = vec![b'a'; 1 << 20];
        let begun = Instant::now();
        let mut redactor = secrets.redactor();
        let mut out = Vec::new();
        for read in said.chunks(16 << 10) {
            redactor.push(read, &mut out);
        }
        redactor.finish(&mut out);
        took.push(begun.elapsed());
        let expected: &[u8] = if letter == b'a' { MARK } else { &said };
        assert!(out == expected);
    }
    // In proportion to its length it is a matter of milliseconds; by its square it would be minutes.
    assert!(took[0] < 20 * took[1] + Duration::from_secs(1), "{took:?}");
}

#[test]
fn what_is_held_back_is_bounded() {
    let secrets = secrets(&[b"hunter2-correct-horse"]);
    let mut redactor = secrets.redactor();
    let mut out = Vec::new();
    redactor.push(STANDARD.encode("hunter2-corr").as_bytes(), &mut out);
    let space = vec![b' '; 64 << 10];
    for _ in 0..64 {
        redactor.push(&space, &mut out);
        assert!(redactor.held.len() <= HELD_BYTES_MAX);
    }
    assert!(out.len() >= (64 << 16) - HELD_BYTES_MAX);
}
