//! What cargo has compiled of third-party packages in a profile's folder, unit by unit. A unit is one call of rustc or of a
//! build script. Its name, the package's and a hash, is that of its folders in `.fingerprint/` and `build/`; the names of
//! what rustc made of it in `deps/` end with the same hash.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::SystemTime;

use anyhow::{Context, Result};
use serde_json::Value;

use super::list::How;
use super::out_dir::{Form, OutDir};
use super::owners::Owners;

/// Digits of the hash at the end of a unit's name.
const HASH_DIGITS: usize = 16;

/// Cargo's folders in that of a profile: what it compares, what build scripts are and leave, what rustc makes.
pub(super) const FINGERPRINTS: &str = ".fingerprint";
const BUILDS: &str = "build";
const DEPS: &str = "deps";

/// A unit that can be saved.
#[derive(Debug)]
pub(super) struct Unit {
    /// The package's name and a hash.
    pub(super) name: String,
    /// Fingerprints are equal if cargo takes one for the other: path and content of their files.
    pub(super) fingerprints: Vec<(String, String)>,
    pub(super) files: Vec<UnitFile>,
}

/// A file of a unit.
#[derive(Debug)]
pub(super) struct UnitFile {
    /// Below the profile's folder, with forward slashes.
    pub(super) path: String,
    pub(super) how: How,
    /// The content, if it is not that of the file.
    pub(super) marked: Option<String>,
}

/// What cargo notes of a unit beside its fingerprint.
#[derive(Debug)]
struct Note {
    /// Stands for the compiler.
    rustc: u64,
    /// Fingerprints of the units that it uses.
    uses: Vec<u64>,
    written: SystemTime,
}

/// A unit that may yet turn out to be of no use.
struct Candidate {
    unit: Unit,
    notes: Vec<Note>,
}

/// Every unit of a profile's folder that is made of third-party packages alone and that the present `Cargo.lock` and
/// compiler can use. What fits no rule here is left out: cargo then compiles it.
pub(super) fn select(profile: &Path, owners: &Owners) -> Result<Vec<Unit>> {
    let products = products(profile)?;
    let mut candidates = Vec::new();
    for name in names_in(&profile.join(FINGERPRINTS))? {
        let Some((package, hash)) = split(&name) else {
            continue;
        };
        let Some(versions) = owners.versions(package) else {
            continue;
        };
        let made = products.get(hash).map_or(&[][..], Vec::as_slice);
        if made.iter().any(|file| owners.is_our_crate(crate_of(file))) {
            continue;
        }
        let source = source_of(profile, &name, made);
        let version = source.as_deref().and_then(|text| version_in(text, package));
        if version.is_some_and(|version| !versions.contains(version)) {
            continue;
        }
        candidates.extend(candidate(profile, &name, made));
    }
    Ok(consistent(candidates))
}

/// A unit with all its files, if it is complete and each of them can be read and saved.
fn candidate(profile: &Path, name: &str, made: &[String]) -> Option<Candidate> {
    let mut candidate = Candidate {
        unit: Unit {
            name: name.to_owned(),
            fingerprints: Vec::new(),
            files: built(profile, name)?,
        },
        notes: Vec::new(),
    };
    let folder = format!("{FINGERPRINTS}/{name}");
    for file in names_in(&profile.join(&folder)).ok()? {
        let path = format!("{folder}/{file}");
        if let Some(stem) = path.strip_suffix(".json") {
            candidate.notes.push(read_note(&profile.join(&path))?);
            let fingerprint = fs::read_to_string(profile.join(stem)).ok()?;
            let print = (stem.to_owned(), fingerprint);
            candidate.unit.fingerprints.push(print);
        }
        // Cargo writes these in place: a second name of the same file would change in all clones.
        candidate.unit.files.push(UnitFile::plain(path, How::Copy));
    }
    for file in made.iter().filter(|file| !file.ends_with(".d")) {
        // rustc writes both kinds under another name and renames them. Libraries that a linker writes, of procedural
        // macros, are copied: some linkers write into the file that is there.
        let is_renamed = file.ends_with(".rlib") || file.ends_with(".rmeta");
        let how = if is_renamed { How::Link } else { How::Copy };
        let path = format!("{DEPS}/{file}");
        candidate.unit.files.push(UnitFile::plain(path, how));
    }
    let is_complete = !candidate.notes.is_empty();
    is_complete.then_some(candidate)
}

