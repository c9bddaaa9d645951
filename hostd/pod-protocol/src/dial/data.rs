//! `tunnel.data`, of which there are many: written and read without a copy in between.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::BytesMut;

/// The frame that carries these bytes of a tunnel, whose id needs no escapes.
pub fn frame(tunnel: &str, bytes: &[u8]) -> String {
    const BEFORE: &str = r#"{"type":"tunnel.data","tunnel_id":""#;
    const BETWEEN: &str = r#"","data_b64":""#;
    const AFTER: &str = r#""}"#;
    debug_assert!(is_plain(tunnel), "an id needs no escapes");
    let room =
        BEFORE.len() + tunnel.len() + BETWEEN.len() + bytes.len().div_ceil(3) * 4 + AFTER.len();
    let mut text = String::with_capacity(room);
    text.push_str(BEFORE);
    text.push_str(tunnel);
    text.push_str(BETWEEN);
    URL_SAFE_NO_PAD.encode_string(bytes, &mut text);
    text.push_str(AFTER);
    text
}

/// Bytes that `data_b64` stands for, if it is base64url.
pub fn len(data: &str) -> usize {
    data.len() / 4 * 3 + (data.len() % 4).saturating_sub(1)
}

/// Adds what `data_b64` stands for. `None`, and nothing added, if it is not base64url.
pub fn decode(data: &str, into: &mut BytesMut) -> Option<usize> {
    let before = into.len();
    into.resize(before + len(data), 0);
    let decoded = URL_SAFE_NO_PAD.decode_slice(data, &mut into[before..]);
    let count = decoded.as_ref().copied().unwrap_or(0);
    into.truncate(before + count);
    decoded.is_ok().then_some(count)
}

/// Whether a text stands for itself in JSON.
pub(super) fn is_plain(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    text.bytes().all(plain)
}
