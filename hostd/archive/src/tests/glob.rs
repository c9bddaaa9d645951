//! What patterns match.

use std::time::{Duration, Instant};

use crate::{Pattern, PatternError};

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
    ];
    for (text, error) in wrong {
        assert_eq!(Pattern::parse(text), Err(error), "{text}");
    }
    assert_eq!(
        Pattern::parse(&"x".repeat(1025)),
        Err(PatternError::TooLong)
    );
}

#[test]
fn no_pattern_takes_long() {
    let began = Instant::now();
    let path = format!("{}/{}", "a".repeat(250), vec!["a"; 200].join("/"));
    assert!(!matches(&format!("{}b", "*a".repeat(400)), &path));
    assert!(!matches(&format!("{}b", "**/a/".repeat(200)), &path));
    assert!(began.elapsed() < Duration::from_secs(2));
}
