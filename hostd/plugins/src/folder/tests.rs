//! The folder on a disk, with a clock that tests set.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};

use tempfile::TempDir;

use super::eye::HAPPENED_MAX;
use super::*;
use crate::testing::package;

/// A watched folder, its data folder, and a clock that tests set.
struct Watched {
    dir: TempDir,
    folder: Folder,
    now: Instant,
    wall: SystemTime,
}

impl Watched {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("drop")).unwrap();
        fs::create_dir(dir.path().join(base::folder::PLUGINS)).unwrap();
        let folder = Folder::open(&dir.path().join("drop"), dir.path());
        Self {
            dir,
            folder,
            now: Instant::now(),
            wall: SystemTime::now(),
        }
    }

    /// As after a restart of the server.
    fn again(mut self) -> Self {
        self.folder = Folder::open(&self.path(""), self.dir.path());
        self
    }

    /// Without inotify.
    fn blind(mut self) -> Self {
        self.folder.eye = None;
        self
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join("drop").join(name)
    }

    /// Put a file there as one does who knows how.
    fn put(&self, name: &str, bytes: &[u8]) {
        let work = self.dir.path().join("work");
        fs::write(&work, bytes).unwrap();
        fs::rename(work, self.path(name)).unwrap();
    }

    fn look(&mut self) -> Vec<String> {
        let news = self.folder.look(self.now, self.wall);
        news.into_iter().map(|one| self.told(one)).collect()
    }

    /// As whoever installs does, and in words for the test.
    fn told(&mut self, news: News) -> String {
        match news {
            News::Package {
                name,
                package,
                was_there,
            } => {
                let taken = Taken {
                    plugin: package.manifest().id.to_string(),
                    digest: package.digest(),
                };
                self.folder.remember(&name, taken);
                let before = if was_there { " was there" } else { "" };
                format!("{name} {}{before}", package.manifest().version)
            }
            News::Refused { name, reason } => format!("{name} refused: {reason}"),
            News::Mended { name } => format!("{name} mended"),
            News::Gone { name, taken } => {
                self.folder.forget(&name);
                format!("{name} gone: {}", taken.plugin)
            }
        }
    }

    fn later(&mut self, by: Duration) -> Vec<String> {
        self.now += by;
        self.wall += by;
        self.look()
    }
}

fn packed(version: &str) -> Vec<u8> {
    package("acme.x", version, "").pack()
}

#[tokio::test]
async fn what_is_moved_here_is_taken_at_once_and_once() {
    let mut watched = Watched::new();
    assert!(watched.look().is_empty());
    watched.put("x.tar", &packed("1.0.0"));
    assert_eq!(watched.look(), ["x.tar 1.0.0"]);
    assert!(watched.look().is_empty());
    watched.put("x.tar", &packed("2.0.0"));
    assert_eq!(watched.look(), ["x.tar 2.0.0"]);
    // The same bytes again are no news.
    watched.put("x.tar", &packed("2.0.0"));
    assert_eq!(watched.look(), ["x.tar mended"]);
    let mut again = watched.again();
    assert!(again.look().is_empty(), "it may still be written");
    assert_eq!(again.later(FILE_SETTLES), ["x.tar mended"]);
}

#[tokio::test]
async fn what_is_being_written_is_not_looked_into_until_it_is_closed() {
    let mut watched = Watched::new();
    watched.look();
    let bytes = packed("1.0.0");
    let mut file = File::create(watched.path("x.tar")).unwrap();
    file.write_all(&bytes[..600]).unwrap();
    assert!(watched.look().is_empty());
    // However long its writer pauses.
    assert!(watched.later(Duration::from_secs(60)).is_empty());
    file.write_all(&bytes[600..]).unwrap();
    assert!(watched.look().is_empty());
    drop(file);
    assert_eq!(watched.look(), ["x.tar 1.0.0"]);
}

#[tokio::test]
async fn without_events_a_file_that_stays_the_same_is_whole() {
    let mut watched = Watched::new().blind();
    watched.look();
    let bytes = packed("1.0.0");
    let mut file = File::create(watched.path("x.tar")).unwrap();
    file.write_all(&bytes[..600]).unwrap();
    assert!(watched.look().is_empty());
    file.write_all(&bytes[600..]).unwrap();
    assert!(watched.later(FILE_SETTLES / 2).is_empty());
    assert_eq!(watched.later(FILE_SETTLES), ["x.tar 1.0.0"]);
}

