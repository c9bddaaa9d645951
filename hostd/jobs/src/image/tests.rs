//! What is read of Podman's answers, and which names are permitted.

use std::time::{Duration, Instant};

use super::podman::found;
use super::shelf::{Shelf, Turn};
use super::*;

const ID: &str = "d5a30820a12535dd25f28abfe78741cbf5a7c52042452469585a416b712e0405";

fn answer(change: impl Fn(&mut serde_json::Value)) -> Vec<u8> {
    let arch = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        same => same,
    };
    let mut answer = serde_json::json!([{
        "Id": ID,
        "Architecture": arch,
        "Os": "linux",
        "Size": 1,
        "Config": {"Env": ["PATH=/opt/arm/bin:/bin", "EMPTY="], "User": "root"},
    }]);
    change(&mut answer);
    serde_json::to_vec(&answer).unwrap()
}

#[test]
fn an_image_is_read_from_what_podman_says() {
    let image = found("a", &answer(|_| {})).unwrap();
    let env = [("PATH", "/opt/arm/bin:/bin"), ("EMPTY", "")];
    assert_eq!(image.id, ID);
    assert_eq!(
        image.env,
        env.map(|(name, value)| (name.to_owned(), value.to_owned()))
    );
    // Imported images have nothing of this.
    for config in ["{}", "null", r#"{"Env":null}"#] {
        let config: serde_json::Value = serde_json::from_str(config).unwrap();
        let bare = answer(|answer| answer[0]["Config"] = config.clone());
        assert_eq!(found("a", &bare).unwrap().env, []);
    }
}

#[test]
fn what_no_image_says_is_refused() {
    let told = |change: &dyn Fn(&mut serde_json::Value)| {
        found("a", &answer(change)).unwrap_err().to_string()
    };
    let id = told(&|answer| answer[0]["Id"] = "../../etc".into());
    assert!(id.contains("its id is none"), "{id}");
    let id = told(&|answer| answer[0]["Id"] = ID.to_uppercase().into());
    assert!(id.contains("its id is none"), "{id}");
    let arch = told(&|answer| answer[0]["Architecture"] = "vax".into());
    assert!(arch.contains("is for linux/vax, and this machine is linux/"));
    assert!(told(&|answer| answer[0]["Os"] = "windows".into()).contains("windows/"));
    for bad in [
        "novalue",
        "=x",
        "A=\0",
        &format!("A={}", "x".repeat(40_000)),
    ] {
        let told = told(&|answer| answer[0]["Config"]["Env"] = serde_json::json!([bad]));
        assert!(told.contains("environment"), "{told}");
    }
    assert!(found("a", b"[]").is_err() && found("a", b"{").is_err());
}

#[test]
fn names_are_whole_or_begin_as_permitted() {
    let mut options = ImageOptions {
        podman: "/bin/sh".into(),
        ..ImageOptions::default()
    };
    assert_eq!(options.refusal("anything:1"), None);
    options.names = vec!["localhost/arm:12".into(), "registry.example/fw/*".into()];
    for name in ["localhost/arm:12", "registry.example/fw/gcc:1"] {
        assert_eq!(options.refusal(name), None, "{name}");
    }
    for name in ["arm:12", "localhost/arm:123", "registry.example/fw", ID] {
        let told = options.refusal(name).unwrap();
        assert!(told.contains("jobs.images") && told.contains("localhost/arm:12"));
    }
    options.podman = "no-such-program".into();
    let told = options.refusal("localhost/arm:12").unwrap();
    assert!(told.contains("no Podman"), "{told}");
}

fn soon() -> Instant {
    Instant::now() + Duration::from_millis(120)
}

#[test]
fn one_makes_an_image_and_others_wait_or_give_up() {
    let state = tempfile::tempdir().unwrap();
    let shelf = Shelf::open(state.path()).unwrap();
    let cancel = Cancel::default();
    let turn = |cancel: &Cancel| shelf.turn(ID, cancel, soon());
    let Ok(Turn::Make(making)) = turn(&cancel) else {
        panic!("it is there");
    };
    assert!(matches!(turn(&cancel), Err(ImageError::TimedOut)));
    let cancelled = Cancel::default();
    cancelled.cancel();
    assert!(matches!(turn(&cancelled), Err(ImageError::Cancelled)));
    // Another image is nobody's yet.
    let other = ID.replace('d', "e");
    let other = shelf.turn(&other, &cancel, soon());
    assert!(matches!(other, Ok(Turn::Make(_))));
    let folder = shelf.begin(ID).unwrap();
    std::fs::create_dir(folder.join("tree")).unwrap();
    assert_eq!(shelf.incomplete().unwrap(), [ID]);
    shelf.finish(ID, 7).unwrap();
    assert!(matches!(turn(&cancel), Err(ImageError::TimedOut)));
    drop(making);
    let both = [turn(&cancel), turn(&cancel)];
    assert!(both.iter().all(|turn| matches!(turn, Ok(Turn::Ready(_)))));
    // Nothing that is used goes, however large it is.
    shelf.make_room(0).unwrap();
    assert!(shelf.tree(ID).exists());
    drop(both);
    shelf.make_room(7).unwrap();
    assert!(shelf.tree(ID).exists());
    shelf.make_room(6).unwrap();
    assert!(!shelf.tree(ID).exists());
    assert!(matches!(turn(&cancel), Ok(Turn::Make(_))));
}

#[test]
fn what_an_image_leaves_beside_its_tree_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let is_alone = || unpack::has_tree_alone(folder.path());
    let beside = |name: &str| folder.path().join(name);
    std::os::unix::fs::symlink("/etc", beside("tree")).unwrap();
    assert!(!is_alone().unwrap());
    std::fs::remove_file(beside("tree")).unwrap();
    assert!(is_alone().is_err());
    std::fs::create_dir(beside("tree")).unwrap();
    assert!(is_alone().unwrap());
    std::os::unix::fs::symlink("/etc/passwd", beside("size")).unwrap();
    assert!(!is_alone().unwrap());
}

#[test]
fn containers_of_different_folders_are_different() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let name = |state: &Path| Shelf::open(state).unwrap().container(ID);
    assert_ne!(name(one.path()), name(two.path()));
    assert_eq!(name(one.path()), name(one.path()));
    assert!(name(one.path()).ends_with("-d5a30820a12535dd"));
}
