//! Zips that say different things to different readers.

use std::io::{Cursor, Write};

use zip::write::{SimpleFileOptions, ZipWriter};

use super::{Zip, Zipped, assert_refused, assert_taken};

fn one(entry: Zipped) -> Vec<u8> {
    Zip::of(&[entry]).bytes()
}

#[test]
fn honest_zips_are_taken() {
    assert_taken(&Zip::default().bytes());
    assert_taken(
        &Zip::of(&[
            Zipped::stored("d/", b"").mode(0o040_755),
            Zipped::stored("d/a", b"1"),
            Zipped::deflated("d/b", &[7; 5000]),
            Zipped::stored("d/l", b"a").mode(0o120_777),
            Zipped::stored("e/", b"").mode(0),
            Zipped::stored("no mode", b"x").mode(0),
        ])
        .bytes(),
    );
    let commented = Zip {
        comment: b"made by hand".to_vec(),
        ..Zip::of(&[Zipped::stored("a", b"1")])
    };
    assert_taken(&commented.bytes());
}

#[test]
fn zips_of_a_library_are_taken_streamed_and_large_ones_too() {
    let write = |mut zip: ZipWriter<_>, options| {
        zip.start_file("a/b", options).unwrap();
        zip.write_all(&[5; 70_000]).unwrap();
        zip.add_symlink("l", "a/b", SimpleFileOptions::default())
            .unwrap();
        zip.finish().unwrap()
    };
    let plain = SimpleFileOptions::default();
    assert_taken(write(ZipWriter::new(Cursor::new(Vec::new())), plain).get_ref());
    let large = plain.large_file(true);
    assert_taken(write(ZipWriter::new(Cursor::new(Vec::new())), large).get_ref());
    // Sizes after the content, as when a zip is written to a pipe.
    let mut streamed = ZipWriter::new_stream(Vec::new());
    streamed.start_file("a", plain).unwrap();
    streamed.write_all(&[5; 70_000]).unwrap();
    assert_taken(&streamed.finish().unwrap().into_inner());
}

#[test]
fn more_entries_than_the_old_end_can_count_are_taken() {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for n in 0..65_600 {
        let options =
            SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
        zip.start_file(format!("{n}"), options).unwrap();
    }
    let bytes = zip.finish().unwrap().into_inner();
    let inspected = crate::inspect(Cursor::new(&bytes), &crate::Limits::default(), None).unwrap();
    assert_eq!(inspected.entries, 65_600);
    // The two end records differ: the old one says three entries, or another start.
    let end = bytes.len() - 22;
    for (at, value) in [(10, 3), (8, 3), (16, 0), (12, 9)] {
        let mut lie = bytes.clone();
        lie[end + at..end + at + 2].copy_from_slice(&[value, 0]);
        assert_refused(&lie, "contradiction");
    }
    // The new one gives another number of entries, or lies somewhere else.
    for (at, code) in [
        (end - 76 + 24, "contradiction"),
        (end - 76 + 48, "contradiction"),
        (end - 12, "contradiction"),
    ] {
        let mut lie = bytes.clone();
        lie[at] ^= 1;
        assert_refused(&lie, code);
    }
}

#[test]
fn encrypted_and_oddly_packed_entries_are_refused() {
    let encrypted = Zipped {
        flags: 1,
        ..Zipped::stored("a", &[0; 20])
    };
    let message = assert_refused(&one(encrypted), "encrypted");
    assert_eq!(message, "entry 'a' is encrypted; pack without a password");
    for method in [1, 9, 12, 14, 93, 99] {
        let odd = Zipped {
            method,
            local_method: method,
            ..Zipped::stored("a", b"x")
        };
        let code = super::judge(&one(odd), &crate::Limits::default()).0;
        assert!(
            ["method", "damaged", "contradiction"].contains(&code),
            "{method}: {code}"
        );
    }
}

#[test]
fn devices_and_the_like_are_refused() {
    for mode in [0o010_644, 0o020_644, 0o060_644, 0o140_644, 0o150_000] {
        assert_refused(&one(Zipped::stored("a", b"").mode(mode)), "kind");
    }
    assert_refused(
        &one(Zipped::stored("a/", b"").mode(0o100_644)),
        "contradiction",
    );
    assert_refused(
        &one(Zipped::stored("a", b"").mode(0o040_755)),
        "contradiction",
    );
    assert_refused(
        &one(Zipped::stored("a/", b"x").mode(0o040_755)),
        "data_of_no_file",
    );
}

