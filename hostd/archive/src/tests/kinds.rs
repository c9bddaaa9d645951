//! Kinds of entries in a tar, and what its extensions may say.

use tar::EntryType;

use super::tar_builder::{gzip, pax_records};
use super::{Tar, assert_refused, assert_taken};

#[test]
fn devices_and_the_like_are_refused() {
    let kinds = [
        (EntryType::Char, "kind"),
        (EntryType::Block, "kind"),
        (EntryType::Fifo, "kind"),
        (EntryType::new(b'V'), "kind"),
        (EntryType::new(b's'), "kind"),
        (EntryType::new(b'M'), "kind"),
    ];
    for (kind, code) in kinds {
        assert_refused(&Tar::default().entry(kind, "x", "", b"").gz(), code);
    }
    let message = assert_refused(
        &Tar::default().entry(EntryType::Fifo, "pipe", "", b"").gz(),
        "kind",
    );
    assert!(message.starts_with("entry 'pipe' is a FIFO; "), "{message}");
}

#[test]
fn only_files_have_data() {
    for kind in [EntryType::Directory, EntryType::Symlink, EntryType::Link] {
        let tar = Tar::default().file("t", b"").entry(kind, "x", "t", b"data");
        assert_refused(&tar.gz(), "data_of_no_file");
    }
    // How folders were written before there was a type for them.
    assert_taken(&Tar::default().file("old/", b"").file("old/x", b"1").gz());
    assert_refused(&Tar::default().file("old/", b"1").gz(), "data_of_no_file");
}

#[test]
fn extensions_that_matter_are_judged_and_others_left_behind() {
    let harmless = [
        ("mtime", "1.5"),
        ("uname", "root"),
        ("SCHILY.xattr.user.x", "a\nb=c\0"),
    ];
    assert_taken(&Tar::default().pax(&harmless).file("x", b"1").gz());
    assert_taken(
        &Tar::default()
            .pax(&[("path", "long/name"), ("size", "1")])
            .file("x", b"1")
            .gz(),
    );
    let wrong = [
        (vec![("path", "../x")], "path_escapes"),
        (vec![("path", "a\0b")], "name_not_plain"),
        (vec![("path", "/x")], "absolute_path"),
        (vec![("size", "512")], "override"),
        (vec![("size", "x")], "damaged"),
        (vec![("size", "99999999999999999999999")], "damaged"),
        (vec![("path", "a"), ("path", "b")], "override"),
    ];
    for (records, code) in wrong {
        assert_refused(&Tar::default().pax(&records).file("x", b"1").gz(), code);
    }
}

#[test]
fn malformed_extensions_are_refused() {
    let wrong: [&[u8]; 7] = [
        b"x",
        b"5 a=",
        b"99 a=b\n",
        b"0 a=b\n",
        b"6 abcd",
        b"-6 a=b\n",
        b"6 abc\n",
    ];
    for data in wrong {
        let tar = Tar::default()
            .entry(EntryType::XHeader, "p", "", data)
            .file("x", b"");
        assert_refused(&tar.gz(), "damaged");
    }
    let large = vec![b'1'; 300 << 10];
    let tar = Tar::default()
        .entry(EntryType::XHeader, "p", "", &large)
        .file("x", b"");
    assert_refused(&tar.gz(), "extension_too_long");
}

#[test]
fn extensions_do_not_replace_each_other() {
    let both = Tar::default()
        .pax(&[("path", "a")])
        .long_name(b"b")
        .file("x", b"");
    assert_refused(&both.gz(), "override");
    let twice = Tar::default()
        .long_name(b"a")
        .long_name(b"b")
        .file("x", b"");
    assert_refused(&twice.gz(), "override");
    let twice = Tar::default()
        .pax(&[("path", "a")])
        .pax(&[("path", "b")])
        .file("x", b"");
    assert_refused(&twice.gz(), "override");
    let nothing_behind = Tar::default().file("x", b"").long_name(b"a");
    assert_refused(&nothing_behind.gz(), "truncated");
}

#[test]
fn an_extension_for_all_entries_may_only_comment() {
    let global = |records: &[(&str, &str)]| {
        let data = pax_records(records);
        Tar::default()
            .entry(EntryType::XGlobalHeader, "g", "", &data)
            .file("x", b"")
            .gz()
    };
    assert_taken(&global(&[("comment", "9a3f")]));
    for key in ["path", "linkpath"] {
        assert_refused(&global(&[(key, "y")]), "override");
    }
    assert_refused(&global(&[("size", "0")]), "override");
}

#[test]
fn a_tar_ends_where_it_says() {
    let good = Tar::default().file("x", &[7; 700]).plain();
    assert_taken(&gzip(&good));
    // Some programs pad to a record of 10 KiB.
    assert_taken(&gzip(&[&good[..], &[0; 9000]].concat()));
    assert_refused(&gzip(&[&good[..], &good[..]].concat()), "trailing_data");
    assert_refused(&gzip(&good[..good.len() - 1024]), "truncated");
    assert_refused(&gzip(&good[..1300]), "damaged");
    assert_refused(&gzip(&good[..900]), "size_differs");
    assert_refused(&gzip(&good[..100]), "damaged");
    assert_refused(&gzip(b""), "truncated");
    let mut flipped = good.clone();
    flipped[0] ^= 1;
    assert_refused(&gzip(&flipped), "damaged");
}

#[test]
fn a_gzip_is_whole() {
    let good = Tar::default().file("x", b"hello").gz();
    for cut in [3, 12, good.len() / 2, good.len() - 9, good.len() - 1] {
        assert_refused(&good[..cut], "truncated");
    }
    let mut wrong_sum = good.clone();
    let at = wrong_sum.len() - 6;
    wrong_sum[at] ^= 1;
    assert_refused(&wrong_sum, "damaged");
    assert_refused(&[&good[..], b"more than a header"].concat(), "damaged");
    // Two members are one stream, as gzip defines it.
    let plain = Tar::default().file("x", b"hello").plain();
    let members = [gzip(&plain[..600]), gzip(&plain[600..])].concat();
    assert_taken(&members);
    // Zeros behind the last, as blocks of tapes and disks have, are no part of it.
    for zeros in [1, 3, 511, 70_000] {
        assert_taken(&[&good[..], &vec![0; zeros]].concat());
        assert_taken(&[&members[..], &vec![0; zeros]].concat());
    }
    assert_refused(&[&good[..], &[0; 9], &good].concat(), "trailing_data");
    assert_refused(&[&good[..], &[0; 9], b"x"].concat(), "trailing_data");
    assert_refused(&[&good[..good.len() - 5], &[0; 9]].concat(), "damaged");
}

#[test]
fn other_files_are_no_archives() {
    for bytes in [
        &b""[..],
        b"P",
        b"PK",
        b"\x1f",
        b"ustar",
        b"7z\xbc\xaf\x27\x1c",
        &[0; 2000],
    ] {
        assert_refused(bytes, "unknown_format");
    }
    assert_refused(&Tar::default().file("x", b"").plain(), "unknown_format");
    assert_refused(b"\x1f\x8b", "truncated");
    assert_refused(b"PK\x03\x04", "truncated");
}
