//! Whether something that tests of USB are about has changed of late.

use std::path::Path;

use anyhow::Result;

use crate::tool::Tool;

/// How many of the newest commits count.
const COMMITS: usize = 60;

/// How the paths of what counts begin: what drives devices on USB, what simulates them, their tests, and the machine.
const ABOUT: [&str; 11] = [
    "hostd/acquire/",
    "hostd/lab/tests/flashing",
    "hostd/parts/",
    "hostd/pod-sim/src/usb",
    "hostd/pods/",
    "hostd/usb-host/",
    "hostd/usb-sim/",
    "hostd/usb-trials/",
    "hostd/vendor-probes/",
    "xtask/src/machine",
    "xtask/src/usb",
];

/// The newest such file that has changed within the last commits or not been committed. Where there is no history, or
/// too little of it, that counts as a change.
pub(super) fn newest(root: &Path) -> Result<Option<String>> {
    let git = |arguments: &[&str]| Tool::new("git").dir(root).args(arguments).read();
    let Ok(uncommitted) = git(&["status", "--porcelain", "--no-renames"]) else {
        return Ok(Some("a tree without a history".to_owned()));
    };
    if git(&["rev-parse", "--is-shallow-repository"])?.trim() != "false" {
        return Ok(Some("a shallow clone".to_owned()));
    }
    let commits = format!("-{COMMITS}");
    let log = git(&["log", &commits, "--name-only", "--no-renames", "--format="])?;
    // Porcelain lines have two letters and a space before the path.
    let uncommitted = uncommitted.lines().filter_map(|line| line.get(3..));
    let mut changed = uncommitted.chain(log.lines());
    Ok(changed.find(|path| is_about_usb(path)).map(str::to_owned))
}

fn is_about_usb(path: &str) -> bool {
    ABOUT.iter().any(|start| path.starts_with(start))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::metadata::Metadata;

    #[test]
    fn what_counts_is_there() {
        let root = Metadata::load().unwrap().root;
        let listed = Tool::new("git").dir(&root).arg("ls-files").read().unwrap();
        for start in ABOUT {
            assert!(
                listed.lines().any(|file| file.starts_with(start)),
                "{start}"
            );
        }
    }

    #[test]
    fn a_change_counts_for_sixty_commits() {
        let folder = std::env::temp_dir().join(format!("xtask-changes-{}", std::process::id()));
        fs::create_dir_all(folder.join("hostd/pods")).unwrap();
        let git = |arguments: &[&str]| {
            let who = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
            let git = Tool::new("git").dir(&folder).args(who).args(arguments);
            git.read().unwrap()
        };
        git(&["init", "-q"]);
        git(&["commit", "-q", "--allow-empty", "-m", "b"]);
        let file = "hostd/pods/a.rs";
        fs::write(folder.join(file), "a").unwrap();
        git(&["add", "."]);
        assert_eq!(newest(&folder).unwrap(), Some(file.to_owned()));
        git(&["commit", "-q", "-m", "a"]);
        for _ in 1..COMMITS {
            git(&["commit", "-q", "--allow-empty", "-m", "b"]);
        }
        assert_eq!(newest(&folder).unwrap(), Some(file.to_owned()));
        git(&["commit", "-q", "--allow-empty", "-m", "b"]);
        assert_eq!(newest(&folder).unwrap(), None);
        fs::write(folder.join(file), "b").unwrap();
        assert_eq!(newest(&folder).unwrap(), Some(file.to_owned()));
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn without_a_history_everything_has_changed() {
        let folder = std::env::temp_dir().join(format!("xtask-no-history-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        assert!(newest(&folder).unwrap().is_some());
        fs::remove_dir_all(&folder).unwrap();
    }
}
