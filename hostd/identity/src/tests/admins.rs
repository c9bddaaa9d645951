//! What admins may do to people, and what keys may not do to keys.

use super::*;

#[tokio::test]
async fn nobody_reaches_above_himself_or_into_another_organisation() {
    let (identity, _hand) = server().await;
    add_user(&identity, "default", "mia", Role::Member).await;
    add_user(&identity, "default", "adam", Role::Admin).await;
    add_org(&identity, "acme").await;
    let eve = add_user(&identity, "acme", "eve", Role::Owner).await;
    let owner = owner(&identity).await;
    let (mia, adam) = (
        signed_in(&identity, "mia").await,
        signed_in(&identity, "adam").await,
    );
    let forbidden = |r: Result<_, PeopleError>| matches!(r, Err(PeopleError::Forbidden(_)));
    assert!(matches!(
        identity.people(&mia).await,
        Err(PeopleError::Forbidden(_))
    ));
    assert_eq!(identity.people(&adam).await.unwrap().len(), 3);
    assert!(forbidden(
        identity
            .person_update(&adam, owner.user(), None, Some(true))
            .await
    ));
    assert!(forbidden(
        identity
            .person_update(&adam, adam.user(), Some(Role::Owner), None)
            .await
    ));
    assert!(forbidden(
        identity
            .person_update(&mia, mia.user(), Some(Role::Admin), None)
            .await
    ));
    assert!(matches!(
        identity.person_code(&adam, owner.user()).await,
        Err(PeopleError::Forbidden(_))
    ));
    assert!(matches!(
        identity.person_code(&owner, &eve.id).await,
        Err(PeopleError::NotFound)
    ));
    // A key with every scope sees users and makes none.
    let created = key(&identity, &owner, &["bench:admin", "bench:control"]).await;
    let by_key = with_key(&identity, created.secret.expose()).unwrap();
    assert_eq!(identity.people(&by_key).await.unwrap().len(), 3);
    assert!(matches!(
        identity.person_code(&by_key, mia.user()).await,
        Err(PeopleError::Forbidden(_))
    ));
    let minted = identity.mint_token(&owner, None, 60).unwrap();
    let cloud = bearer(&identity, &minted.token).unwrap();
    assert!(matches!(
        identity.people(&cloud).await,
        Err(PeopleError::Forbidden(_))
    ));
}

#[tokio::test]
async fn the_last_owner_stays_and_a_removed_user_takes_its_credentials_along() {
    let (identity, _hand) = server().await;
    let owner = owner(&identity).await;
    let last = |r: Result<_, PeopleError>| matches!(r, Err(PeopleError::LastOwner));
    let id = owner.user().to_owned();
    assert!(last(
        identity
            .person_update(&owner, &id, Some(Role::Admin), None)
            .await
    ));
    assert!(last(
        identity.person_update(&owner, &id, None, Some(true)).await
    ));
    assert!(matches!(
        identity.person_remove(&owner, &id).await,
        Err(PeopleError::LastOwner)
    ));
    let (bob, code) = identity
        .person_add(&owner, "bob", Role::Owner)
        .await
        .unwrap();
    assert!(matches!(
        identity.person_add(&owner, "bob", Role::Member).await,
        Err(PeopleError::LoginTaken)
    ));
    let session = identity
        .sign_in_code(HOME, code.code.expose(), Stay::Renewed)
        .await
        .unwrap();
    let bob_caller = bearer(&identity, &session.token).unwrap();
    let created = key(&identity, &bob_caller, &["bench:control"]).await;
    let open_code = identity.person_code(&owner, &bob.id).await.unwrap();
    identity.person_remove(&owner, &bob.id).await.unwrap();
    assert_eq!(
        bearer(&identity, &session.token).unwrap_err(),
        AuthError::Revoked
    );
    assert_eq!(
        with_key(&identity, created.secret.expose()).unwrap_err(),
        AuthError::Revoked
    );
    let refresh = session.renewal.unwrap().token;
    assert!(identity.renew(refresh.expose()).await.is_err());
    assert!(
        identity
            .sign_in_code(HOME, open_code.code.expose(), Stay::Short)
            .await
            .is_err()
    );
    assert_eq!(identity.people(&owner).await.unwrap().len(), 1);
    // The login is free again, for somebody else.
    let (new, _) = identity
        .person_add(&owner, "bob", Role::Member)
        .await
        .unwrap();
    assert_ne!(new.id, bob.id);
}

#[tokio::test]
async fn ones_own_password_needs_the_old_one() {
    let (identity, _hand) = server().await;
    let caller = owner(&identity).await;
    let first = identity
        .change_own_password(&caller, None, "correct horse battery")
        .await
        .unwrap();
    let caller = bearer(&identity, &first.token).unwrap();
    let wrong = identity
        .change_own_password(&caller, Some("wrong".into()), "another horse battery")
        .await;
    assert!(matches!(
        wrong,
        Err(PeopleError::SignIn(SignInError::Rejected))
    ));
    let none = identity
        .change_own_password(&caller, None, "another horse battery")
        .await;
    assert!(matches!(
        none,
        Err(PeopleError::Invalid { field: "old", .. })
    ));
    let old = Some("correct horse battery".to_owned());
    let second = identity
        .change_own_password(&caller, old, "another horse battery")
        .await
        .unwrap();
    assert!(bearer(&identity, &first.token).is_err());
    bearer(&identity, &second.token).unwrap();
}

#[tokio::test]
async fn a_key_gives_no_key_more_than_it_has() {
    let (identity, hand) = server().await;
    let owner = owner(&identity).await;
    let made = identity
        .key_create(&owner, "root", &scopes(&["bench:admin"]), Some(600))
        .await
        .unwrap();
    let caller = with_key(&identity, made.secret.expose()).unwrap();
    let wide = scopes(&["bench:admin", "jobs:submit"]);
    let wider = identity.key_create(&caller, "x", &wide, None).await;
    assert!(matches!(wider, Err(KeyError::Forbidden(_))));
    let own = identity
        .key_update(&caller, &made.key.kid, None, Some(wide.clone()))
        .await;
    assert!(matches!(own, Err(KeyError::Forbidden(_))));
    hand.advance_ms(300_000);
    let child = identity
        .key_create(&caller, "x", &scopes(&["bench:admin"]), None)
        .await
        .unwrap();
    assert_eq!(child.key.expires_at_ms, made.key.expires_at_ms);
    // People give what they like.
    identity
        .key_update(&owner, &made.key.kid, None, Some(wide))
        .await
        .unwrap();
}
