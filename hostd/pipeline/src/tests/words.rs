//! What is said of documents that are no YAML: the line that must change, and how.

use super::{build_steps, read, wrong};

/// Checks the place and the message of the first problem.
fn assert_said(text: &str, place: (u32, u32), message: &str) {
    let report = read(text).expect_err(text);
    let first = &report.problems[0];
    assert_eq!(
        (first.line, first.column),
        place,
        "{text}: {}",
        first.message
    );
    assert!(first.message.contains(message), "{text}: {}", first.message);
}

const TAB: &str = "there is a tab here; YAML wants spaces";

#[test]
fn tabs_are_named_where_they_are() {
    for (text, place) in [
        ("vars:\n\tA: 1\n", (2, 1)),
        ("version: 1\nbuilds:\n\t- id: a\n", (3, 1)),
        ("version: 1\nbuilds:\n  - id: a\n\t  steps: []\n", (4, 1)),
        (
            "version: 1\nbuilds:\n  - id: a\n    steps:\n    \t- run: x\n",
            (5, 5),
        ),
        (
            "version: 1\nbuilds:\n  - id: a\n    steps:\n      - run: |\n\t  make\n",
            (6, 1),
        ),
    ] {
        assert_said(text, place, TAB);
    }
    // Where YAML has them, they stay.
    assert!(read(&build_steps("  - run: \"a\\tb\tc\"\t# why\n")).is_ok());
    assert!(read(&build_steps("  - run: |\n      all:\n      \tmake\n")).is_ok());
}

#[test]
fn what_looks_like_a_space_is_named_where_it_is() {
    let of = |text: &str, line: u32, column: u32| {
        let report = read(text).expect_err(text);
        let is_it = |problem: &&crate::Problem| (problem.line, problem.column) == (line, column);
        let mut here = report.problems.iter().filter(is_it);
        let found = here.find(|problem| problem.message.contains("put a plain space in its place"));
        found
            .map(|problem| problem.message.clone())
            .unwrap_or_else(|| panic!("{report:?}"))
    };
    let message = of("version:\u{a0}1\n", 1, 9);
    assert!(
        message.starts_with("there is a no-break space (U+00A0) here"),
        "{message}"
    );
    of("version: 1\nbuilds:\n  -\u{a0}id: a\n", 3, 4);
    of(
        "version: 1\nbuilds:\n  - id: a\n    steps:\n    \u{a0} - run: x\n",
        5,
        5,
    );
    of("version: 1\nbuilds:\n\u{2003}\u{2003}- id: a\n", 3, 1);
    of("version: 1\nbuilds:\n  - \u{200b}id: a\n", 3, 5);
    // In a document that is right it is part of a text, and a mark at the start is none.
    let fine = build_steps("  - run: |\n      \u{a0}echo a:\u{a0}b # -\u{a0}c\n");
    assert!(read(&fine).is_ok());
    assert!(read(&format!("\u{feff}{fine}")).is_ok());
    assert_eq!(
        wrong("version: 1\n# -\u{a0}a\nname: \"a\u{a0}b\"\n").len(),
        1
    );
}

#[test]
fn lines_that_do_not_line_up_name_the_column() {
    let dash = |own: u32, column: u32| {
        format!("this `-` is in column {own}, and those beside it are in column {column}: move")
    };
    let key = |own: u32, column: u32| {
        format!("this key begins in column {own}, and those beside it in column {column}: move")
    };
    let with = |rest: &str| format!("version: 1\nbuilds:\n  - id: a\n{rest}");
    for (text, place, message) in [
        (
            with("    steps:\n      - run: x\n     - run: y\n"),
            (6, 6),
            dash(6, 7),
        ),
        (
            with("    steps:\n      - run: x\n       - run: y\n"),
            (6, 8),
            dash(8, 7),
        ),
        (with("    needs:\n    - b\n   - c\n"), (6, 4), dash(4, 5)),
        (
            with("    steps:\n      - run: x\n        timeout: 5m\n       case: z\n"),
            (7, 8),
            key(8, 9),
        ),
        (with("     steps: []\n"), (4, 6), key(6, 5)),
        (with("   steps: []\n"), (4, 4), key(4, 5)),
        (with("  steps: []\n"), (4, 3), key(3, 5)),
        ("version: 1\n builds: []\n".to_owned(), (2, 2), key(2, 1)),
        // Comments and empty lines stand beside nothing, scripts are no keys.
        (
            with("    steps:\n      - run: |\n          a: b\n# why\n\n     - run: y\n"),
            (9, 6),
            dash(6, 7),
        ),
    ] {
        assert_said(&text, place, &message);
    }
    // A line that is where it belongs, with something else that is wrong.
    assert_said(
        "version: 1\nbuilds:\n  - id: [\n",
        (3, 9),
        "unclosed bracket",
    );
}

#[test]
fn placeholders_must_be_in_quotes() {
    for (text, place, quoted) in [
        (
            "version: 1\nname: {{vars.X}}\n",
            (2, 7),
            "write \"{{vars.X}}\"",
        ),
        (
            "version: 1\nname: {{vars.X}}-y\n",
            (2, 7),
            "write \"{{vars.X}}\"",
        ),
        ("version: 1\nname: [a, {{x}}]\n", (2, 11), "write \"{{x}}\""),
        (
            "version: 1\nbuilds:\n  - {{ x }}\n",
            (3, 5),
            "write \"{{ x }}\"",
        ),
        (
            "version: 1\nname: ä\nvars: { A: {{ x",
            (3, 12),
            "write \"{{ x\"",
        ),
    ] {
        assert_said(text, place, quoted);
        assert_said(
            text,
            place,
            "a value that begins with `{{` must be in quotes",
        );
    }
    assert_said("version: 1\n[a]: b\n", (2, 1), "a key is text here");
}

#[test]
fn numbers_that_begin_with_a_zero_are_named() {
    let limits = |value: &str| {
        format!(
            "version: 1\nlimits: {{ processes: {value} }}\nbuilds: [{{ id: a, steps: [{{ run: a }}] }}]\n"
        )
    };
    let zero = "begins with a zero, which some programs take for octal: write";
    assert_said(
        &limits("076"),
        (2, 22),
        &format!("`076` {zero} 76, or 0o76 if it is octal"),
    );
    assert_said(&limits("08"), (2, 22), &format!("`08` {zero} 8"));
    assert_said(
        &limits("1e2"),
        (2, 22),
        "this must be a whole number, not `1e2`",
    );
    assert!(read(&limits("0o76")).is_ok());
    let id = limits("76").replace("id: a", "id: 007");
    assert_said(&id, (3, 16), "write it in quotes, \"007\"");
}

#[test]
fn the_parser_is_put_into_plain_words() {
    for (value, column, message) in [
        ("a: b", 8, "a value with `: ` in it must be in quotes"),
        ("@a", 7, "a value that begins with it must be in quotes"),
        ("\"a", 7, "close it"),
    ] {
        assert_said(
            &format!("version: 1\nname: {value}\n"),
            (2, column),
            message,
        );
    }
}
