//! Parts that files of tests do not have.

use super::bytes::Bytes;
use super::unpack::{Packing, whole};

#[test]
fn numbers_have_signs_and_ends() {
    for (bytes, number) in [
        (&[0x00][..], 0),
        (&[0x3f], 63),
        (&[0x40], -64),
        (&[0x7f], -1),
        (&[0x80, 0x01], 128),
        (&[0xff, 0x7e], -129),
    ] {
        assert_eq!(Bytes::new(bytes, "").signed(), Ok(number), "{bytes:x?}");
    }
    assert_eq!(Bytes::new(&[0xac, 0x02], "").varint(), Ok(300));
    for bytes in [&[][..], &[0x80], &[0x80; 12]] {
        assert!(Bytes::new(bytes, "").varint().is_err());
        assert!(Bytes::new(bytes, "").signed().is_err());
    }
    assert!(Bytes::new(b"no end", "").text().is_err());
}

#[test]
fn packed_parts_are_as_long_as_they_say() {
    // Three letters, and a match of nine from three back.
    let lz4 = [0x35, b'a', b'b', b'c', 3, 0];
    assert_eq!(whole(Packing::Lz4, &lz4, 12).unwrap(), b"abcabcabcabc");
    assert_eq!(whole(Packing::Lz4, &lz4, 2).unwrap(), b"ab");
    assert_eq!(whole(Packing::Lz4, &lz4, 13), None);
    assert_eq!(
        whole(Packing::Lz4, &[0x35, b'a', b'b', b'c', 4, 0], 12),
        None
    );
    // Level 1, then level 2 with a longer match.
    let fastlz = [2, b'a', b'b', b'c', 0xe0, 0, 2];
    assert_eq!(
        whole(Packing::FastLz, &fastlz, 12).unwrap(),
        b"abcabcabcabc"
    );
    let long = [0x20, b'a', 0xe0, 255, 1, 0, 1, b'b', b'c'];
    let found = whole(Packing::FastLz, &long, 268).unwrap();
    assert_eq!((&found[..3], &found[265..]), (&b"aaa"[..], &b"abc"[..]));
    for broken in [&[][..], &[0x40], &[0, b'a', 0xe0, 0, 2], &[5, b'a']] {
        assert_eq!(whole(Packing::FastLz, broken, 12), None, "{broken:x?}");
    }
}
