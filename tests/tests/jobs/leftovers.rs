//! What jobs leave on a machine besides what is kept of them: nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tests::until;

use super::{Jobs, below, processes};

/// What is kept of a job, and of an attempt.
const KEPT: [&str; 5] = ["definition", "log", "index", "cases", "end.json"];

/// The beginning of the names of folders in which a server makes its control groups.
const GROUPS: &str = "hostd-jails-";

impl Jobs {
    /// Waits until nothing is left of a finished job, whose commands have `mark`, nor of any other one.
    pub(super) fn assert_nothing_is_left(&self, id: &str, mark: &str) {
        let is_nothing = |left: &Value| left == &json!([]);
        until(|| json!(self.left(id, mark)), is_nothing).unwrap();
    }

    fn left(&self, id: &str, mark: &str) -> Vec<PathBuf> {
        let mut left = processes(mark);
        left.extend(self.groups());
        left.extend(self.mounts());
        left.extend(self.places());
        left.extend(below(&self.data("relays")));
        left.extend(below(&self.data("blobs/staging")));
        let job = self.data("jobs").join(id);
        let attempts = below(&job).into_iter().filter(|path| path.is_dir());
        let files = attempts.flat_map(|attempt| below(&attempt));
        let files = files.chain(below(&job).into_iter().filter(|path| is_no_attempt(path)));
        left.extend(files.filter(|file| !is_kept(file)));
        left
    }

    /// Control groups of jails of this server.
    fn groups(&self) -> Vec<PathBuf> {
        let open = below(Path::new(&format!("/proc/{}/fd", self.server.pid())));
        let open = open.iter().filter_map(|fd| fs::read_link(fd).ok());
        let bases = open.filter(|path| {
            let name = path.file_name().map(|name| name.to_string_lossy());
            name.is_some_and(|name| name.starts_with(GROUPS))
        });
        let inside = bases.flat_map(|base| below(&base));
        inside.filter(|path| path.is_dir()).collect()
    }

    /// What is mounted below the data folder, as the server and as this process see it.
    fn mounts(&self) -> Vec<PathBuf> {
        let data = self.data("");
        let of = |process: &str| {
            let mounts = fs::read_to_string(format!("/proc/{process}/mountinfo"));
            let mounts = mounts.unwrap_or_default();
            let places = mounts.lines().filter_map(|line| line.split(' ').nth(4));
            let places: Vec<PathBuf> = places.map(PathBuf::from).collect();
            places.into_iter().filter(|place| place.starts_with(&data))
        };
        let pid = self.server.pid().to_string();
        of(&pid).chain(of("self")).collect()
    }
}

/// Folders of attempts have their numbers as names.
fn is_no_attempt(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.parse::<u32>().is_err()
}

fn is_kept(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    KEPT.contains(&&*name)
}

/// What a build keeps has the modes that the build gave it, in folders that others cannot enter.
const OF_THE_BUILD: &str = "tree";

/// Everything in the folder whose mode gives others access.
fn open_to_others(folder: &Path, found: &mut Vec<String>) {
    let mode = fs::symlink_metadata(folder).unwrap().permissions().mode();
    if mode & 0o077 != 0 {
        found.push(format!("{} {mode:o}", folder.display()));
    }
    if folder.is_dir() && folder.file_name().is_none_or(|name| name != OF_THE_BUILD) {
        for path in below(folder) {
            open_to_others(&path, found);
        }
    }
}

#[test]
fn what_jobs_keep_is_for_the_owner_alone() {
    let jobs = Jobs::start("");
    let id = jobs.submit(
        "version: 1
builds:
  - id: fw
    packs: [{ id: p, artifacts: [fw] }]
    cache: { key: [Makefile], paths: [deep/kept] }
    steps:
      - run: mkdir -p deep/kept; echo kept > deep/kept/object; echo made > \"$HOSTD_OUT/fw\"
",
    );
    assert_eq!(jobs.ended(&id)["verdict"], "success");
    let mut files = Vec::new();
    for folder in ["jobs", "work"] {
        open_to_others(&jobs.data(folder), &mut files);
    }
    assert_eq!(files, Vec::<String>::new());
    assert!(jobs.data("jobs").join(&id).join("1/end.json").exists());
    assert!(jobs.data("work/cache").exists());
}
