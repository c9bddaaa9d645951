//! Every bound, just met and just exceeded, and bombs.

use std::io::Cursor;

use tar::EntryType;

use super::tar_builder::gzip;
use super::{Tar, Zip, Zipped, assert_refused, judge, open};
use crate::{Limits, inspect_within, unpack_within};

fn code(bytes: &[u8], limits: &Limits) -> &'static str {
    judge(bytes, limits).0
}

#[test]
fn the_archive_itself_is_bounded() {
    let bytes = Tar::default().file("x", b"").gz();
    let limits = |packed_bytes_max| Limits {
        packed_bytes_max,
        ..Limits::default()
    };
    assert_eq!(code(&bytes, &limits(bytes.len() as u64)), "ok");
    assert_eq!(
        code(&bytes, &limits(bytes.len() as u64 - 1)),
        "packed_too_large"
    );
}

#[test]
fn unpacked_bytes_are_bounded() {
    let limits = |unpacked_bytes_max| Limits {
        unpacked_bytes_max,
        ..Limits::default()
    };
    let tar = Tar::default()
        .file("a", &[1; 600])
        .file("b", &[2; 400])
        .gz();
    let zip = Zip::of(&[
        Zipped::stored("a", &[1; 600]),
        Zipped::deflated("b", &[2; 400]),
    ])
    .bytes();
    for bytes in [tar, zip] {
        assert_eq!(code(&bytes, &limits(1000)), "ok");
        assert_eq!(code(&bytes, &limits(999)), "unpacked_too_large");
    }
    // Headers alone, without an end: extensions for all entries do not count as entries.
    let mut endless = Tar::default();
    for _ in 0..3000 {
        endless = endless.entry(EntryType::XGlobalHeader, "g", "", b"13 comment=x\n");
    }
    let few = Limits {
        entries_max: 10,
        ..limits(1000)
    };
    assert_eq!(code(&endless.gz(), &few), "unpacked_too_large");
}

#[test]
fn a_size_that_no_tar_has_is_refused_before_it_is_read() {
    let lie = Tar::default().sized(EntryType::Regular, "x", "", u64::MAX / 2, b"");
    assert_refused(&lie.gz(), "unpacked_too_large");
    let lie = Tar::default().sized(EntryType::Regular, "x", "", u64::MAX, b"");
    assert_refused(&lie.gz(), "damaged");
}

#[test]
fn entries_are_counted_with_the_folders_that_they_need() {
    let limits = |entries_max| Limits {
        entries_max,
        ..Limits::default()
    };
    let tar = Tar::default().file("a/b/c", b"").folder("a/").gz();
    assert_eq!(code(&tar, &limits(3)), "ok");
    assert_eq!(code(&tar, &limits(2)), "too_many_entries");
    let zip = Zip::of(&[Zipped::stored("a/b/c", b"")]).bytes();
    assert_eq!(code(&zip, &limits(3)), "ok");
    assert_eq!(code(&zip, &limits(2)), "too_many_entries");
    // Refused by its end record, before the directory is read.
    let count = Some(50_000);
    let zip = Zip {
        count,
        ..Zip::of(&[Zipped::stored("a", b"")])
    };
    assert_eq!(code(&zip.bytes(), &limits(49_999)), "too_many_entries");
}

#[test]
fn names_are_bounded_together() {
    let limits = |names_bytes_max| Limits {
        names_bytes_max,
        ..Limits::default()
    };
    let tar = Tar::default().file("four", b"").link("link", "four").gz();
    assert_eq!(code(&tar, &limits(12)), "ok");
    assert_eq!(code(&tar, &limits(11)), "names_too_large");
}

#[test]
fn dense_archives_are_refused_beyond_what_is_free() {
    let limits = Limits {
        ratio_free_bytes: 1 << 20,
        ..Limits::default()
    };
    let erased = vec![0xff; 1 << 19];
    let bomb = vec![0; 32 << 20];
    assert_eq!(
        code(&Tar::default().file("flash.bin", &erased).gz(), &limits),
        "ok"
    );
    assert_eq!(
        code(&Tar::default().file("bomb", &bomb).gz(), &limits),
        "too_dense"
    );
    assert_eq!(
        code(
            &Zip::of(&[Zipped::deflated("flash.bin", &erased)]).bytes(),
            &limits
        ),
        "ok"
    );
    assert_eq!(
        code(
            &Zip::of(&[Zipped::deflated("bomb", &bomb)]).bytes(),
            &limits
        ),
        "too_dense"
    );
    // Bytes after the end of the tar count as well.
    let behind = [Tar::default().file("x", b"").plain(), bomb].concat();
    assert_eq!(code(&gzip(&behind), &limits), "too_dense");
}

#[test]
fn a_gzip_bomb_costs_no_more_than_its_bound() {
    let limits = Limits {
        unpacked_bytes_max: 1 << 20,
        entries_max: 10,
        ratio_free_bytes: 1 << 40,
        ..Limits::default()
    };
    // 1 MiB is announced, and a thousand times as much follows.
    let mut bomb = Tar::default().file("x", &vec![0; 1 << 20]).plain();
    bomb.resize(64 << 20, 0);
    assert_eq!(code(&gzip(&bomb), &limits), "unpacked_too_large");
}

#[test]
fn memory_for_names_is_asked_for_before_it_is_taken() {
    let names: Vec<String> = (0..2000).map(|n| format!("{n:080}")).collect();
    let tar = names
        .iter()
        .fold(Tar::default(), |tar, name| tar.file(name, b""));
    let zipped: Vec<Zipped> = names.iter().map(|name| Zipped::stored(name, b"")).collect();
    for bytes in [tar.gz(), Zip::of(&zipped).bytes()] {
        let read = |room: &mut dyn FnMut(u64) -> bool| {
            inspect_within(Cursor::new(&bytes), &Limits::default(), None, room).map(drop)
        };
        let mut asked = 0;
        let taken = read(&mut |more| {
            asked += more;
            true
        });
        taken.unwrap();
        // More than the names are long, and in proportion to them.
        assert!((2000 * 80 * 2..2000 * 80 * 20).contains(&asked), "{asked}");
        for most in [0, asked / 2] {
            let mut left = most;
            let mut has_room = |more: u64| {
                let rest = left.checked_sub(more);
                left = rest.unwrap_or_default();
                rest.is_some()
            };
            assert_eq!(read(&mut has_room).unwrap_err().code(), "no_room");
            let folder = tempfile::tempdir().unwrap();
            let dir = open(folder.path());
            let reader = Cursor::new(&bytes);
            let unpacked = unpack_within(reader, &Limits::default(), dir, &mut has_room);
            assert_eq!(unpacked.unwrap_err().code(), "no_room");
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }
}
