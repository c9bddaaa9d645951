//! What passes and what does not, on packages that differ in one thing from a published one.

use super::super::Contract;
use super::*;

const PUBLISHED: &str = "
    package hostd:plugin@1.0.0;
    interface types { record error { code: string, message: string } }
    interface tools {
        use types.{error};
        record rail { id: u8, on: bool }
        enum level { low, high }
        variant value { mark, number(u64) }
        flags modes { a, b }
        resource device { id: func() -> string; }
        rails: func(device: string) -> result<list<rail>, error>;
    }
    interface http { record request { path: string } handle: func(request: request) -> string; }
    world handler { import types; import tools; export http; }
";

fn listing(text: &str) -> Listing {
    Listing::of(&Contract::parse(text)).unwrap()
}

/// The faults of the published package with some of its text replaced.
fn mutated(from: &str, to: &str) -> Vec<String> {
    assert_eq!(PUBLISHED.matches(from).count(), 1, "{from}");
    let mut text = PUBLISHED.replacen(from, to, 1);
    if from != "plugin@1.0.0" {
        text = text.replacen("plugin@1.0.0", "plugin@1.1.0", 1);
    }
    let faults = faults(&listing(&text), &[listing(PUBLISHED)]);
    let faults = faults.into_iter().filter(|fault| !fault.is_unpublished);
    faults.map(|fault| fault.sentence).collect()
}

#[test]
fn what_was_published_passes_as_it_is_and_after_reading_it_back() {
    let written = listing(PUBLISHED).to_string();
    let read = Listing::parse(&written).unwrap();
    assert_eq!(faults(&listing(PUBLISHED), &[read]), []);
    assert!(
        written.contains("func tools.rails = func(device: string) -> result<list<rail>, error>\n"),
        "{written}"
    );
    assert!(
        written.contains("func tools.[method]device.id = func() -> string\n"),
        "{written}"
    );
    assert!(
        written.contains("type tools.error = types.error\n"),
        "{written}"
    );
}

/// A change of the text, and the key of what a report must name.
const CHANGES: &[(&str, &str, &str)] = &[
    ("id: u8, on: bool", "id: u8", "type tools.rail"),
    (
        "id: u8, on: bool",
        "id: u8, on: bool, fault: bool",
        "type tools.rail",
    ),
    ("id: u8, on: bool", "on: bool, id: u8", "type tools.rail"),
    ("id: u8, on: bool", "id: u16, on: bool", "type tools.rail"),
    ("low, high", "low, high, off", "type tools.level"),
    ("low, high", "low", "type tools.level"),
    ("number(u64)", "number(u32)", "type tools.value"),
    (
        "number(u64)",
        "number(u64), text(string)",
        "type tools.value",
    ),
    (
        "flags modes { a, b }",
        "flags modes { a, b, c }",
        "type tools.modes",
    ),
    ("flags modes { a, b }", "", "type tools.modes"),
    (
        "rails: func(device: string)",
        "rails: func()",
        "func tools.rails",
    ),
    (
        "rails: func(device: string)",
        "rails: func(device: string, id: u8)",
        "func tools.rails",
    ),
    (
        "rails: func(device: string)",
        "rails: func(name: string)",
        "func tools.rails",
    ),
    (
        "result<list<rail>, error>",
        "result<list<rail>>",
        "func tools.rails",
    ),
    ("rails: func", "rails-of: func", "func tools.rails"),
    (
        "id: func() -> string",
        "id: func() -> u64",
        "func tools.[method]device.id",
    ),
    (
        "id: func() -> string",
        "id: static func() -> string",
        "func tools.[method]device.id",
    ),
    (
        "resource device { id: func() -> string; }",
        "record device { id: string }",
        "type tools.device",
    ),
    ("import tools; ", "", "imports handler.tools"),
    ("export http;", "", "exports handler.http"),
    ("world handler", "world answerer", "world handler"),
    (
        "interface http { record request { path: string } handle: func(request: request) -> string; }\n    world handler { import types; import tools; export http; }",
        "world handler { import types; import tools; }",
        "interface http",
    ),
];

