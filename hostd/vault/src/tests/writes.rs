//! Writing, reading, listing and removing secrets.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use pipeline::refs::{REF_CHARS_MAX, REFS_MAX};

use super::*;

#[tokio::test]
async fn a_secret_is_read_by_its_organisation_alone() {
    let safe = Safe::new();
    let (shown, is_new) = safe.put(ORG, "CAL", VALUE).await.unwrap();
    assert!(is_new && shown.state == State::Ready && shown.refs.is_empty());
    assert_eq!(safe.open(ORG, "CAL", None).unwrap(), VALUE);
    assert!(matches!(
        safe.open(OTHER, "CAL", None),
        Err(Unavailable::Gone(_))
    ));
    assert!(safe.vault.list(OTHER).await.unwrap().is_empty());
    let removed = safe.vault.remove(&by(OTHER), "CAL").await;
    assert!(matches!(removed, Err(SecretError::NotFound)));
    let none = BTreeSet::new();
    assert!(safe.vault.open(OTHER, &none, None).unwrap().is_empty());
}

#[tokio::test]
async fn a_replaced_secret_has_its_new_value_and_a_removed_one_is_gone() {
    let safe = Safe::new();
    safe.put(ORG, "CAL", VALUE).await.unwrap();
    safe.hand.advance_ms(5);
    let (shown, is_new) = safe.put(ORG, "CAL", "another value").await.unwrap();
    assert!(!is_new);
    assert_eq!((shown.created_ms, shown.updated_ms), (1_000, 1_005));
    assert_eq!(safe.open(ORG, "CAL", None).unwrap(), "another value");
    safe.vault.remove(&by(ORG), "CAL").await.unwrap();
    let gone = safe.open(ORG, "CAL", None).unwrap_err().to_string();
    assert!(gone.contains("no secret CAL any more"), "{gone}");
    let again = safe.vault.remove(&by(ORG), "CAL").await;
    assert!(matches!(again, Err(SecretError::NotFound)));
}

#[tokio::test]
async fn no_file_has_a_value() {
    let safe = Safe::new();
    safe.put(ORG, "CAL", VALUE).await.unwrap();
    safe.store.close().await.unwrap();
    for entry in fs::read_dir(safe.dir.path()).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        let has = |text: &str| {
            bytes
                .windows(text.len())
                .any(|window| window == text.as_bytes())
        };
        assert!(!has(VALUE) && !has("Y29ycmVjdCBob3JzZ"));
    }
}

#[tokio::test]
async fn names_values_and_refs_have_bounds() {
    let safe = Safe::new();
    let (least, most) = (*VALUE_BYTES.start(), *VALUE_BYTES.end());
    for value in [
        "x".repeat(least),
        "x".repeat(most),
        format!("{}\n", "x".repeat(least)),
    ] {
        safe.put(ORG, "A", &value).await.unwrap();
        assert_eq!(safe.open(ORG, "A", None).unwrap(), value);
    }
    let field = |written: Result<_, SecretError>| match written {
        Err(SecretError::Invalid { field, message }) => {
            assert!(!message.contains("unlikely"), "{message}");
            field
        }
        other => panic!("{other:?}"),
    };
    let long = "x".repeat(most + 1);
    let short = format!("  {}\n\n\n", "x".repeat(least - 1));
    for value in ["", &short, &long, "unlikely\0value"] {
        assert_eq!(field(safe.put(ORG, "B", value).await), "value");
    }
    for name in [
        "",
        "b",
        "_B",
        "B-C",
        "HOSTD_B",
        "BENCHPOD_API_KEY",
        &"B".repeat(65),
    ] {
        assert_eq!(field(safe.put(ORG, name, "unlikely value").await), "name");
    }
    let many = vec!["main"; REFS_MAX + 1];
    let long = "x".repeat(REF_CHARS_MAX + 1);
    for refs in [
        &many[..],
        &[""],
        &["a**"],
        &["/main"],
        &["[a]"],
        &["main", &long],
    ] {
        let written = safe.put_for(ORG, "B", "unlikely value", Some(refs)).await;
        assert_eq!(field(written), "refs", "{refs:?}");
    }
    assert_eq!(safe.vault.list(ORG).await.unwrap().len(), 1);
}

