//! Sparse files of all formats that GNU tar writes, and maps that are wrong.

use std::io::Cursor;

use tar::{EntryType, Header};

use super::tar_builder::gzip;
use super::{Tar, assert_refused, judge, open};
use crate::{Limits, unpack};

/// Of a file of 2000 bytes: `head` at 0, `tail` at 1900.
const PIECES: [(u64, u64); 2] = [(0, 4), (1900, 4)];
const STORED: &[u8] = b"headtail";

/// A map in front of the content, as version 1.0 has it.
fn with_map(map: &str, content: &[u8]) -> Vec<u8> {
    let mut bytes = map.as_bytes().to_vec();
    bytes.resize(bytes.len().next_multiple_of(512), 0);
    [&bytes, content].concat()
}

fn version_1(size: &str, map: &str, content: &[u8]) -> Vec<u8> {
    let records = [
        ("GNU.sparse.major", "1"),
        ("GNU.sparse.minor", "0"),
        ("GNU.sparse.name", "dir/image"),
        ("GNU.sparse.realsize", size),
    ];
    let tar = Tar::default().pax(&records);
    tar.file("dir/GNUSparseFile.7/image", &with_map(map, content))
        .plain()
}

fn version_0(records: &[(&str, &str)]) -> Vec<u8> {
    Tar::default()
        .pax(records)
        .file("dir/image", STORED)
        .plain()
}

/// In the old format, with the map in the header.
fn old(is_extended: bool) -> Vec<u8> {
    let mut tar = Tar::default()
        .entry(EntryType::GNUSparse, "dir/image", "", STORED)
        .plain();
    let mut header = Header::new_gnu();
    header.as_mut_bytes().copy_from_slice(&tar[..512]);
    let gnu = header.as_gnu_mut().unwrap();
    for (place, (offset, bytes)) in gnu.sparse.iter_mut().zip(PIECES) {
        place.set_offset(offset);
        place.set_length(bytes);
    }
    gnu.set_real_size(2000);
    gnu.set_is_extended(is_extended);
    header.set_cksum();
    tar[..512].copy_from_slice(header.as_bytes());
    tar
}

pub(super) fn all() -> Vec<Vec<u8>> {
    let pairs = [
        ("GNU.sparse.size", "2000"),
        ("GNU.sparse.numblocks", "2"),
        ("GNU.sparse.offset", "0"),
        ("GNU.sparse.numbytes", "4"),
        ("GNU.sparse.offset", "1900"),
        ("GNU.sparse.numbytes", "4"),
    ];
    let list = [
        ("GNU.sparse.size", "2000"),
        ("GNU.sparse.numblocks", "2"),
        ("GNU.sparse.name", "dir/image"),
        ("GNU.sparse.map", "0,4,1900,4"),
    ];
    vec![
        version_1("2000", "2\n0\n4\n1900\n4\n", STORED),
        version_0(&pairs),
        version_0(&list),
        old(false),
    ]
}

#[test]
fn holes_become_zeros() {
    let mut image = vec![0; 2000];
    for (piece, (offset, bytes)) in STORED.chunks(4).zip(PIECES) {
        let (from, len) = (
            usize::try_from(offset).unwrap(),
            usize::try_from(bytes).unwrap(),
        );
        image[from..from + len].copy_from_slice(piece);
    }
    for tar in all() {
        let folder = tempfile::tempdir().unwrap();
        let bytes = gzip(&tar);
        assert_eq!(judge(&bytes, &Limits::default()).0, "ok");
        let unpacked =
            unpack(Cursor::new(&bytes), &Limits::default(), open(folder.path())).unwrap();
        assert_eq!((unpacked.entries, unpacked.bytes), (2, 2000));
        assert_eq!(
            std::fs::read(folder.path().join("dir/image")).unwrap(),
            image
        );
    }
    // A file that is one hole, and one whose map ends with a piece of nothing.
    for map in ["0\n", "1\n2000\n0\n"] {
        assert_eq!(
            judge(&gzip(&version_1("2000", map, b"")), &Limits::default()).0,
            "ok"
        );
    }
}

#[test]
fn a_wrong_map_names_its_file() {
    let wrong = [
        version_1("2000", "2\n0\n4\n", STORED),
        version_1("2000", "x\n", STORED),
        version_1("2000", "2\n1900\n4\n0\n4\n", STORED),
        version_1("2000", "2\n0\n4\n2\n4\n", STORED),
        version_1("1900", "2\n0\n4\n1900\n4\n", STORED),
        version_1("2000", "2\n0\n4\n1900\n9\n", STORED),
        version_1("2000", "1\n0\n4\n", STORED),
        version_1("2000", "2\n0\n4\n18446744073709551615\n4\n", STORED),
        version_1("2000", "99999999999\n", STORED),
        version_0(&[("GNU.sparse.size", "2000"), ("GNU.sparse.map", "0,4,1900")]),
        version_0(&[("GNU.sparse.numblocks", "1"), ("GNU.sparse.map", "0,8")]),
        version_0(&[
            ("GNU.sparse.size", "8"),
            ("GNU.sparse.numblocks", "2"),
            ("GNU.sparse.map", "0,8"),
        ]),
    ];
    for tar in wrong {
        let message = assert_refused(&gzip(&tar), "damaged");
        assert!(
            message.contains("of the sparse file 'dir/image'"),
            "{message}"
        );
    }
    for records in [
        [("GNU.sparse.offset", "0"), ("GNU.sparse.offset", "4")],
        [("GNU.sparse.map", "0,x"), ("GNU.sparse.size", "8")],
        [("GNU.sparse.shape", "1"), ("GNU.sparse.size", "8")],
    ] {
        assert_refused(&gzip(&version_0(&records)), "damaged");
    }
}

#[test]
fn a_format_that_is_not_read_names_its_file() {
    let two = [
        ("GNU.sparse.major", "2"),
        ("GNU.sparse.name", "dir/image"),
        ("GNU.sparse.realsize", "8"),
    ];
    for tar in [old(true), version_0(&two)] {
        let message = assert_refused(&gzip(&tar), "sparse");
        assert!(
            message.starts_with("entry 'dir/image' is a sparse file"),
            "{message}"
        );
    }
    let link = Tar::default()
        .pax(&[("GNU.sparse.size", "8")])
        .link("x", "y");
    assert_refused(&link.gz(), "data_of_no_file");
}

#[test]
fn holes_count_as_what_is_unpacked() {
    let limits = Limits {
        unpacked_bytes_max: 1 << 20,
        ratio_free_bytes: 1 << 16,
        ..Limits::default()
    };
    let of = |size: u64| gzip(&version_1(&size.to_string(), "0\n", b""));
    assert_eq!(judge(&of(1 << 16), &limits).0, "too_dense");
    assert_eq!(judge(&of(1 << 15), &limits).0, "ok");
    let all = Limits {
        ratio_free_bytes: u64::MAX,
        ..limits
    };
    assert_eq!(judge(&of(1 << 20), &all).0, "ok");
    assert_eq!(judge(&of((1 << 20) + 1), &all).0, "unpacked_too_large");
    assert_eq!(judge(&of(u64::MAX), &all).0, "unpacked_too_large");
    // Many that fit one by one.
    let records = [("GNU.sparse.major", "1"), ("GNU.sparse.realsize", "40000")];
    let mut tar = Tar::default();
    for name in ["a", "b", "c"] {
        tar = tar.pax(&records).file(name, &with_map("0\n", b""));
    }
    assert_eq!(judge(&tar.gz(), &limits).0, "too_dense");
}