#[test]
fn the_directory_and_the_entries_agree() {
    let name = Zipped {
        local_name: b"b".to_vec(),
        ..Zipped::stored("a", b"x")
    };
    assert_refused(&one(name), "contradiction");
    let escaping = Zipped {
        local_name: b"../../b".to_vec(),
        ..Zipped::stored("a", b"x")
    };
    assert_refused(&one(escaping), "contradiction");
    let method = Zipped {
        local_method: 8,
        ..Zipped::stored("a", b"x")
    };
    assert_refused(&one(method), "contradiction");
    let good = one(Zipped::stored("a", b"xyz"));
    // The local header's flags, checksum and sizes.
    for at in [6, 14, 18, 22] {
        let mut lie = good.clone();
        lie[at] ^= 1;
        let code = super::judge(&lie, &crate::Limits::default()).0;
        assert!(["contradiction", "damaged"].contains(&code), "{at}: {code}");
    }
}

#[test]
fn sizes_and_checksums_hold() {
    let data = [9; 5000];
    for size in [4999, 5001, 0] {
        let lie = Zipped {
            size,
            ..Zipped::deflated("a", &data)
        };
        // The library itself notices when there is more.
        let code = super::judge(&one(lie), &crate::Limits::default()).0;
        assert!(
            ["size_differs", "damaged"].contains(&code),
            "{size}: {code}"
        );
    }
    let summed = Zipped {
        crc: 1,
        ..Zipped::deflated("a", &data)
    };
    assert_refused(&one(summed), "damaged");
    let mut damaged = Zipped::deflated("a", &data);
    damaged.packed[2] ^= 0xff;
    let code = super::judge(&one(damaged), &crate::Limits::default()).0;
    assert!(
        ["damaged", "size_differs", "truncated"].contains(&code),
        "{code}"
    );
}

#[test]
fn entries_do_not_share_bytes() {
    // Two names for the same bytes.
    let shared = [
        Zipped::deflated("a", &[0; 9000]),
        Zipped {
            at: Some(0),
            ..Zipped::deflated("b", &[0; 9000])
        },
    ];
    assert_refused(&Zip::of(&shared).bytes(), "contradiction");
    // Like Fifield's: an entry whose content is the header and the content of the next.
    let inner = Zipped::stored("b", &[0; 900]);
    let mut quoted = Zip::of(std::slice::from_ref(&inner)).bytes();
    quoted.truncate(30 + 1 + 900);
    let outer = Zipped::stored("a", &quoted);
    let inside = Zipped {
        at: Some(31),
        packed: Vec::new(),
        size: 900,
        crc: inner.crc,
        ..inner.clone()
    };
    assert_refused(&Zip::of(&[outer, inside]).bytes(), "contradiction");
}

#[test]
fn entries_that_the_directory_hides_are_refused() {
    let mut bytes = Zip::of(&[Zipped::stored("a", b"1"), Zipped::stored("b", b"2")]).bytes();
    // The first entry of the directory is taken out: 46 bytes and its name.
    let start = (30 + 1 + 1) * 2;
    bytes.drain(start..start + 47);
    let end = bytes.len() - 22;
    bytes[end + 8..end + 16].copy_from_slice(&[1, 0, 1, 0, 47, 0, 0, 0]);
    assert_refused(&bytes, "contradiction");
}

#[test]
fn bytes_that_belong_to_no_entry_are_bounded() {
    // Signatures of headers that are not headers, between an entry and the directory.
    let with_gap = |bytes: usize| {
        let mut zip = one(Zipped::stored("a", b"x"));
        zip.splice(32..32, b"PK\x03\x04".repeat(bytes / 4));
        let start = zip.len() - 6;
        zip[start..start + 4].copy_from_slice(&u32::try_from(32 + bytes).unwrap().to_le_bytes());
        zip
    };
    assert_taken(&with_gap(24));
    let message = assert_refused(&with_gap(1 << 20), "contradiction");
    assert!(message.contains("belong to no entry"), "{message}");
}

#[test]
fn there_is_one_end() {
    let good = one(Zipped::stored("a", b"x"));
    assert_refused(&good[..good.len() - 1], "truncated");
    assert_refused(&good[..good.len() - 22], "truncated");
    assert_refused(&[&good[..], b"x"].concat(), "trailing_data");
    assert_refused(&[&good[..], &good[..]].concat(), "contradiction");
    let commented = Zip {
        comment: b"cut".to_vec(),
        ..Zip::of(&[Zipped::stored("a", b"x")])
    };
    let commented = commented.bytes();
    assert_refused(&commented[..commented.len() - 1], "truncated");
    // An end record inside the comment of another one.
    let two = Zip {
        comment: Zip::default().bytes(),
        ..Zip::of(&[Zipped::stored("a", b"x")])
    };
    assert_refused(&two.bytes(), "contradiction");
    let gap = Zip {
        between: b"gap".to_vec(),
        ..Zip::of(&[Zipped::stored("a", b"x")])
    };
    assert_refused(&gap.bytes(), "contradiction");
    let count = Zip {
        count: Some(2),
        ..Zip::of(&[Zipped::stored("a", b"x")])
    };
    assert_refused(&count.bytes(), "contradiction");
    let count = Zip {
        count: Some(0),
        ..Zip::of(&[Zipped::stored("a", b"x")])
    };
    assert_refused(&count.bytes(), "contradiction");
}