#[tokio::test]
async fn a_folder_is_a_package_once_nothing_changes_in_it() {
    let mut watched = Watched::new();
    watched.look();
    let folder = watched.path("x");
    fs::create_dir(&folder).unwrap();
    assert!(watched.look().is_empty());
    let one = package("acme.x", "1.0.0", "");
    fs::write(folder.join("plugin.toml"), one.manifest_bytes()).unwrap();
    assert!(watched.look().is_empty());
    fs::write(folder.join("plugin.wasm"), one.component()).unwrap();
    assert!(
        watched.later(FOLDER_SETTLES).is_empty(),
        "it has just changed"
    );
    assert_eq!(watched.later(FOLDER_SETTLES), ["x 1.0.0"]);
    // A folder that is none, and names that are nobody's business.
    fs::create_dir(watched.path("notes")).unwrap();
    watched.put(".x.tar.part", &packed("3.0.0"));
    watched.put("readme.txt", b"hello");
    assert!(watched.later(Duration::from_secs(60)).is_empty());
}

#[tokio::test]
async fn what_is_wrong_is_told_once_and_again_when_it_changes() {
    let mut watched = Watched::new();
    watched.look();
    watched.put("x.tar", b"not a tar");
    let told = watched.look();
    assert!(
        told[0].starts_with("x.tar refused: it is no tar"),
        "{told:?}"
    );
    assert!(watched.later(Duration::from_secs(60)).is_empty());
    watched.put("x.tar", b"nor is this");
    assert_eq!(watched.look().len(), 1);
    fs::remove_file(watched.path("x.tar")).unwrap();
    assert_eq!(watched.look(), ["x.tar mended"]);
}

#[tokio::test]
async fn what_others_may_change_is_not_taken() {
    let mut watched = Watched::new();
    watched.look();
    let with_mode = |name: &str, mode| {
        watched.put(name, &packed("1.0.0"));
        fs::set_permissions(watched.path(name), Permissions::from_mode(mode)).unwrap();
    };
    with_mode("a.tar", 0o666);
    with_mode("b.tar", 0o620);
    symlink("/etc/passwd", watched.path("c.tar")).unwrap();
    let mut told = watched.later(FILE_SETTLES);
    // Nobody is seen to close a link, so it waits.
    told.extend(watched.later(FILE_SETTLES));
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(
        told[0].contains("chmod go-w") && told[1].contains("mode 620"),
        "{told:?}"
    );
    assert!(told[2].contains("link"), "{told:?}");
    // Mended, it is taken.
    fs::set_permissions(watched.path("a.tar"), Permissions::from_mode(0o644)).unwrap();
    assert!(watched.look().is_empty(), "it has just changed");
    assert_eq!(watched.later(FILE_SETTLES), ["a.tar 1.0.0"]);
    // The folder itself.
    fs::set_permissions(watched.path(""), Permissions::from_mode(0o777)).unwrap();
    watched.put("d.tar", &packed("2.0.0"));
    let told = watched.later(FILE_SETTLES);
    assert!(told.len() == 1 && told[0].contains("mode 777"), "{told:?}");
    assert!(watched.later(FILE_SETTLES).is_empty());
    fs::set_permissions(watched.path(""), Permissions::from_mode(0o755)).unwrap();
    let told = watched.look();
    assert!(told.len() == 1 && told[0].ends_with("mended"), "{told:?}");
    assert_eq!(watched.later(FILE_SETTLES), ["d.tar 2.0.0"]);
}

#[tokio::test]
async fn what_is_gone_is_told_after_a_while_also_if_it_went_while_nobody_looked() {
    let mut watched = Watched::new();
    watched.look();
    watched.put("x.tar", &packed("1.0.0"));
    watched.look();
    // Removed and put back is no removal.
    fs::remove_file(watched.path("x.tar")).unwrap();
    assert_eq!(watched.look(), ["x.tar mended"]);
    watched.put("x.tar", &packed("1.0.0"));
    assert_eq!(watched.later(GONE_FOR), ["x.tar mended"]);
    fs::remove_file(watched.path("x.tar")).unwrap();
    let mut watched = watched.again();
    assert!(watched.look().is_empty());
    assert_eq!(watched.later(GONE_FOR), ["x.tar gone: acme.x"]);
    assert!(watched.later(GONE_FOR).is_empty());
}

#[tokio::test]
async fn what_is_copied_with_its_times_is_no_older_than_the_copy() {
    let mut watched = Watched::new();
    watched.look();
    fs::create_dir(watched.path("x")).unwrap();
    let one = package("acme.x", "1.0.0", "");
    let copy = |watched: &Watched, name: &str, bytes: &[u8]| {
        let mut file = File::create(watched.path("x").join(name)).unwrap();
        file.write_all(bytes).unwrap();
        let old = watched.wall - Duration::from_secs(3600);
        file.set_modified(old).unwrap();
    };
    copy(&watched, "plugin.toml", one.manifest_bytes());
    assert!(watched.look().is_empty(), "more may come");
    copy(&watched, "plugin.wasm", one.component());
    assert!(watched.later(FOLDER_SETTLES).is_empty(), "it just came");
    assert_eq!(watched.later(FOLDER_SETTLES), ["x 1.0.0"]);
}