/// The files of a build script: the program, or what it printed and wrote.
fn built(profile: &Path, name: &str) -> Option<Vec<UnitFile>> {
    let folder = format!("{BUILDS}/{name}");
    let out_dir = match OutDir::is_of_run(profile, name) {
        true => Some(OutDir::of(profile, name)?),
        false => None,
    };
    let mut files = Vec::new();
    let mut folders = vec![folder.clone()];
    while let Some(inner) = folders.pop() {
        for file in names_in(&profile.join(&inner)).ok()? {
            let path = format!("{inner}/{file}");
            let full = profile.join(&path);
            let kind = fs::symlink_metadata(&full).ok()?.file_type();
            // The program's second name, which cargo gives it again, and what rustc writes and only cargo reads, once.
            let is_spare = file.starts_with("build-script-") || file.ends_with(".d");
            if kind.is_dir() {
                folders.push(path);
            } else if !kind.is_file() {
                return None;
            } else if inner != folder || !is_spare {
                let form = match &out_dir {
                    Some(out_dir) => out_dir.form(&fs::read(&full).ok()?),
                    None => Form::AsItIs,
                };
                files.push(UnitFile::of_script(path, form)?);
            }
        }
    }
    Some(files)
}

/// Leaves out what another compiler made, and what uses a unit that is not there: one of ours, one of an older
/// `Cargo.lock`, one that cannot be saved. Cargo would compile it anyhow.
fn consistent(mut candidates: Vec<Candidate>) -> Vec<Unit> {
    let notes = candidates.iter().flat_map(|c| &c.notes);
    let newest = notes.max_by_key(|note| note.written).map(|n| n.rustc);
    candidates.retain(|c| c.notes.iter().all(|note| Some(note.rustc) == newest));
    loop {
        let before = candidates.len();
        let prints = candidates.iter().flat_map(|c| &c.unit.fingerprints);
        let there: BTreeSet<u64> = prints.filter_map(|(_, text)| number(text)).collect();
        candidates.retain(|c| {
            let mut uses = c.notes.iter().flat_map(|note| &note.uses);
            let is_whole = c.unit.fingerprints.iter().all(|p| number(&p.1).is_some());
            is_whole && uses.all(|print| there.contains(print))
        });
        if candidates.len() == before {
            break;
        }
    }
    candidates.into_iter().map(|c| c.unit).collect()
}

/// The number in the file of a fingerprint, which is empty after an interruption.
fn number(fingerprint: &str) -> Option<u64> {
    let is_whole = fingerprint.len() == HASH_DIGITS;
    let number = u64::from_str_radix(fingerprint, 16).ok();
    number.filter(|_| is_whole).map(u64::swap_bytes)
}

fn read_note(path: &Path) -> Option<Note> {
    let note: Value = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    let uses = note.get("deps")?.as_array()?;
    Some(Note {
        rustc: note.get("rustc")?.as_u64()?,
        // Package, name, whether it is public, fingerprint.
        uses: uses
            .iter()
            .map(|unit| unit.get(3)?.as_u64())
            .collect::<Option<_>>()?,
        written: fs::metadata(path).ok()?.modified().ok()?,
    })
}

/// What rustc made, and the list of sources of each, by the hash in the names.
fn products(profile: &Path) -> Result<BTreeMap<String, Vec<String>>> {
    let kinds = [".rlib", ".rmeta", std::env::consts::DLL_SUFFIX, ".d"];
    let mut products = BTreeMap::<_, Vec<_>>::new();
    for file in names_in(&profile.join(DEPS))? {
        let stem = kinds.iter().find_map(|kind| file.strip_suffix(kind));
        if let Some((_, hash)) = stem.and_then(split) {
            products.entry(hash.to_owned()).or_default().push(file);
        }
    }
    Ok(products)
}

/// The crate that a file in `deps/` was made of.
fn crate_of(file: &str) -> &str {
    let name = file.rsplit_once('-').map_or(file, |(name, _)| name);
    match file.ends_with(".d") {
        true => name,
        false => name.strip_prefix("lib").unwrap_or(name),
    }
}

/// The list of sources that rustc left beside what it made.
fn source_of(profile: &Path, name: &str, made: &[String]) -> Option<String> {
    let of_library = made.iter().find(|file| file.ends_with(".d"));
    let path = match of_library {
        Some(file) => profile.join(DEPS).join(file),
        None => {
            let folder = profile.join(BUILDS).join(name);
            let list = |file: &String| file.ends_with(".d");
            let file = names_in(&folder).ok()?.into_iter().find(list)?;
            folder.join(file)
        }
    };
    fs::read_to_string(path).ok()
}

