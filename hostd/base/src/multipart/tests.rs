//! Forms as clients write them, whole and in pieces, and bodies that are not forms.

use super::fuzz::{Parts, form, read};
use super::*;
use crate::seeded::Random;

const BODY: &[u8] =
    b"--XX\r\nContent-Disposition: form-data; name=\"target\"\r\n\r\nstm32f0x\r\n--XX\r\n\
Content-Disposition: form-data; name=\"firmware\"; filename=\"a\\\"b.elf\"\r\n\
Content-Type: application/octet-stream\r\n\r\n\x7fELF\r\n--X\r\n--\r\n--XX\r\n\
Content-Disposition: form-data; name=empty\r\n\r\n\r\n--XX--\r\nwhatever follows";

fn whole(body: &[u8]) -> Result<Parts, FormError> {
    read(std::iter::once(body))
}

fn expected() -> Parts {
    vec![
        ("target".into(), None, b"stm32f0x".to_vec()),
        (
            "firmware".into(),
            Some("a\"b.elf".into()),
            b"\x7fELF\r\n--X\r\n--".to_vec(),
        ),
        ("empty".into(), None, Vec::new()),
    ]
}

fn pieces<'a>(random: &mut Random, body: &'a [u8], longest: usize) -> Vec<&'a [u8]> {
    let mut rest = body;
    let mut pieces = Vec::new();
    while !rest.is_empty() {
        let (piece, after) = rest.split_at((1 + random.index(longest)).min(rest.len()));
        pieces.push(piece);
        rest = after;
    }
    pieces
}

#[test]
fn parts_come_out_however_the_body_is_cut() {
    assert_eq!(whole(BODY).unwrap(), expected());
    assert_eq!(whole(b"--XX--").unwrap(), []);
    assert_eq!(read(BODY.chunks(1)).unwrap(), expected());
    let mut random = Random(7);
    for longest in [2, 3, 5, 17, 90] {
        for _ in 0..50 {
            let pieces = pieces(&mut random, BODY, longest);
            assert_eq!(read(pieces.into_iter()).unwrap(), expected());
        }
    }
}

#[test]
fn a_preamble_and_padding_are_passed_over() {
    let body = b"for old readers\r\n--XX \t\r\ncontent-disposition: form-data; name=\"a\"\r\n\r\n1\r\n--XX--";
    assert_eq!(whole(body).unwrap(), [("a".into(), None, b"1".to_vec())]);
    let long = [&[b' '; PREAMBLE_BYTES_MAX + 1][..], body].concat();
    assert_eq!(whole(&long), Err(FormError::NoBoundary));
}

#[test]
fn what_is_no_form_is_told() {
    let part = |head: &str| format!("--XX\r\n{head}\r\n\r\n1\r\n--XX--").into_bytes();
    for (body, error) in [
        (b"".to_vec(), FormError::NoBoundary),
        (b"{}".to_vec(), FormError::NoBoundary),
        (b"--XXY\r\n".to_vec(), FormError::BoundaryLine),
        (b"--XX-".to_vec(), FormError::CutOff),
        (BODY[..BODY.len() - 24].to_vec(), FormError::CutOff),
        (
            part(&format!("X-Long: {}", "a".repeat(HEAD_BYTES_MAX))),
            FormError::HeadTooLong,
        ),
        (part(""), FormError::Head("a part has no name")),
        (part("nonsense"), FormError::Head("a line has no colon")),
        (
            part("Content-Disposition: attachment; name=\"a\""),
            FormError::Head("a part is no form-data"),
        ),
        (
            part("Content-Disposition: form-data; name=\"a"),
            FormError::Head("a quote is not closed"),
        ),
        (
            part("Content-Disposition: form-data; name=a\r\nContent-Transfer-Encoding: base64"),
            FormError::Head("its transfer encoding is not binary"),
        ),
    ] {
        assert_eq!(whole(&body), Err(error), "{}", body.escape_ascii());
    }
    let many = "--XX\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n".repeat(PARTS_MAX + 1);
    assert_eq!(whole(many.as_bytes()), Err(FormError::TooManyParts));
}

#[test]
fn names_of_files_have_no_folders() {
    for (told, kept) in [
        ("../../etc/passwd", Some("passwd")),
        ("C:\\\\work\\\\fw.bin", Some("fw.bin")),
        ("C:\\work\\fw.bin", Some("fw.bin")),
        ("..", None),
        ("a/", None),
        ("", None),
        ("a\u{7}", None),
    ] {
        let head = format!("Content-Disposition: form-data; name=\"f\"; filename=\"{told}\"");
        let parsed = Head::parse(head.as_bytes());
        assert_eq!(
            parsed.ok().and_then(|h| h.file_name).as_deref(),
            kept,
            "{told}"
        );
    }
}

#[test]
fn boundaries() {
    let named = |text: &str| boundary(text).unwrap();
    assert_eq!(named("application/json"), None);
    assert_eq!(
        named("Multipart/Form-Data; boundary=a-b"),
        Some("a-b".into())
    );
    assert_eq!(
        named("multipart/form-data; charset=utf-8; boundary=\"a b\""),
        Some("a b".into())
    );
    for bad in [
        "",
        "boundary=",
        "boundary=a\"b",
        "boundary=\"a",
        "boundary=\"a \"",
        "boundary",
    ] {
        assert!(
            boundary(&format!("multipart/form-data; {bad}")).is_err(),
            "{bad}"
        );
    }
    let long = format!("multipart/form-data; boundary={}", "a".repeat(71));
    assert!(boundary(&long).is_err());
}

#[test]
fn mutated_forms_never_panic_and_give_nothing_that_was_not_there() {
    const TOKENS: &[&[u8]] = &[
        b"\r\n--XX",
        b"--XX--",
        b"\r\n\r\n",
        b"\r\n",
        b"--",
        b"\"",
        b"\\",
        b";",
        b":",
        b"\xff",
        b"\0",
        b"=",
    ];
    let mut random = Random(0xF0_12);
    for _ in 0..5000 {
        let mut body = BODY.to_vec();
        for _ in 0..=random.index(4) {
            let at = random.index(body.len() + 1);
            match random.index(4) {
                0 => body.truncate(at),
                1 => {
                    let token = TOKENS[random.index(TOKENS.len())];
                    body.splice(at..at, token.iter().copied());
                }
                2 if at < body.len() => body[at] = u8::try_from(random.index(256)).unwrap(),
                _ => {
                    let end = (at + random.index(40)).min(body.len());
                    body.drain(at..end);
                }
            }
        }
        // However it is split, it means the same.
        body.insert(0, u8::try_from(1 + random.index(30)).unwrap());
        form(&body);
    }
}
