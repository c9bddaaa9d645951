//! Which paths are accepted, in both formats.

use super::{Tar, Zip, Zipped, assert_refused, assert_taken};

/// The same name in a tar and in a zip gives the same answer.
fn refused_in_both(name: &str, code: &str) -> String {
    let zipped = if name.ends_with('/') {
        Zipped::stored(name, b"").mode(0o040_755)
    } else {
        Zipped::stored(name, b"x")
    };
    assert_refused(&Zip::of(&[zipped]).bytes(), code);
    let tar = Tar::default().long_name(name.as_bytes());
    assert_refused(&tar.file("short", b"").gz(), code)
}

#[test]
fn paths_that_lead_out_are_refused() {
    let message = refused_in_both("a/../../b", "path_escapes");
    assert_eq!(
        message,
        "entry 'a/../../b' leads out of the archive; pack from within the folder, without `..` in paths"
    );
    refused_in_both("..", "path_escapes");
    refused_in_both("a/..", "path_escapes");
    refused_in_both("/etc/passwd", "absolute_path");
    refused_in_both("//x", "absolute_path");
    refused_in_both("/", "absolute_path");
}

#[test]
fn names_that_are_no_plain_text_are_refused() {
    for name in ["a\0b", "a\nb", "a\x1b[2Jb", "a\\b", "a\u{9b}b", "a\x7f"] {
        refused_in_both(name, "name_not_plain");
    }
    assert_refused(
        &Tar::default().long_name(b"\xff\xfe").file("s", b"").gz(),
        "name_not_plain",
    );
    refused_in_both(".", "no_name");
    refused_in_both("./.", "no_name");
    assert_refused(&Tar::default().file("", b"x").gz(), "no_name");
    assert_refused(&Zip::of(&[Zipped::stored("", b"x")]).bytes(), "no_name");
}

#[test]
fn long_and_deep_names_are_refused() {
    refused_in_both(&"n".repeat(256), "name_too_long");
    refused_in_both(
        &"abc/".repeat(255).replace("abc", &"n".repeat(250)),
        "name_too_long",
    );
    refused_in_both(&format!("{}x", "d/".repeat(64)), "too_deep");
    let deepest = format!("{}x", "d/".repeat(63));
    assert_taken(&Zip::of(&[Zipped::stored(&deepest, b"x")]).bytes());
    // The extension is refused because of its size, before it is read.
    let endless = Tar::default()
        .long_name(&vec![b'n'; 1 << 20])
        .file("s", b"");
    assert_refused(&endless.gz(), "name_too_long");
}

#[test]
fn a_path_twice_is_refused_but_a_folder_may_come_again() {
    assert_refused(
        &Tar::default().file("a", b"1").file("./a", b"2").gz(),
        "duplicate",
    );
    assert_refused(
        &Tar::default().file("a", b"1").link("a", "b").gz(),
        "duplicate",
    );
    assert_refused(
        &Tar::default().file("a", b"1").folder("a/").gz(),
        "duplicate",
    );
    assert_refused(
        &Tar::default().file("a/b", b"1").file("a", b"2").gz(),
        "duplicate",
    );
    assert_taken(
        &Tar::default()
            .folder("./")
            .folder("a/")
            .file("a/b", b"")
            .folder("a")
            .gz(),
    );
    let twice = [Zipped::stored("a", b"1"), Zipped::stored("a", b"2")];
    assert_refused(&Zip::of(&twice).bytes(), "contradiction");
    let twice = [Zipped::stored("a", b"1"), Zipped::stored("./a", b"2")];
    assert_refused(&Zip::of(&twice).bytes(), "duplicate");
}

#[test]
fn names_that_differ_in_case_are_different() {
    assert_taken(
        &Tar::default()
            .file("xt_MARK.h", b"1")
            .file("xt_mark.h", b"2")
            .gz(),
    );
}

#[test]
fn nothing_lies_below_a_file_or_a_link() {
    let message = assert_refused(
        &Tar::default().file("a", b"1").file("a/b", b"2").gz(),
        "not_in_folder",
    );
    assert!(
        message.starts_with("entry 'a/b' lies below 'a'"),
        "{message}"
    );
    let through = Tar::default()
        .folder("d")
        .link("l", "d")
        .file("l/x/y", b"2");
    assert_refused(&through.gz(), "not_in_folder");
    let link = Zipped::stored("l", b"d").mode(0o120_777);
    assert_refused(
        &Zip::of(&[link, Zipped::stored("l/x", b"")]).bytes(),
        "not_in_folder",
    );
}