/// The version of a package, by the folder of cargo's registry that its sources are in.
fn version_in<'a>(sources: &'a str, package: &str) -> Option<&'a str> {
    let (_, below) = sources.split_once("/registry/src/")?;
    let folder = below.split('/').nth(1)?;
    folder.strip_prefix(package)?.strip_prefix('-')
}

/// Splits a unit's name into the package's and the hash.
fn split(name: &str) -> Option<(&str, &str)> {
    let (package, hash) = name.rsplit_once('-')?;
    let is_hash = hash.len() == HASH_DIGITS && hash.bytes().all(|b| b.is_ascii_hexdigit());
    is_hash.then_some((package, hash))
}

/// The names in a folder, sorted; none if there is no folder.
fn names_in(folder: &Path) -> Result<Vec<String>> {
    let failed = || format!("failed to list {}", folder.display());
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).with_context(failed)? {
        let name = entry.with_context(failed)?.file_name().into_string();
        let is_line = |name: &String| !name.contains(['\n', '\r']);
        let name = name.ok().filter(is_line);
        names.push(
            name.with_context(|| {
                format!("a name in {} is not one line of text", folder.display())
            })?,
        );
    }
    names.sort_unstable();
    Ok(names)
}

impl UnitFile {
    fn plain(path: String, how: How) -> Self {
        let marked = None;
        Self { path, how, marked }
    }

