//! The key file: made once, kept from others, and missed when it is gone.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;
use crate::key::{Key, KeyFile};

fn set_mode(safe: &Safe, mode: u32) {
    fs::set_permissions(safe.key(), Permissions::from_mode(mode)).unwrap();
}

#[tokio::test]
async fn the_key_is_made_at_first_need_and_then_kept() {
    let safe = Safe::new();
    assert!(safe.vault.list(ORG).await.unwrap().is_empty());
    assert!(!safe.key().exists());
    // Left by a server that died while it made one.
    fs::write(safe.dir.path().join("secrets.key.new"), "half").unwrap();
    let both = tokio::join!(safe.put(ORG, "A", VALUE), safe.put(ORG, "B", VALUE));
    both.0.unwrap();
    both.1.unwrap();
    let made = fs::read(safe.key()).unwrap();
    assert_eq!(made.len(), 65);
    assert_eq!(
        fs::metadata(safe.key()).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert!(!safe.dir.path().join("secrets.key.new").exists());
    safe.put(ORG, "C", VALUE).await.unwrap();
    assert_eq!(fs::read(safe.key()).unwrap(), made);
    for name in ["A", "B", "C"] {
        assert_eq!(safe.open(ORG, name, None).unwrap(), VALUE);
    }
    let refused = KeyFile::new(safe.dir.path()).make();
    assert!(matches!(refused, Err(KeyError::File(_))));
    assert_eq!(fs::read(safe.key()).unwrap(), made);
}

#[tokio::test]
async fn a_missing_key_is_told_and_none_is_made_in_its_place() {
    let safe = Safe::new();
    safe.put(ORG, "CAL", VALUE).await.unwrap();
    let apart = safe.dir.path().join("apart");
    fs::rename(safe.key(), &apart).unwrap();
    assert_eq!(safe.state(ORG, "CAL").await, State::NoKey);
    let told = safe.open(ORG, "CAL", None).unwrap_err().to_string();
    assert!(
        told.contains("find secrets.key in the data folder"),
        "{told}"
    );
    let refused = safe.put(OTHER, "NEW", VALUE).await;
    assert!(matches!(refused, Err(SecretError::Key(KeyError::Missing))));
    assert!(!safe.key().exists());
    safe.vault.warn_of_unreadable().await.unwrap();
    // Put back, it works at once; also when it is kept elsewhere.
    symlink(&apart, safe.key()).unwrap();
    assert_eq!(safe.open(ORG, "CAL", None).unwrap(), VALUE);
    assert_eq!(safe.state(ORG, "CAL").await, State::Ready);
    fs::remove_file(safe.key()).unwrap();
    // When nothing is sealed under it any more, another one is made.
    safe.vault.remove(&by(ORG), "CAL").await.unwrap();
    safe.put(OTHER, "NEW", VALUE).await.unwrap();
    assert_ne!(fs::read(safe.key()).unwrap(), fs::read(apart).unwrap());
}

#[tokio::test]
async fn a_key_that_others_may_read_is_refused() {
    let safe = Safe::new();
    safe.put(ORG, "CAL", VALUE).await.unwrap();
    for mode in [0o640, 0o604, 0o620, 0o601] {
        set_mode(&safe, mode);
        let told = safe.open(ORG, "CAL", None).unwrap_err().to_string();
        assert!(told.contains("others may read it"), "{told}");
        assert!(told.contains("chmod 600"), "{told}");
        let refused = safe.put(ORG, "NEW", VALUE).await;
        assert!(matches!(refused, Err(SecretError::Key(KeyError::Shared(m))) if m == mode));
    }
    set_mode(&safe, 0o400);
    assert_eq!(safe.open(ORG, "CAL", None).unwrap(), VALUE);
}

#[tokio::test]
async fn a_wrong_key_and_a_damaged_one_are_told_apart() {
    let safe = Safe::new();
    safe.put(ORG, "CAL", VALUE).await.unwrap();
    let right = fs::read_to_string(safe.key()).unwrap();
    fs::write(safe.key(), format!("{}\n", "5a".repeat(32))).unwrap();
    assert_eq!(safe.state(ORG, "CAL").await, State::OtherKey);
    let told = safe.open(ORG, "CAL", None).unwrap_err().to_string();
    let has = |text: &str| Key::parse(text.as_bytes()).unwrap().fingerprint();
    assert!(told.contains(&has(&right)), "{told}");
    assert!(told.contains(&has(&"5a".repeat(32))), "{told}");
    assert!(
        !told.contains(right.trim()) && !told.contains("5a5a"),
        "{told}"
    );
    // Whoever has lost the right one sets the secrets again.
    safe.put(ORG, "CAL", VALUE).await.unwrap();
    assert_eq!(safe.open(ORG, "CAL", None).unwrap(), VALUE);
    let longer = format!("{right}5a");
    for damaged in ["", "5a", &right[..63], &longer, &"g".repeat(64)] {
        fs::write(safe.key(), damaged).unwrap();
        let told = safe.open(ORG, "CAL", None).unwrap_err().to_string();
        assert!(
            told.contains("not a key of 64 hexadecimal digits"),
            "{told}"
        );
        assert_eq!(safe.state(ORG, "CAL").await, State::NoKey);
    }
    fs::remove_file(safe.key()).unwrap();
    fs::create_dir(safe.key()).unwrap();
    set_mode(&safe, 0o700);
    assert!(matches!(
        safe.open(ORG, "CAL", None),
        Err(Unavailable::Key(_, KeyError::Malformed))
    ));
}

#[test]
fn a_key_is_not_in_its_debug_output() {
    let text = "0123456789abcdef".repeat(4);
    let key = Key::parse(text.as_bytes()).unwrap();
    let shown = format!("{key:?}");
    assert!(shown.contains(&key.fingerprint()) && !shown.contains("0123456789abcdef"));
}
