//! A document as it is sent: under a file name that harms nobody, and as a page that can do nothing.

use std::fmt::Write;

use runtime::{CallError, Reply, ReplyBody};

use super::wit;

/// What a document's page may do: nothing but show its own style and pictures. It counts as of no origin.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'none'; sandbox allow-downloads";

/// Longest file name in bytes.
const NAME_BYTES_MAX: usize = 128;

/// Longest media type in bytes.
const TYPE_BYTES_MAX: usize = 128;

/// The type of what has none.
const BYTES: &str = "application/octet-stream";

/// The name of what has none.
const NAMELESS: &str = "report";

/// Types that a browser shows; the others it saves.
const SHOWN: [&str; 5] = [
    "image/jpeg",
    "image/png",
    "image/svg+xml",
    "text/html",
    "text/plain",
];

/// Characters that some file system or shell takes for something else.
const UNSAFE: &str = "/\\:*?\"<>|%;";

/// The answer that carries a document of at most `bytes_max`.
pub(super) fn reply(artifact: wit::Artifact, bytes_max: usize) -> Result<Reply, CallError> {
    let bytes = artifact.content.len();
    if bytes > bytes_max {
        return Err(CallError::ResponseTooLarge { bytes, bytes_max });
    }
    let media_type = media_type(&artifact.content_type);
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    let is_shown = SHOWN.contains(&essence.to_ascii_lowercase().as_str());
    let headers = [
        ("content-disposition", disposition(&artifact.name, is_shown)),
        ("content-security-policy", POLICY.to_owned()),
        ("content-type", media_type.to_owned()),
        ("referrer-policy", "no-referrer".to_owned()),
    ];
    let headers = headers.map(|(name, value)| (name.to_owned(), value));
    let body = match artifact.content.is_empty() {
        true => ReplyBody::Empty,
        false => ReplyBody::Bytes(artifact.content.into()),
    };
    Reply::new(200, headers.to_vec(), body)
}

/// A media type, or that of plain bytes if it is none (RFC 9110, 8.3.1).
fn media_type(given: &str) -> &str {
    let is_token = |text: &str| {
        let is_letter = |b: u8| b.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&b);
        !text.is_empty() && text.bytes().all(is_letter)
    };
    let essence = given.split(';').next().unwrap_or_default().trim_end();
    let is_type = essence
        .split_once('/')
        .is_some_and(|(kind, sub)| is_token(kind) && is_token(sub));
    let is_plain = given.bytes().all(|b| b == b' ' || b.is_ascii_graphic());
    match is_type && is_plain && given.len() <= TYPE_BYTES_MAX {
        true => given,
        false => BYTES,
    }
}

/// `Content-Disposition` (RFC 6266) with a file name that every system takes.
fn disposition(name: &str, is_shown: bool) -> String {
    let name = file_name(name);
    let kind = if is_shown { "inline" } else { "attachment" };
    let ascii: String = name
        .chars()
        .map(|c| if c.is_ascii() { c } else { '_' })
        .collect();
    let mut value = format!("{kind}; filename=\"{ascii}\"");
    if ascii != name {
        value.push_str("; filename*=UTF-8''");
        for byte in name.bytes() {
            if byte.is_ascii_alphanumeric() || b"-._".contains(&byte) {
                value.push(char::from(byte));
            } else {
                write!(value, "%{byte:02X}").expect("a text takes every byte");
            }
        }
    }
    value
}

/// A file name without folders, and without what shows as something else.
fn file_name(given: &str) -> String {
    let is_hidden = |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    let replaced = |c: char| match c.is_control() || is_hidden(c) || UNSAFE.contains(c) {
        true => '_',
        false => c,
    };
    let mut name: String = given.chars().take(NAME_BYTES_MAX).map(replaced).collect();
    name.truncate(name.floor_char_boundary(NAME_BYTES_MAX));
    let name = name
        .trim_start_matches(['.', ' '])
        .trim_end_matches(['.', ' ']);
    match name.is_empty() {
        true => NAMELESS.to_owned(),
        false => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(name: &str, content_type: &str) -> Vec<(String, String)> {
        let artifact = wit::Artifact {
            name: name.to_owned(),
            content_type: content_type.to_owned(),
            content: b"x".to_vec(),
            extra: Vec::new(),
        };
        reply(artifact, 1).unwrap().headers
    }

    fn header(headers: &[(String, String)], name: &str) -> String {
        let found = headers.iter().find(|(known, _)| known == name);
        found.unwrap().1.clone()
    }

    #[test]
    fn names_stay_names_of_one_file() {
        for (given, name) in [
            ("i2c.csv", "i2c.csv"),
            ("../../etc/passwd", "_.._etc_passwd"),
            ("a\"; filename=\"b.exe", "a__ filename=_b.exe"),
            ("a\r\nset-cookie: x", "a__set-cookie_ x"),
            ("cod\u{202e}fdp.exe", "cod_fdp.exe"),
            ("...", "report"),
            ("", "report"),
            ("C:\\x.csv ", "C__x.csv"),
        ] {
            assert_eq!(file_name(given), name, "{given:?}");
        }
        assert_eq!(file_name(&"ü".repeat(200)).len(), NAME_BYTES_MAX);
        let value = header(&sent("über.csv", "text/csv"), "content-disposition");
        let wanted = "attachment; filename=\"_ber.csv\"; filename*=UTF-8''%C3%BCber.csv";
        assert_eq!(value, wanted);
    }

    #[test]
    fn pages_can_do_nothing_and_other_things_are_saved() {
        let page = sent("a.html", "text/HTML; charset=utf-8");
        assert!(header(&page, "content-disposition").starts_with("inline;"));
        let policy = header(&page, "content-security-policy");
        assert!(policy.contains("sandbox allow-downloads") && !policy.contains("script"));
        let saved = header(&sent("a.csv", "text/csv"), "content-disposition");
        assert!(saved.starts_with("attachment;"));
    }

    #[test]
    fn what_is_no_media_type_is_plain_bytes() {
        for given in [
            "",
            "text",
            "text/",
            "/html",
            "text/html\r\nx: y",
            "te xt/html",
            "text/ü",
        ] {
            assert_eq!(media_type(given), BYTES, "{given:?}");
        }
        let long = format!("text/csv; a={}", "x".repeat(TYPE_BYTES_MAX));
        assert_eq!(media_type(&long), BYTES);
        assert_eq!(
            media_type("text/csv; charset=utf-8"),
            "text/csv; charset=utf-8"
        );
    }

    #[test]
    fn what_is_too_large_fails() {
        let artifact = wit::Artifact {
            name: String::new(),
            content_type: String::new(),
            content: vec![0; 3],
            extra: Vec::new(),
        };
        let error = reply(artifact, 2).unwrap_err();
        assert!(matches!(
            error,
            CallError::ResponseTooLarge {
                bytes: 3,
                bytes_max: 2
            }
        ));
    }
}
