//! Links that lead in, out, in circles and nowhere.

use super::{Tar, Zip, Zipped, assert_refused, assert_taken};

#[test]
fn links_that_stay_inside_are_taken() {
    let tar = Tar::default()
        .file("lib/a.so.1", b"x")
        .link("lib/a.so", "a.so.1")
        .link("current", "./lib")
        .link("deep/er/up", "../../lib/a.so")
        .link("through", "current/a.so")
        .link("later", "build/out.bin")
        .link("root", "deep/..");
    assert_taken(&tar.gz());
}

#[test]
fn links_that_lead_out_are_refused() {
    for target in [
        "..",
        "a/../..",
        "/etc",
        "../archive/x",
        "a/../../x",
        "missing/../../x",
    ] {
        assert_refused(
            &Tar::default().folder("a").link("l", target).gz(),
            "link_escapes",
        );
        let link = Zipped::stored("l", target.as_bytes()).mode(0o120_777);
        assert_refused(&Zip::of(&[link]).bytes(), "link_escapes");
    }
    let message = assert_refused(&Tar::default().link("l", "../x").gz(), "link_escapes");
    assert!(
        message.starts_with("link 'l' leads out of the archive, to '../x'; "),
        "{message}"
    );
}

#[test]
fn links_through_links_are_followed() {
    // Each link alone stays inside: `d/up` is the root, so `d/up/..` is above it.
    let chain = Tar::default().link("d/up", "..").link("out", "d/up/..");
    assert_refused(&chain.gz(), "link_escapes");
    // The link that leads out comes before the one that makes it do so.
    let chain = Tar::default().link("out", "d/up/..").link("d/up", "..");
    assert_refused(&chain.gz(), "link_escapes");
    let chain = Tar::default()
        .link("a/b/c", "../..")
        .link("x", "a/b/c/a/b/c/../y");
    assert_refused(&chain.gz(), "link_escapes");
}

#[test]
fn circles_and_tangles_are_refused() {
    assert_refused(
        &Tar::default().link("a", "b").link("b", "a").gz(),
        "link_circle",
    );
    assert_refused(&Tar::default().link("a", "a/a").gz(), "link_circle");
    // Every link is followed through forty others with long targets.
    let way = |to: &str| format!("{}{to}", "./d/../".repeat(10));
    let mut tar = Tar::default().folder("d");
    for n in 0..40 {
        tar = tar.link(&format!("l{n}"), &way(&format!("l{}", n + 1)));
    }
    for n in 0..5_000 {
        tar = tar.link(&format!("m{n}"), "l1");
    }
    assert_refused(&tar.gz(), "links_tangled");
}

#[test]
fn hard_links_need_a_file_before_them() {
    assert_taken(
        &Tar::default()
            .file("d/a", b"x")
            .hard("e/b", "./d/a")
            .hard("c", "e/b")
            .gz(),
    );
    let wrong = [
        Tar::default().hard("b", "a").file("a", b"x"),
        Tar::default().folder("a").hard("b", "a"),
        Tar::default().link("a", "c").hard("b", "a"),
        Tar::default().hard("b", "/etc/passwd"),
        Tar::default().hard("b", "../secret"),
        Tar::default().hard("b", "b"),
        Tar::default().hard("b", ""),
    ];
    for tar in wrong {
        assert_refused(&tar.gz(), "hard_link");
    }
}

#[test]
fn what_a_link_says_is_plain_and_bounded() {
    let link = |target: &[u8]| Zip::of(&[Zipped::stored("l", target).mode(0o120_777)]).bytes();
    assert_refused(&link(b"a\nb"), "name_not_plain");
    assert_refused(&link(b""), "no_name");
    assert_refused(&link(&[b'x'; 1025]), "name_too_long");
    assert_refused(&link(&vec![b'x'; 1 << 20]), "name_too_long");
    let nul = Tar::default().pax(&[("linkpath", "a\0b")]).link("l", "a");
    assert_refused(&nul.gz(), "name_not_plain");
}