#[tokio::test]
async fn what_cannot_be_looked_at_is_not_gone() {
    // Root looks everywhere.
    if rustix::process::geteuid().is_root() {
        return;
    }
    let allow = |watched: &Watched, name: &str, mode| {
        fs::set_permissions(watched.path(name), Permissions::from_mode(mode)).unwrap();
    };
    let mut watched = Watched::new();
    watched.look();
    watched.put("x.tar", &packed("1.0.0"));
    watched.look();
    allow(&watched, "", 0o600);
    let told = watched.later(GONE_FOR);
    assert!(
        told.len() == 1 && told[0].contains("failed to look at x.tar"),
        "{told:?}"
    );
    assert!(watched.later(GONE_FOR * 2).is_empty());
    allow(&watched, "", 0o700);
    let told = watched.look();
    assert!(told.len() == 1 && told[0].ends_with("mended"), "{told:?}");
    // The same with a package that is a folder; the others go on.
    fs::create_dir(watched.path("y")).unwrap();
    let one = package("acme.y", "1.0.0", "");
    fs::write(watched.path("y/plugin.toml"), one.manifest_bytes()).unwrap();
    fs::write(watched.path("y/plugin.wasm"), one.component()).unwrap();
    assert!(watched.look().is_empty());
    assert_eq!(watched.later(FOLDER_SETTLES), ["y 1.0.0"]);
    allow(&watched, "y", 0o000);
    assert_eq!(watched.look(), ["y mended"]);
    assert!(watched.later(GONE_FOR * 2).is_empty());
    watched.put("x.tar", &packed("2.0.0"));
    assert_eq!(watched.look(), ["x.tar 2.0.0"]);
    allow(&watched, "y", 0o755);
    assert!(watched.look().is_empty());
    assert_eq!(watched.later(FOLDER_SETTLES), ["y mended"]);
}

#[tokio::test]
async fn events_that_are_not_read_yet_are_told_of() {
    let mut watched = Watched::new();
    watched.look();
    for n in 0..HAPPENED_MAX {
        let name = format!(".{}", n % 2);
        fs::write(watched.path(&name), b"x").unwrap();
    }
    let happened = watched.folder.eye.as_mut().unwrap().happened();
    assert_eq!(happened.len(), HAPPENED_MAX + 1);
    assert_eq!(happened.last(), Some(&Happened::Lost));
}

#[tokio::test]
async fn another_folder_in_its_place_says_nothing_of_what_is_missing() {
    let mut watched = Watched::new();
    watched.look();
    watched.put("x.tar", &packed("1.0.0"));
    watched.look();
    fs::rename(watched.path(""), watched.dir.path().join("elsewhere")).unwrap();
    let told = watched.look();
    assert!(told[0].contains("failed to look at the folder"), "{told:?}");
    assert!(watched.later(GONE_FOR * 2).is_empty());
    fs::create_dir(watched.path("")).unwrap();
    watched.look();
    assert!(watched.later(GONE_FOR * 2).is_empty());
}

#[tokio::test]
async fn several_come_one_at_a_time_the_oldest_first() {
    let mut watched = Watched::new();
    for (name, version) in [("b.tar", "1.0.0"), ("a.tar", "2.0.0")] {
        watched.put(name, &packed(version));
        let file = OpenOptions::new()
            .append(true)
            .open(watched.path(name))
            .unwrap();
        let age = if version == "1.0.0" { 60 } else { 30 };
        file.set_modified(watched.wall - Duration::from_secs(age))
            .unwrap();
    }
    assert_eq!(watched.look(), ["b.tar 1.0.0 was there"]);
    assert_eq!(watched.folder.pause, Duration::ZERO);
    assert_eq!(watched.look(), ["a.tar 2.0.0 was there"]);
    assert!(watched.folder.has_other("a.tar", "acme.x"));
}

#[tokio::test]
async fn a_file_that_appears_ends_the_wait() {
    let mut watched = Watched::new();
    watched.look();
    watched.put("x.tar", &packed("1.0.0"));
    let waited = tokio::time::timeout(LOOK_EVERY / 2, watched.folder.wait());
    waited
        .await
        .expect("woken before it is time to look anyway");
    assert_eq!(watched.look(), ["x.tar 1.0.0"]);
}