#[tokio::test]
async fn an_organisation_has_so_many_and_others_have_theirs() {
    let safe = Safe::new();
    for n in 0..COUNT_MAX {
        safe.put(ORG, &format!("S{n}"), VALUE).await.unwrap();
    }
    let full = safe.put(ORG, "ONE_MORE", VALUE).await;
    assert!(matches!(full, Err(SecretError::Full(COUNT_MAX))));
    safe.put(ORG, "S0", VALUE).await.unwrap();
    safe.put(OTHER, "ONE_MORE", VALUE).await.unwrap();
}

#[tokio::test]
async fn a_secret_is_for_its_refs_alone() {
    let safe = Safe::new();
    let refs: &[&str] = &["main", "release/*"];
    safe.put_for(ORG, "CAL", VALUE, Some(refs)).await.unwrap();
    safe.put(ORG, "FREE", VALUE).await.unwrap();
    for (reference, is_fit) in [
        (Some("main"), true),
        (Some("release/1.2"), true),
        (Some("main/other"), false),
        (Some("refs/heads/main"), false),
        (Some("dev"), false),
        (None, false),
    ] {
        let names = BTreeSet::from(["CAL", "FREE", "NONE"]);
        let refused = safe.vault.refused(ORG, &names, reference).unwrap();
        let mut expected = BTreeMap::from([("NONE".to_owned(), Refusal::Unknown)]);
        if !is_fit {
            expected.insert("CAL".to_owned(), Refusal::Refused);
        }
        assert_eq!(refused, expected, "{reference:?}");
        assert_eq!(safe.open(ORG, "CAL", reference).is_ok(), is_fit);
        assert!(safe.open(ORG, "FREE", reference).is_ok());
    }
    // Another value does not open it to others; that must be said.
    let (shown, _) = safe.put(ORG, "CAL", "another value").await.unwrap();
    assert_eq!(shown.refs, refs);
    assert!(matches!(
        safe.open(ORG, "CAL", None),
        Err(Unavailable::Refused(_))
    ));
    let (shown, _) = safe.put_for(ORG, "CAL", VALUE, Some(&[])).await.unwrap();
    assert!(shown.refs.is_empty());
    assert!(safe.open(ORG, "CAL", None).is_ok());
}

#[tokio::test]
async fn a_record_cannot_be_moved_to_another_name_or_organisation() {
    let safe = Safe::new();
    safe.put(ORG, "CAL", VALUE).await.unwrap();
    let snapshot = safe.store.snapshot().unwrap();
    let own = store::org_secrets::by_name(&snapshot, ORG, "CAL")
        .unwrap()
        .unwrap();
    for (org, name) in [(OTHER, "CAL"), (ORG, "MINE")] {
        let mut moved = own.clone();
        (moved.org, moved.name) = (org.to_owned(), name.to_owned());
        safe.store
            .org_secret_put(moved, None, COUNT_MAX)
            .await
            .unwrap();
        assert!(matches!(
            safe.open(org, name, None),
            Err(Unavailable::Damaged(_))
        ));
        assert_eq!(safe.state(org, name).await, State::Damaged);
    }
    // Nor can any byte of it be changed.
    let sealed = own.sealed.clone();
    for at in 0..sealed.len() {
        let mut changed = own.clone();
        let letter = if sealed.as_bytes()[at] == b'A' {
            "B"
        } else {
            "A"
        };
        changed.sealed.replace_range(at..=at, letter);
        safe.store
            .org_secret_put(changed, None, COUNT_MAX)
            .await
            .unwrap();
        let opened = safe.open(ORG, "CAL", None);
        assert!(!opened.is_ok_and(|value| value != VALUE), "at {at}");
    }
}

#[tokio::test]
async fn the_same_value_is_sealed_differently_each_time() {
    let safe = Safe::new();
    let mut seen = BTreeSet::new();
    for _ in 0..20 {
        safe.put(ORG, "CAL", VALUE).await.unwrap();
        let snapshot = safe.store.snapshot().unwrap();
        let found = store::org_secrets::by_name(&snapshot, ORG, "CAL").unwrap();
        seen.insert(found.unwrap().sealed);
    }
    assert_eq!(seen.len(), 20);
}