#[test]
fn whatever_is_removed_or_changed_is_named() {
    for &(from, to, key) in CHANGES {
        let faults = mutated(from, to);
        let named = format!("`{key}`");
        assert!(
            faults.iter().any(|fault| fault.contains(&named)),
            "{to}: {faults:?}"
        );
    }
}

#[test]
fn additions_pass_if_they_say_since_when() {
    let since = "@since(version = 1.1.0)";
    let additions = [
        (
            "interface http",
            format!("{since} interface more {{ f: func(); }} interface http"),
        ),
        (
            "rails: func",
            format!("{since} switch: func(on: bool); rails: func"),
        ),
        (
            "enum level",
            format!("{since} record extra {{ a: u8 }} enum level"),
        ),
        (
            "resource device {",
            format!("resource device {{ {since} name: func() -> string;"),
        ),
        (
            "world handler",
            format!("{since} world other {{ import tools; export http; }} world handler"),
        ),
        (
            "import types;",
            format!("import types; {since} import more;\n"),
        ),
    ];
    for (from, to) in &additions[..5] {
        assert_eq!(mutated(from, to), Vec::<String>::new(), "{to}");
        let silent = mutated(from, &to.replace(since, ""));
        assert!(
            silent
                .iter()
                .all(|fault| fault.contains("say so with @since(version = 1.1.0)")),
            "{silent:?}"
        );
        assert_eq!(silent.len(), 1, "{silent:?}");
    }
    // A world may import more.
    let (from, to) = &additions[5];
    let text = PUBLISHED.replacen(from, to, 1);
    let (interface, to) = &additions[0];
    let text = text
        .replacen(interface, to, 1)
        .replacen("plugin@1.0.0", "plugin@1.1.0", 1);
    let faults = faults(&listing(&text), &[listing(PUBLISHED)]);
    assert!(
        faults.iter().all(|fault| fault.is_unpublished),
        "{faults:?}"
    );
}

#[test]
fn nothing_is_added_to_what_plugins_export() {
    for (from, to, key) in [
        (
            "handle: func",
            "@since(version = 1.1.0) ready: func() -> bool; handle: func",
            "func http.ready",
        ),
        (
            "handle: func",
            "@since(version = 1.1.0) resource r; handle: func",
            "type http.r",
        ),
        (
            "export http;",
            "export http; @since(version = 1.1.0) export tools;",
            "exports handler.tools",
        ),
    ] {
        let faults = mutated(from, to);
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert!(
            faults[0].starts_with(&format!("`{key}` is added to what plugins export")),
            "{faults:?}"
        );
    }
    // A type alone changes nothing for them.
    let record = "@since(version = 1.1.0) record more { a: u8 } handle: func";
    assert_eq!(mutated("handle: func", record), Vec::<String>::new());
}

#[test]
fn a_published_version_stays_as_it_is() {
    let more = PUBLISHED.replacen("rails: func", "switch: func(on: bool); rails: func", 1);
    let same = faults(&listing(&more), &[listing(PUBLISHED)]);
    assert_eq!(same.len(), 1);
    assert!(
        same[0].sentence.contains("raise the version of wit/plugin"),
        "{same:?}"
    );
    let newer = PUBLISHED.replacen("plugin@1.0.0", "plugin@1.3.0", 1);
    let back = faults(&listing(PUBLISHED), &[listing(PUBLISHED), listing(&newer)]);
    assert!(back[0].sentence.contains("1.3.0 is published"), "{back:?}");
    // Another major version is another contract.
    let other = "package hostd:plugin@2.0.0; interface x {}";
    let faults = faults(&listing(other), &[listing(PUBLISHED)]);
    assert!(
        faults.iter().all(|fault| fault.is_unpublished),
        "{faults:?}"
    );
}

#[test]
fn lists_that_are_none_are_refused() {
    for text in [
        "",
        "hostd:plugin",
        "hostd:plugin@1.0",
        "hostd:plugin@1.0.0\n\n",
        "hostd:plugin@1.0.0\nfunc a\nfunc a\n",
    ] {
        assert!(Listing::parse(text).is_err(), "{text:?}");
    }
}
