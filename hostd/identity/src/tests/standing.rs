//! What ends a credential for streams that it opened, and what does not.

use std::time::Duration;

use super::*;

const SCOPE: Option<&str> = Some("bench:control");

/// What is over by now; the clock of sleeps runs on as if much time passed, the wall clock does not.
async fn over(identity: &Identity, verified: &Verified) -> Option<AuthError> {
    let over = identity.over(verified, SCOPE);
    tokio::time::timeout(Duration::from_secs(3600), over)
        .await
        .ok()
}

#[tokio::test(start_paused = true)]
async fn a_key_stands_until_it_expires() {
    let (identity, hand) = server().await;
    let owner = owner(&identity).await;
    let wanted = scopes(&["bench:control"]);
    let created = identity.key_create(&owner, "ci", &wanted, Some(60)).await;
    let created = created.unwrap();
    let caller = with_key(&identity, created.secret.expose()).unwrap();
    let minted = identity.mint_token(&caller, None, 3600).unwrap();
    let session = bearer(&identity, &minted.token).unwrap();
    hand.advance_ms(30_000);
    assert_eq!(over(&identity, &caller).await, None);
    assert_eq!(over(&identity, &session).await, None);
    let waiting = identity.over(&session, SCOPE);
    let moved = async { hand.advance_ms(30_000) };
    let (error, ()) = tokio::join!(waiting, moved);
    assert_eq!(error, AuthError::Expired);
    assert_eq!(over(&identity, &caller).await, Some(AuthError::Expired));
}

#[tokio::test(start_paused = true)]
async fn a_session_token_stands_until_it_expires() {
    let (identity, hand) = server().await;
    let owner = owner(&identity).await;
    let minted = identity.mint_token(&owner, None, 60).unwrap();
    let session = bearer(&identity, &minted.token).unwrap();
    assert_eq!(over(&identity, &session).await, None);
    let waiting = identity.over(&session, SCOPE);
    let moved = async { hand.advance_ms((60 + EXPIRY_LEEWAY_S) * 1000) };
    let (error, ()) = tokio::join!(waiting, moved);
    assert_eq!(error, AuthError::Expired);
}

#[tokio::test(start_paused = true)]
async fn who_may_less_than_before_has_to_come_again() {
    let (identity, _hand) = server().await;
    let owner = owner(&identity).await;
    let ann = add_user(&identity, "default", "ann", Role::Admin).await;
    let caller = signed_in(&identity, "ann").await;
    let minted = identity.mint_token(&caller, None, 60).unwrap();
    let session = bearer(&identity, &minted.token).unwrap();
    let created = key(&identity, &owner, &["bench:control", "bench:admin"]).await;
    let key_caller = with_key(&identity, created.secret.expose()).unwrap();

    let waiting = identity.over(&session, SCOPE);
    let lower = identity.person_update(&owner, &ann.id, Some(Role::Member), None);
    let (error, updated) = tokio::join!(waiting, lower);
    updated.unwrap();
    assert_eq!(error, AuthError::Revoked);
    assert_eq!(over(&identity, &caller).await, Some(AuthError::Revoked));
    // Another user's role does not affect this one, and more scopes do no harm.
    assert_eq!(over(&identity, &key_caller).await, None);
    let kid = &created.key.kid;
    let more = Some(scopes(&["bench:control", "bench:admin", "jobs:submit"]));
    let update = identity.key_update(&owner, kid, None, more).await;
    update.unwrap();
    assert_eq!(over(&identity, &key_caller).await, None);
    let less = Some(scopes(&["bench:control"]));
    let update = identity.key_update(&owner, kid, None, less).await;
    update.unwrap();
    assert_eq!(over(&identity, &key_caller).await, Some(AuthError::Revoked));
}
