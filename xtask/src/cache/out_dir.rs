//! The folder of a build script, `OUT_DIR`, in texts. It lies in the target folder of one clone, so a text that names it
//! is saved with a mark in its place, and gets the folder of the clone that restores it. Cargo itself does this for what
//! build scripts print, and nothing for the files that they write.

use std::fs;
use std::path::Path;

/// Stands for the folder in a text that is saved.
const MARK: &str = "<OUT_DIR of this build script>";

/// The file in which cargo notes the folder that a build script had.
const NOTE: &str = "root-output";

/// How a file can be saved.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// It names no folder of a clone.
    AsItIs,
    /// It names its own folder, which this text has the mark for.
    Marked(String),
    /// It names a folder of a clone in a way that cannot be mended.
    Never,
}

/// The folder of one build script, and what a saved file of it must not name.
#[derive(Debug)]
pub(super) struct OutDir {
    /// The folder when the script ran.
    folder: String,
    /// The target folder it was in, and the one it is in now.
    targets: [String; 2],
}

impl OutDir {
    /// The folder that cargo noted for the build script that has run in `build/<unit>` of the profile's folder. `None` if
    /// cargo left it in another way than is known here.
    pub(super) fn of(profile: &Path, unit: &str) -> Option<Self> {
        let note = profile.join("build").join(unit).join(NOTE);
        Self::noted(&fs::read_to_string(note).ok()?, profile, unit)
    }

    /// Whether a build script has run in `build/<unit>`, rather than having been compiled there.
    pub(super) fn is_of_run(profile: &Path, unit: &str) -> bool {
        let folder = profile.join("build").join(unit);
        [NOTE, "out", "output"]
            .iter()
            .any(|name| folder.join(name).exists())
    }

    fn noted(note: &str, profile: &Path, unit: &str) -> Option<Self> {
        let name = profile.file_name()?.to_str()?;
        let below = Path::new(name).join("build").join(unit).join("out");
        let then = note.strip_suffix(below.to_str()?)?;
        let now = profile.parent()?.to_str()?;
        let target = |path: &str| path.trim_end_matches(['/', '\\']).to_owned();
        let targets = [target(then), target(now)];
        // A target folder at the root of all folders could not be told from others in a text.
        targets.iter().all(|target| !target.is_empty()).then(|| {
            let folder = note.to_owned();
            Self { folder, targets }
        })
    }

    /// How a file with this content can be saved.
    pub(super) fn form(&self, content: &[u8]) -> Form {
        let has = |name: &String| memchr::memmem::find(content, name.as_bytes()).is_some();
        if !self.targets.iter().any(has) {
            return Form::AsItIs;
        }
        let marked = str::from_utf8(content)
            .ok()
            .filter(|text| !text.contains(MARK))
            .map(|text| text.replace(&self.folder, MARK))
            .filter(|text| self.targets.iter().all(|target| !text.contains(target)));
        marked.map_or(Form::Never, Form::Marked)
    }
}

/// A saved text, for the build script with the folder `folder`.
pub(super) fn fill_in(marked: &str, folder: &str) -> String {
    marked.replace(MARK, folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: &str = "ring-79cf4bfc37322b82";

    fn out_dir() -> OutDir {
        let note = format!("/old/clone/target/release/build/{UNIT}/out");
        OutDir::noted(&note, Path::new("/new/target/release"), UNIT).unwrap()
    }

    #[test]
    fn a_text_gets_the_folder_of_the_clone_that_restores_it() {
        let folder = out_dir().folder;
        let text = format!("cargo:rustc-link-search=native={folder}/lib\ncargo:root={folder}\n");
        let Form::Marked(marked) = out_dir().form(text.as_bytes()) else {
            panic!("{text}");
        };
        assert!(!marked.contains("clone"), "{marked}");
        assert_eq!(
            fill_in(&marked, "/third"),
            "cargo:rustc-link-search=native=/third/lib\ncargo:root=/third\n"
        );
    }

    #[test]
    fn what_names_a_clone_otherwise_is_never_saved() {
        let folder = out_dir().folder;
        for text in [
            "cargo:include=/old/clone/target/release/build/other-0123456789abcdef/out".to_owned(),
            "include!(\"/new/target/release/build/x.rs\")".to_owned(),
            format!("{folder}/a {MARK}"),
        ] {
            assert_eq!(out_dir().form(text.as_bytes()), Form::Never, "{text}");
        }
        let object = [folder.as_bytes(), &[0xff]].concat();
        assert_eq!(out_dir().form(&object), Form::Never);
    }

    #[test]
    fn what_names_no_clone_stays_as_it_is() {
        for content in [&b"cargo:rerun-if-changed=build.rs"[..], &[0xff, 0], b""] {
            assert_eq!(out_dir().form(content), Form::AsItIs);
        }
    }

    #[test]
    fn a_note_of_another_layout_is_no_folder() {
        let profile = Path::new("/new/target/release");
        assert!(OutDir::noted("/old/target/release/out/ring", profile, UNIT).is_none());
        let note = format!("/release/build/{UNIT}/out");
        assert!(OutDir::noted(&note, profile, UNIT).is_none());
    }
}
