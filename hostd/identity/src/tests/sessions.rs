//! Cloud session tokens: bounds, restriction, expiry, revocation, rotation.

use super::*;

#[tokio::test]
async fn a_token_carries_what_its_key_allows() {
    let (identity, _hand) = server().await;
    let owner = owner(&identity).await;
    let created = key(&identity, &owner, &["bench:control", "jobs:submit"]).await;
    let caller = with_key(&identity, created.secret.expose()).unwrap();
    let devices = Some(vec!["bench-1".to_owned(), "bench-2".to_owned()]);
    let minted = identity.mint_token(&caller, devices, 3600).unwrap();
    assert_eq!(minted.expires_in_s, 3600);
    assert_eq!(minted.expires_at_ms, NOW_MS + 3_600_000);
    let session = bearer(&identity, &minted.token).unwrap();
    assert_eq!(session.credential(), Credential::CloudSession);
    assert_eq!(session.kid(), Some(created.key.kid.as_str()));
    assert!(session.has_scope("bench:control"));
    assert!(!session.has_scope("jobs:submit") && !session.is_admin());
    assert!(session.may_use_id("bench-2") && !session.may_use_id("bench-3"));
    assert_eq!(session.devices().unwrap(), ["bench-1", "bench-2"]);
    // The scopes follow the key.
    let none = Some(scopes(&["emi:analyze"]));
    identity
        .key_update(&owner, &created.key.kid, None, none)
        .await
        .unwrap();
    assert!(
        !bearer(&identity, &minted.token)
            .unwrap()
            .has_scope("bench:control")
    );
}

#[tokio::test]
async fn a_token_of_a_signed_in_user_follows_its_role() {
    let (identity, _hand) = server().await;
    add_user(&identity, "default", "ann", Role::Member).await;
    let ann = signed_in(&identity, "ann").await;
    assert!(ann.has_scope("jobs:submit") && !ann.has_scope("bench:admin"));
    let minted = identity.mint_token(&ann, None, 60).unwrap();
    let session = bearer(&identity, &minted.token).unwrap();
    assert!(session.has_scope("bench:control") && !session.is_admin());
    assert!(session.may_use_id("anything"));
    let owner = owner(&identity).await;
    let minted = identity.mint_token(&owner, None, 60).unwrap();
    assert!(bearer(&identity, &minted.token).unwrap().is_admin());
}

#[tokio::test]
async fn bounds_are_named() {
    let (identity, _hand) = server().await;
    let owner = owner(&identity).await;
    for ttl_s in [0, 59, 86_401, u32::MAX] {
        let error = identity.mint_token(&owner, None, ttl_s).unwrap_err();
        assert_eq!(error.to_string(), "ttl_seconds: must be 60 to 86400");
    }
    for ttl_s in [60, 86_400] {
        assert!(identity.mint_token(&owner, None, ttl_s).is_ok());
    }
    for count in [0, 33] {
        let devices = Some(vec!["d".to_owned(); count]);
        let error = identity.mint_token(&owner, devices, 60).unwrap_err();
        assert!(matches!(
            error,
            TokenError::Invalid {
                field: "devices",
                ..
            }
        ));
    }
    let minted = identity.mint_token(&owner, None, 60).unwrap();
    let session = bearer(&identity, &minted.token).unwrap();
    assert!(
        identity.mint_token(&session, None, 60).is_err(),
        "no tokens from tokens"
    );
    let longest = Some(vec!["d".repeat(64); 32]);
    let minted = identity.mint_token(&owner, longest, 60).unwrap();
    assert!(
        bearer(&identity, &minted.token).is_ok(),
        "the longest token is accepted"
    );
}

#[tokio::test]
async fn tokens_expire() {
    let (identity, hand) = server().await;
    let owner = owner(&identity).await;
    let minted = identity.mint_token(&owner, None, 60).unwrap();
    hand.advance_ms(60_000);
    assert!(
        bearer(&identity, &minted.token).is_ok(),
        "within the leeway"
    );
    hand.advance_ms(2_000);
    assert_eq!(
        bearer(&identity, &minted.token).unwrap_err(),
        AuthError::Expired
    );
}

#[tokio::test]
async fn a_token_does_not_outlive_its_key() {
    let (identity, hand) = server().await;
    let owner = owner(&identity).await;
    let names = scopes(&["bench:control"]);
    let created = identity
        .key_create(&owner, "x", &names, Some(120))
        .await
        .unwrap();
    let caller = with_key(&identity, created.secret.expose()).unwrap();
    let minted = identity.mint_token(&caller, None, 3600).unwrap();
    assert_eq!(minted.expires_in_s, 120);
    hand.advance_ms(120_000);
    assert_eq!(
        bearer(&identity, &minted.token).unwrap_err(),
        AuthError::Expired
    );
}

