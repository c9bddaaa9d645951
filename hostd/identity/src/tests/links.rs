//! What a link opens, and with whose right it ends.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::*;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum What {
    Export { capture: String },
}

fn export() -> What {
    What::Export {
        capture: "01X".to_owned(),
    }
}

fn made(identity: &Identity, caller: &Verified, ttl_s: u32) -> MadeLink {
    identity.make_link(caller, export(), ttl_s).unwrap()
}

fn open(identity: &Identity, link: &MadeLink) -> Result<Verified, AuthError> {
    let (caller, what) = identity.open_link::<What>(link.token.expose())?;
    assert_eq!(what, export());
    Ok(caller)
}

#[tokio::test]
async fn a_link_opens_what_it_names_for_as_long_as_it_says() {
    let (identity, hand) = server().await;
    let owner = owner(&identity).await;
    for ttl_s in [59, 86_401] {
        let refused = identity.make_link(&owner, export(), ttl_s).unwrap_err();
        let field = "ttl_seconds";
        assert!(matches!(refused, TokenError::Invalid { field: of, .. } if of == field));
    }
    let link = made(&identity, &owner, 600);
    assert_eq!(link.expires_at_ms, NOW_MS + 600_000);
    assert!(!format!("{link:?}").contains(link.token.expose()));
    // Also after a restart, and when another key signs by now.
    let again = Identity::open(identity.store.clone(), identity.clock.clone(), "bk");
    let again = again.await.unwrap();
    again.rotate_signing_key().await.unwrap();
    let caller = open(&again, &link).unwrap();
    assert_eq!((caller.org(), caller.user()), (owner.org(), owner.user()));
    assert!(caller.has_scope("bench:control") && caller.devices().is_none());
    hand.advance_ms((600 + EXPIRY_LEEWAY_S) * 1000);
    assert_eq!(open(&again, &link).unwrap_err(), AuthError::Expired);
}

#[tokio::test]
async fn a_link_is_no_credential_and_no_credential_is_a_link() {
    let (identity, _hand) = server().await;
    let owner = owner(&identity).await;
    let link = made(&identity, &owner, 600);
    assert_eq!(
        bearer(&identity, &link.token).unwrap_err(),
        AuthError::Invalid
    );
    let session = identity.mint_token(&owner, None, 600).unwrap().token;
    let opened = identity.open_link::<What>(session.expose());
    assert_eq!(opened.unwrap_err(), AuthError::Invalid);
    let text = link.token.expose();
    for at in (0..text.len()).step_by(7) {
        let mut bytes = text.as_bytes().to_vec();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(bytes).unwrap();
        let opened = identity.open_link::<What>(&changed);
        assert_eq!(opened.unwrap_err(), AuthError::Invalid, "at {at}");
    }
    for text in ["", "x", "a.b.c", &"A".repeat(10_000)] {
        let opened = identity.open_link::<What>(text);
        assert_eq!(opened.unwrap_err(), AuthError::Invalid);
    }
    // Another kind of link, and one of another server.
    let other = identity
        .make_link(&owner, json!({"later": 1}), 600)
        .unwrap();
    let opened = identity.open_link::<What>(other.token.expose());
    assert_eq!(opened.unwrap_err(), AuthError::Invalid);
    let (elsewhere, _hand) = server().await;
    assert_eq!(open(&elsewhere, &link).unwrap_err(), AuthError::Invalid);
}

#[tokio::test]
async fn a_link_ends_with_the_right_of_who_made_it() {
    let (identity, hand) = server().await;
    let owner = owner(&identity).await;
    let wanted = scopes(&["bench:control"]);
    let created = identity.key_create(&owner, "ci", &wanted, Some(120)).await;
    let created = created.unwrap();
    let caller = with_key(&identity, created.secret.expose()).unwrap();
    let by_key = made(&identity, &caller, 3600);
    assert_eq!(by_key.expires_at_ms, NOW_MS + 120_000);
    // Whatever is made of a token ends with it.
    let devices = Some(vec!["d1".to_owned()]);
    let token = identity.mint_token(&caller, devices, 60).unwrap();
    let narrow = bearer(&identity, &token.token).unwrap();
    let by_token = made(&identity, &narrow, 3600);
    assert_eq!(by_token.expires_at_ms, NOW_MS + 60_000);
    let opened = open(&identity, &by_token).unwrap();
    assert_eq!(opened.devices(), narrow.devices());
    identity.sign_out(&narrow).await.unwrap();
    assert_eq!(open(&identity, &by_token).unwrap_err(), AuthError::Revoked);
    assert!(open(&identity, &by_key).is_ok());
    identity.revoke(&created.key.kid).await.unwrap();
    assert_eq!(open(&identity, &by_key).unwrap_err(), AuthError::Revoked);

    let ann = add_user(&identity, "default", "ann", Role::Member).await;
    let person = signed_in(&identity, "ann").await;
    let by_person = made(&identity, &person, 3600);
    assert!(!open(&identity, &by_person).unwrap().is_admin());
    identity.user_set_disabled(&ann.id, true).await.unwrap();
    assert_eq!(open(&identity, &by_person).unwrap_err(), AuthError::Revoked);
    identity.user_set_disabled(&ann.id, false).await.unwrap();
    let person = signed_in(&identity, "ann").await;
    let by_person = made(&identity, &person, 3600);
    identity.sign_out(&person).await.unwrap();
    assert_eq!(open(&identity, &by_person).unwrap_err(), AuthError::Revoked);
    hand.advance_ms(1);
    // What acts for itself has nothing that a link could end with.
    let plugin = Verified::of_plugin(owner.org(), "p", vec![Scope::BenchControl], None);
    assert!(identity.make_link(&plugin, export(), 60).is_err());
}

#[tokio::test]
async fn a_link_of_a_job_ends_with_the_job() {
    let (identity, _hand) = server().await;
    let owner = owner(&identity).await;
    let grant = job_keys::grant(&identity, owner.user());
    let key = identity.job_key_open(grant.clone(), job_keys::untold());
    let key = key.unwrap();
    let caller = with_key(&identity, key.secret().expose()).unwrap();
    let link = made(&identity, &caller, 3600);
    let opened = open(&identity, &link).unwrap();
    assert_eq!(opened.job(), Some(&grant));
    assert_eq!(opened.devices(), caller.devices());
    drop(key);
    assert_eq!(open(&identity, &link).unwrap_err(), AuthError::Revoked);
}
