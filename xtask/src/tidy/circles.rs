//! The top-level modules of some crates must not import each other in circles. In the simulator an
//! instrument sees only what it builds on, and only the world sees them all; a circle would make them one
//! module of the size of the crate.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::repository::{Repository, SourceFile};

/// Crates whose top-level modules import each other in one direction only.
const ONE_WAY: &[&str] = &["hostd/pod-sim/src/"];

/// Which modules each module imports.
type Imports<'t> = BTreeMap<&'t str, BTreeSet<&'t str>>;

/// Looks for circles among the top-level modules of each crate that must have none.
pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    let crates = ONE_WAY.iter();
    crates
        .flat_map(|folder| check_crate(folder, &repository.files))
        .collect()
}

fn check_crate(folder: &str, files: &[SourceFile]) -> Vec<Finding> {
    let imports = imports(folder, files);
    let circles = imports.keys().filter_map(|module| circle(module, &imports));
    // Each circle is found from each of its modules; only the first module reports it.
    let circles = circles.filter(|circle| circle.iter().min() == circle.first());
    circles
        .map(|circle| {
            let message = format!(
                "imports itself in a circle: {} -> {}; let the lower one take what it needs as an argument",
                circle.join(" -> "),
                circle[0]
            );
            Finding::violation(format!("{folder}{}.rs", circle[0]), message)
        })
        .collect()
}

/// Reads the imports between top-level modules, without those of tests.
fn imports<'t>(folder: &str, files: &'t [SourceFile]) -> Imports<'t> {
    let modules: Vec<(Vec<&str>, &str)> = files
        .iter()
        .filter_map(|file| {
            let path = file.path.strip_prefix(folder)?.strip_suffix(".rs")?;
            let path: Vec<&str> = path.split('/').collect();
            (!path.contains(&"tests")).then(|| (path, code(&file.text)))
        })
        .collect();
    let known: BTreeSet<&str> = modules.iter().map(|(path, _)| path[0]).collect();
    let root = modules.iter().find(|(path, _)| path == &["lib"]);
    let given = root.map_or_else(BTreeMap::new, |(_, text)| given_by_root(text));
    let mut imports = Imports::new();
    for (path, text) in modules.iter().filter(|(path, _)| path != &["lib"]) {
        let taken = imports.entry(path[0]).or_default();
        let names = from_root(text, path.len()).into_iter();
        let modules = names.map(|name| given.get(name).copied().unwrap_or(name));
        taken.extend(modules.filter(|module| known.contains(module) && *module != path[0]));
    }
    imports
}

/// The part of a file that is compiled into the crate: everything before its tests.
fn code(text: &str) -> &str {
    text.split("\n#[cfg(test)]").next().unwrap_or(text)
}

/// Names that the root imports from its modules, `use module::{Name, Other}`, and their modules.
fn given_by_root(text: &str) -> BTreeMap<&str, &str> {
    let uses = text.match_indices("use ").filter(|(at, _)| {
        let before = text[..*at].rsplit('\n').next().unwrap_or_default();
        matches!(before, "" | "pub ")
    });
    let paths = uses.filter_map(|(at, word)| text[at + word.len()..].split_once("::"));
    paths
        .flat_map(|(module, rest)| {
            first_names(rest)
                .into_iter()
                .map(move |name| (name, module))
        })
        .collect()
}

/// The names that a file `depth` modules deep imports from the root, by `crate::` or by as many
/// `super::`.
fn from_root(text: &str, depth: usize) -> Vec<&str> {
    let up = "super::".repeat(depth);
    let lines = text.split_inclusive('\n').scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some((start, line))
    });
    let code = lines.filter(|(_, line)| !line.trim_start().starts_with("//"));
    code.flat_map(|(start, line)| {
        let paths = line.match_indices("crate::").chain(line.match_indices(&up));
        paths
            .filter(|(at, _)| !line[..*at].ends_with(|c: char| c.is_alphanumeric() || c == ':'))
            .flat_map(|(at, word)| first_names(&text[start + at + word.len()..]))
            .collect::<Vec<_>>()
    })
    .collect()
}

/// The first name of a path, or of each path of a list in braces.
fn first_names(rest: &str) -> Vec<&str> {
    let Some(list) = rest.strip_prefix('{') else {
        return vec![name(rest)];
    };
    let mut depth = 0;
    let mut begins = true;
    let mut names = Vec::new();
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => begins = true,
            c if begins && !c.is_whitespace() => {
                names.push(name(&list[at..]));
                begins = false;
            }
            _ => {}
        }
    }
    names
}

fn name(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_');
    &text[..end.unwrap_or(text.len())]
}

/// The shortest way from `module` back to it, if there is one.
fn circle<'t>(module: &'t str, imports: &Imports<'t>) -> Option<Vec<&'t str>> {
    let mut seen = BTreeSet::new();
    let mut ways = vec![vec![module]];
    while !ways.is_empty() {
        let mut longer = Vec::new();
        for way in ways {
            let last = way.last().copied().unwrap_or(module);
            for next in imports.get(last).into_iter().flatten() {
                if *next == module {
                    return Some(way);
                }
                if seen.insert(*next) {
                    longer.push([way.as_slice(), &[*next]].concat());
                }
            }
        }
        ways = longer;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<SourceFile> = files
            .iter()
            .map(|(path, text)| SourceFile {
                path: format!("sim/{path}"),
                text: (*text).to_owned(),
            })
            .collect();
        let findings = check_crate("sim/", &files).into_iter();
        findings.map(|finding| finding.to_string()).collect()
    }

    #[test]
    fn imports_of_one_way_are_left_alone() {
        let files = [
            ("lib.rs", "mod dac;\nmod world;\nuse world::World;\n"),
            ("world.rs", "use super::dac::Dac;\nuse crate::pins::Pin;\n"),
            (
                "dac.rs",
                "//! Not what `crate::world` is.\nmod player;\nuse super::pins::Pin;\n#[cfg(test)]\nmod tests { use crate::world::World; }\n",
            ),
            (
                "dac/player.rs",
                "use super::Dac;\nuse super::super::pins;\n",
            ),
            ("dac/tests.rs", "use crate::world::World;\n"),
            ("pins.rs", "pub struct Pin;\n"),
        ];
        assert_eq!(found(&files), [""; 0]);
    }

    #[test]
    fn a_circle_is_named_once_however_it_is_closed() {
        let message = |way: &str| {
            format!(
                "sim/dac.rs: imports itself in a circle: {way}; let the lower one take what it needs as an argument"
            )
        };
        let closing = [
            ("pins.rs", "use crate::world::World;"),
            (
                "pins.rs",
                "use crate::{\n    adc::{self, Adc},\n    world::World,\n};",
            ),
            ("pins.rs", "use super::world;"),
            ("pins/bank.rs", "use super::super::world::World;"),
            ("pins.rs", "fn all(world: &crate::world::World) {}"),
            ("pins.rs", "use crate::World;"),
        ];
        for (path, text) in closing {
            let files = [
                (
                    "lib.rs",
                    "//! Sim.\nmod dac;\n\npub use world::{World, Wire};\n",
                ),
                ("world.rs", "use super::dac::Dac;"),
                ("dac.rs", "use super::pins::Pin;"),
                (path, text),
            ];
            let way = message("dac -> pins -> world -> dac");
            assert_eq!(found(&files), [way], "{path}: {text}");
        }
    }
}