#[tokio::test]
async fn revoking_the_key_ends_its_tokens() {
    let (identity, _hand) = server().await;
    let owner = owner(&identity).await;
    let created = key(&identity, &owner, &["bench:control"]).await;
    let caller = with_key(&identity, created.secret.expose()).unwrap();
    let minted = identity.mint_token(&caller, None, 3600).unwrap();
    let other = identity.mint_token(&owner, None, 3600).unwrap();
    assert!(bearer(&identity, &minted.token).is_ok());
    identity.key_revoke(&owner, &created.key.kid).await.unwrap();
    assert_eq!(
        bearer(&identity, &minted.token).unwrap_err(),
        AuthError::Revoked
    );
    assert!(bearer(&identity, &other.token).is_ok());
}

#[tokio::test]
async fn a_retired_signing_key_verifies_until_its_tokens_are_gone() {
    let (identity, hand) = server().await;
    let owner = owner(&identity).await;
    let old = identity.mint_token(&owner, None, 86_400).unwrap().token;
    identity.rotate_signing_key().await.unwrap();
    let new = identity.mint_token(&owner, None, 86_400).unwrap().token;
    let kid = |token: &Secret| jsonwebtoken::decode_header(token.expose()).unwrap().kid;
    assert_ne!(kid(&old), kid(&new));
    let again = Identity::open(identity.store.clone(), identity.clock.clone(), "bk");
    let again = again.await.unwrap();
    for server in [&identity, &again] {
        assert!(bearer(server, &old).is_ok() && bearer(server, &new).is_ok());
    }
    // As long as a browser may be remembered, and a little.
    hand.advance_ms(30 * 86_400_000 + 2_000 + 1);
    again.rotate_signing_key().await.unwrap();
    assert_eq!(
        bearer(&again, &old).unwrap_err(),
        AuthError::Invalid,
        "its key is forgotten"
    );
    assert_eq!(bearer(&again, &new).unwrap_err(), AuthError::Expired);
}

#[tokio::test]
async fn a_signing_key_is_replaced_when_it_has_signed_for_long() {
    const DAY_MS: u64 = 24 * 3_600_000;
    let (identity, hand) = server().await;
    let owner = owner(&identity).await;
    assert!(!identity.rotate_when_due().await.unwrap());
    hand.advance_ms(30 * DAY_MS - 1);
    assert!(!identity.rotate_when_due().await.unwrap());
    let old = identity.mint_token(&owner, None, 3600).unwrap().token;
    hand.advance_ms(1);
    assert!(identity.rotate_when_due().await.unwrap());
    assert!(!identity.rotate_when_due().await.unwrap());
    assert!(bearer(&identity, &old).is_ok());
    let again = Identity::open(identity.store.clone(), identity.clock.clone(), "bk");
    assert!(!again.await.unwrap().rotate_when_due().await.unwrap());
}

#[tokio::test]
async fn a_remembered_session_outlives_the_keys_that_are_replaced_meanwhile() {
    const DAY_MS: u64 = 24 * 3_600_000;
    let (identity, hand) = server().await;
    let identity = identity.remembering(90);
    let user = identity.user_by_login("owner").await.unwrap().unwrap();
    let code = identity.issue_code(&user.id).await.unwrap();
    let session = identity
        .sign_in_code(HOME, code.expose(), Stay::Remembered)
        .await
        .unwrap();
    for _ in 0..2 {
        hand.advance_ms(30 * DAY_MS);
        assert!(identity.rotate_when_due().await.unwrap());
        assert!(bearer(&identity, &session.token).is_ok());
    }
    // Its own end is what ends it, and then its key is forgotten.
    hand.advance_ms(30 * DAY_MS + 2_000);
    assert_eq!(
        bearer(&identity, &session.token).unwrap_err(),
        AuthError::Expired
    );
    hand.advance_ms(60 * DAY_MS);
    assert!(identity.rotate_when_due().await.unwrap());
    assert_eq!(
        bearer(&identity, &session.token).unwrap_err(),
        AuthError::Invalid
    );
}

#[tokio::test]
async fn a_session_cookie_and_a_query_token_do_as_well() {
    let (identity, _hand) = server().await;
    let user = identity.user_by_login("owner").await.unwrap().unwrap();
    let code = identity.issue_code(&user.id).await.unwrap();
    let session = identity
        .sign_in_code(HOME, code.expose(), Stay::Short)
        .await
        .unwrap();
    let cookie = format!("a=b; {COOKIE_NAME}={}", session.token.expose());
    let caller = identity.authenticate(None, Some(&cookie), None).unwrap();
    assert_eq!(caller.user(), session.user);
    let query = session.token.expose();
    assert!(identity.authenticate(None, None, Some(query)).is_ok());
}
