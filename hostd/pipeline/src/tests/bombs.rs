//! Documents that are meant to hurt: refused fast, at their line. And seeded mutations of a good one.

use std::time::{Duration, Instant};

use super::{EXAMPLE, read, wrong};
use crate::fuzz;
use crate::limits::{DOCUMENT_BYTES_MAX, NODES_MAX, PROBLEMS_MAX};

/// Generous for a busy machine; each takes less than half a second, most a few milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);

#[test]
fn what_the_format_does_without_is_refused_where_it_stands() {
    let cases = [
        ("version: 1\nvars: &a { A: 1 }\n", "unsupported_yaml 2:10 "),
        ("version: 1\nvars: *a\n", "unsupported_yaml 2:7 "),
        (
            "version: 1\nvars:\n  <<: { A: 1 }\n",
            "unsupported_yaml 3:3 ",
        ),
        ("version: 1\n---\nversion: 1\n", "unsupported_yaml 2:1 "),
        (
            "version: 1\nbuilds: !include other.yml\n",
            "unsupported_yaml 2:18 ",
        ),
        ("version: 1\nversion: 1\n", "duplicate_key 2:1 "),
        ("vars:\n\tA: 1\n", "syntax 2:1 "),
        ("version: [1\n", "syntax 1:10 "),
    ];
    for (text, expected) in cases {
        assert_eq!(wrong(text), [expected], "{text}");
    }
}

#[test]
fn bombs_are_refused_fast() {
    let wide: String = (0..NODES_MAX).map(|i| format!("k{i}: 1\n")).collect();
    let laughs: String = (0..9)
        .map(|i| {
            format!(
                "a{}: &a{} [{}]\n",
                i + 1,
                i + 1,
                format!("*a{i},").repeat(9)
            )
        })
        .collect();
    let bombs = [
        "[".repeat(200_000),
        "{a: ".repeat(60_000),
        "- ".repeat(100_000),
        "? ".repeat(100_000),
        "a:\n ".repeat(60_000),
        "\"".repeat(200_001),
        "!".repeat(200_000),
        "&".repeat(200_000),
        "#".repeat(200_000),
        "9".repeat(200_000),
        format!("version: {}", "9".repeat(200_000)),
        format!("version: 1\nvars: {{ A: 1{} }}", "0".repeat(200_000)),
        "|\n".repeat(100_000),
        "a: b: ".repeat(40_000),
        wide,
        format!("a0: &a0 lol\n{laughs}"),
        " ".repeat(DOCUMENT_BYTES_MAX + 1),
        format!("version: 1\nbuilds:\n{}", "- 7\n".repeat(19_000)),
        format!(
            "version: 1\nbuilds: [{{ id: a, steps: [{}] }}]",
            "{ rum: x },".repeat(6_000)
        ),
        format!(
            "version: 1\nbuilds: [{{ id: a, steps: [{}] }}]",
            "{},".repeat(19_000)
        ),
        format!(
            "version: 1\nvars: {{ {} }}",
            (0..9_000).map(|i| format!("{i}: 1,")).collect::<String>()
        ),
    ];
    for bomb in bombs {
        let start = bomb.chars().take(40).collect::<String>();
        let begun = Instant::now();
        let report = read(&bomb).expect_err(&start);
        assert!(report.problems.len() <= PROBLEMS_MAX);
        assert!(report.render("ci.yml").len() < 1 << 17, "{start}");
        assert!(begun.elapsed() < PATIENCE, "{start}: {:?}", begun.elapsed());
    }
}

#[test]
fn many_cells_are_refused_before_they_are_made() {
    let variants: String = (0..60).map(|i| format!("v{i}: {{}}, ")).collect();
    let packs: String = (0..60).map(|i| format!("{{ id: p{i} }}, ")).collect();
    let text = format!(
        "version: 1\nbuilds:\n- id: fw\n  matrix: {{ variant: {{ {variants} }} }}\n  steps: [{{ run: a }}]\n  packs: [{packs}]\n"
    );
    assert_eq!(
        wrong(&text),
        ["too_many_runs 1:1 ", "too_many_runs 3:3 builds[0]"]
    );
}

#[test]
fn placeholders_that_multiply_are_refused_fast() {
    let long = format!("version: 1\nvars: {{ A: {} }}\n", "x".repeat(4_000));
    let packs: String = (0..64).map(|i| format!("{{ id: p{i} }}, ")).collect();
    let build = format!("builds: [{{ id: fw, steps: [{{ run: a }}], packs: [{packs}] }}]\n");
    let bench = |field: &str| {
        let args = format!("'{field}', ").repeat(60);
        let steps = format!("  - pytest: {{ path: t, args: [{args}] }}\n").repeat(90);
        format!(
            "{long}{build}benches:\n- id: b\n  for_each: fw\n  device: {{ name: d }}\n  steps:\n{steps}"
        )
    };
    let cases = [
        // One run comes to more than may be in memory.
        (bench("{{vars.A}}"), vec!["too_large"]),
        (
            bench("{{vars.A}}{{vars.A}}{{vars.A}}"),
            vec!["invalid_value"; PROBLEMS_MAX],
        ),
        (bench("{{vars.B}}"), vec!["unknown_name"; PROBLEMS_MAX]),
    ];
    for (text, codes) in cases {
        let begun = Instant::now();
        let report = read(&text).unwrap_err();
        let told: Vec<&str> = report
            .problems
            .iter()
            .map(|problem| problem.code.as_str())
            .collect();
        assert_eq!(told, codes);
        assert!(
            begun.elapsed() < PATIENCE,
            "{codes:?}: {:?}",
            begun.elapsed()
        );
    }
}

#[test]
fn seeded_mutations_neither_panic_nor_break_a_promise() {
    let mut random = fastrand::Rng::with_seed(20_260_102);
    let pieces: Vec<&str> = EXAMPLE
        .split_inclusive([' ', '\n', ',', '{', '}', '[', ']', ':'])
        .collect();
    for _ in 0..1_500 {
        let mut text: Vec<&str> = pieces.clone();
        for _ in 0..random.usize(1..4) {
            let at = random.usize(..text.len());
            match random.u8(..4) {
                0 => drop(text.remove(at)),
                1 => text.insert(at, pieces[random.usize(..pieces.len())]),
                2 => text[at] = pieces[random.usize(..pieces.len())],
                _ => {
                    text[at] = [
                        "{{",
                        "}}",
                        "&a ",
                        "*a ",
                        "null",
                        "-1",
                        "\u{0}",
                        "é",
                        "\t",
                        "\u{a0}",
                        "\n\t- ",
                        "\n   ",
                        "- {{x}}\n",
                        "True",
                        "076",
                        "'",
                        "9".repeat(40).leak(),
                    ][random.usize(..17)]
                }
            }
        }
        fuzz::document(text.concat().as_bytes());
    }
    for _ in 0..1_000 {
        let bytes: Vec<u8> = (0..random.usize(..200)).map(|_| random.u8(..)).collect();
        fuzz::document(&bytes);
    }
}