    /// A file of a build script. Scripts write as they like, so it is never shared.
    fn of_script(path: String, form: Form) -> Option<Self> {
        match form {
            Form::AsItIs => Some(Self::plain(path, How::Copy)),
            Form::Marked(text) => Some(Self {
                path,
                how: How::Text,
                marked: Some(text),
            }),
            Form::Never => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::tests::Compiled;

    const A: &str = "aaaaaaaaaaaaaaa1";
    const B: &str = "bbbbbbbbbbbbbbb2";
    const C: &str = "ccccccccccccccc3";

    fn names(compiled: &Compiled) -> Vec<String> {
        compiled.units().into_iter().map(|unit| unit.name).collect()
    }

    #[test]
    fn only_third_party_units_are_selected() {
        let compiled = Compiled::new("select");
        assert!(names(&compiled).is_empty());
        compiled.library("outside", A, &[]);
        compiled.library("user", B, &[A]);
        compiled.library("ours", C, &[A]);
        // A name that is ours and a third party's, and a crate with the name of one of ours.
        compiled.library("both", "ddddddddddddddd4", &[]);
        compiled.library("our-crate", "eeeeeeeeeeeeeee5", &[]);
        // A package that is in no lock file any more, and what uses one of ours.
        compiled.library("gone", "fffffffffffffff6", &[]);
        compiled.library("user", "9999999999999997", &[A, C]);
        assert_eq!(
            names(&compiled),
            [format!("outside-{A}"), format!("user-{B}")]
        );
    }

    #[test]
    fn each_kind_of_file_is_restored_in_its_way() {
        let compiled = Compiled::new("kinds");
        compiled.library("outside", A, &[]);
        compiled.write(
            &format!("deps/liboutside-{A}{}", std::env::consts::DLL_SUFFIX),
            "so",
        );
        compiled.write(
            &format!("deps/outside-{A}.outside.1.rcgu.o"),
            "left by a killed rustc",
        );
        compiled.script("user", B, &[("a/made.rs", "code"), ("b.d", "not rustc's")]);
        compiled.write(&format!("build/user-{B}/build-script-build"), "program");
        compiled.write(&format!("build/user-{B}/build_script_build-{B}"), "program");
        compiled.write(
            &format!("build/user-{B}/build_script_build-{B}.d"),
            "sources",
        );
        let units = compiled.units();
        let files = units.iter().flat_map(|unit| &unit.files);
        let mut found: Vec<_> = files.map(|file| (file.how, &*file.path)).collect();
        found.sort_by_key(|(_, path)| *path);
        let library = format!("deps/liboutside-{A}");
        let script = format!("build/user-{B}");
        let expected = [
            (How::Copy, format!(".fingerprint/outside-{A}/lib")),
            (How::Copy, format!(".fingerprint/outside-{A}/lib.json")),
            (How::Copy, format!(".fingerprint/user-{B}/run-build-script")),
            (
                How::Copy,
                format!(".fingerprint/user-{B}/run-build-script.json"),
            ),
            (How::Copy, format!("{script}/build_script_build-{B}")),
            (How::Copy, format!("{script}/out/a/made.rs")),
            (How::Copy, format!("{script}/out/b.d")),
            (How::Text, format!("{script}/output")),
            (How::Text, format!("{script}/root-output")),
            (How::Link, format!("{library}.rlib")),
            (How::Link, format!("{library}.rmeta")),
            (
                How::Copy,
                format!("{library}{}", std::env::consts::DLL_SUFFIX),
            ),
        ];
        assert!(
            found
                .into_iter()
                .eq(expected.iter().map(|(how, path)| (*how, &**path)))
        );
    }

    #[test]
    fn what_the_present_compiler_and_lock_file_cannot_use_is_left_out() {
        let compiled = Compiled::new("useless");
        compiled.library("outside", A, &[]);
        compiled.library("user", B, &[A]);
        assert_eq!(names(&compiled).len(), 2);
        // An older version, and with it its user.
        let older = "x: /cargo/registry/src/index/outside-0.9.0/src/lib.rs\n";
        compiled.write(&format!("deps/outside-{A}.d"), older);
        assert!(names(&compiled).is_empty());
        // One that was interrupted.
        compiled.library("outside", A, &[]);
        compiled.write(&format!(".fingerprint/outside-{A}/lib"), "");
        assert!(names(&compiled).is_empty());
        // The newest note is of another compiler.
        compiled.library("outside", A, &[]);
        let note = format!(".fingerprint/user-{C}/lib.json");
        compiled.library("user", C, &[]);
        compiled.write(&note, "{\"rustc\": 2, \"deps\": []}");
        let later = SystemTime::now() + std::time::Duration::from_secs(1);
        let note = fs::File::open(compiled.profile().join(note)).unwrap();
        note.set_modified(later).unwrap();
        assert_eq!(names(&compiled), [format!("user-{C}")]);
    }

    #[test]
    fn a_script_that_names_another_folder_of_its_clone_is_not_saved() {
        let compiled = Compiled::new("foreign");
        compiled.script("outside", A, &[]);
        compiled.library("user", B, &[A]);
        assert_eq!(names(&compiled).len(), 2);
        let folder = compiled.profile().join("build/other/out");
        let text = format!("cargo:include={}", folder.display());
        compiled.write(&format!("build/outside-{A}/out/paths"), &text);
        assert!(names(&compiled).is_empty());
    }

    #[test]
    fn a_script_whose_folder_cannot_be_known_is_not_saved() {
        let compiled = Compiled::new("unknown");
        compiled.script("outside", A, &[]);
        compiled.write(&format!("build/outside-{A}/root-output"), "/elsewhere/out");
        assert!(names(&compiled).is_empty());
        let note = format!("build/outside-{A}/root-output");
        fs::remove_file(compiled.profile().join(note)).unwrap();
        assert!(names(&compiled).is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn a_script_that_left_a_link_is_not_saved() {
        let compiled = Compiled::new("link");
        compiled.script("outside", A, &[("file", "")]);
        assert_eq!(names(&compiled).len(), 1);
        let folder = compiled.profile().join(format!("build/outside-{A}/out"));
        std::os::unix::fs::symlink(folder.join("file"), folder.join("link")).unwrap();
        assert!(names(&compiled).is_empty());
    }

    #[test]
    fn names_of_units_and_files_are_taken_apart() {
        assert_eq!(
            split(&format!("serde-saphyr-{A}")),
            Some(("serde-saphyr", A))
        );
        assert_eq!(split("serde-saphyr"), None);
        assert_eq!(split("incremental"), None);
        assert_eq!(crate_of(&format!("libserde_json-{A}.rlib")), "serde_json");
        assert_eq!(crate_of(&format!("libc-{A}.d")), "libc");
        let sources = "/t/deps/a.d: /c/registry/src/index-1/wit-parser-0.262.0/src/lib.rs";
        assert_eq!(version_in(sources, "wit-parser"), Some("0.262.0"));
        assert_eq!(
            version_in("a.d: vendor/wit-parser/src/lib.rs", "wit-parser"),
            None
        );
    }
}
