//! What patterns match, and which are refused at their line.

use std::time::{Duration, Instant};

use fastrand::Rng;

use super::{build_steps, fits_schema, read, wrong};
use crate::{Pattern, PatternError, fuzz};

fn matches(pattern: &str, path: &str) -> bool {
    Pattern::parse(pattern).unwrap().matches(path)
}

#[test]
fn signs_mean_what_the_documentation_says() {
    let hits = [
        ("a.elf", "a.elf"),
        ("./a.elf", "a.elf"),
        ("*.elf", "a.elf"),
        ("*", ".hidden"),
        ("?.elf", "ü.elf"),
        ("a*b*c", "aXbbYc"),
        ("build", "build/x/y"),
        ("build/", "build/x"),
        ("**", "a/b/c"),
        ("**/*.elf", "a.elf"),
        ("**/*.elf", "x/y/a.elf"),
        ("a/**/b", "a/b"),
        ("a/**/b", "a/x/y/b"),
        ("**/t/**", "x/t/y"),
        ("*/*", "a/b/c"),
    ];
    for (pattern, path) in hits {
        assert!(matches(pattern, path), "{pattern} {path}");
    }
    let misses = [
        ("a.elf", "b/a.elf"),
        ("*.elf", "x/a.elf"),
        ("?", "ab"),
        ("a*b", "abc"),
        ("build", "builds"),
        ("a/**/b", "x/a/b"),
        ("*/*", "a"),
        ("A", "a"),
        ("a/b", "a"),
    ];
    for (pattern, path) in misses {
        assert!(!matches(pattern, path), "{pattern} {path}");
    }
}

#[test]
fn what_is_no_pattern_is_refused() {
    let wrong = [
        ("", PatternError::Empty),
        ("./", PatternError::Empty),
        ("/etc/*", PatternError::Escapes),
        ("a/../b", PatternError::Escapes),
        ("a**", PatternError::StarsInName),
        ("***", PatternError::StarsInName),
        ("[ab]", PatternError::Reserved('[')),
        ("!x", PatternError::Reserved('!')),
        ("{a,b}", PatternError::Reserved('{')),
        ("a\\b", PatternError::Reserved('\\')),
        ("a\nb", PatternError::NotPlain),
    ];
    for (text, error) in wrong {
        assert_eq!(Pattern::parse(text), Err(error), "{text}");
    }
    assert_eq!(Pattern::parse(&"x".repeat(256)), Err(PatternError::TooLong));
}

#[test]
fn no_pattern_takes_long() {
    let began = Instant::now();
    let path = format!("{}/{}", "a".repeat(250), vec!["a"; 200].join("/"));
    assert!(!matches(&format!("{}b", "*a".repeat(127)), &path));
    assert!(!matches(&format!("{}b", "**/a/".repeat(50)), &path));
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_wrong_pattern_is_told_where_it_stands() {
    let text = "version: 1
builds:
  - id: fw
    cache: { key: [Makefile, '[ab].c'], paths: ['.c*'] }
    steps:
      - { run: a, junit: 'r/{a,b}.xml' }
    packs:
      - { id: f0, artifacts: [fw.elf, '*.map'] }
benches:
  - id: smoke
    for_each: fw
    device: { name: a }
    steps: [{ run: a, junit: 'a**' }]
";
    assert_eq!(
        wrong(text),
        [
            "invalid_value 4:30 builds[0].cache.key[1]",
            "invalid_value 4:49 builds[0].cache.paths[0]",
            "invalid_value 6:26 builds[0].steps[0].junit",
            "invalid_value 8:39 builds[0].packs[0].artifacts[1]",
            "invalid_value 13:30 benches[0].steps[0].junit",
        ]
    );
    let told = read(text).unwrap_err().render("ci.yml");
    for sentence in [
        "`[` has no meaning in a pattern; use `*`, `**` and `?`",
        "`*` and `?` have no meaning here: write the path itself",
        "`**` stands alone between slashes",
    ] {
        assert!(told.contains(sentence), "{told}");
    }
}

#[test]
fn parser_and_schema_take_the_same_patterns() {
    let right = [
        "a",
        "./a/",
        "**",
        "**/x/**",
        "*/?.c",
        "a..b/...",
        "ü*",
        ".ccache/*.o",
    ];
    let wrong = [
        ".", "./.", "/", "/a", "a/..", "../a", "a**", "**a", "***", "a/**b/c", "a[", "a]", "{",
        "}", "!a", "a\\b",
    ];
    let text = |pattern: &str| build_steps(&format!("  - {{ run: a, junit: '{pattern}' }}\n"));
    for pattern in right {
        assert!(read(&text(pattern)).is_ok(), "{pattern}");
        assert!(fits_schema(&text(pattern)), "{pattern}");
    }
    for pattern in wrong {
        assert!(read(&text(pattern)).is_err(), "{pattern}");
        assert!(!fits_schema(&text(pattern)), "{pattern}");
    }
}

#[test]
fn any_text_is_a_pattern_or_is_not() {
    let mut random = Rng::with_seed(9 << 40);
    let signs = ["*", "**", "?", "/", ".", "..", "a", "ü", "\n", "[", ""];
    for _ in 0..20_000 {
        let text: String = (0..random.usize(..12))
            .map(|_| *random.choice(&signs).unwrap())
            .collect();
        fuzz::pattern(text.as_bytes());
    }
}
