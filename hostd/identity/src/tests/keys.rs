//! The life of an API key.

use super::*;

#[tokio::test]
async fn a_key_works_from_creation_to_revocation() {
    let (identity, _hand) = server().await;
    let owner = owner(&identity).await;
    let created = key(&identity, &owner, &["bench:control", "jobs:submit"]).await;
    let text = created.secret.expose();
    let kid = created.key.kid.clone();
    assert_eq!(
        text.split('_').map(str::len).collect::<Vec<_>>(),
        [2, 12, 30]
    );
    assert!(text.starts_with(&format!("bk_{kid}_")));
    let caller = with_key(&identity, text).unwrap();
    assert!(caller.has_scope("bench:control") && caller.has_scope("benchpod:control"));
    assert!(!caller.has_scope("emi:analyze") && !caller.has_scope("bench:admin"));
    assert!(!caller.has_scope("no:such"));

    let fewer = Some(scopes(&["emi:analyze"]));
    let name = Some(" new name ".to_owned());
    let changed = identity
        .key_update(&owner, &kid, name, fewer)
        .await
        .unwrap();
    assert_eq!(
        (changed.name.as_str(), changed.scopes.len()),
        ("new name", 1)
    );
    assert!(
        !with_key(&identity, text)
            .unwrap()
            .has_scope("bench:control")
    );

    identity.key_revoke(&owner, &kid).await.unwrap();
    assert_eq!(with_key(&identity, text).unwrap_err(), AuthError::Revoked);
    assert!(identity.keys_list(&owner).await.unwrap().is_empty());
    let again = identity.key_revoke(&owner, &kid).await;
    assert!(matches!(again, Err(KeyError::NotFound)));
    let update = identity.key_update(&owner, &kid, None, None).await;
    assert!(matches!(update, Err(KeyError::NotFound)));
}

#[tokio::test]
async fn keys_and_revocations_survive_a_restart() {
    let (identity, _hand) = server().await;
    let owner = owner(&identity).await;
    let good = key(&identity, &owner, &["bench:control"]).await.secret;
    let bad = key(&identity, &owner, &["bench:control"]).await;
    identity.key_revoke(&owner, &bad.key.kid).await.unwrap();
    let again = Identity::open(identity.store.clone(), identity.clock.clone(), "new");
    let again = again.await.unwrap();
    assert!(
        with_key(&again, good.expose()).is_ok(),
        "also under another prefix"
    );
    assert_eq!(
        with_key(&again, bad.secret.expose()).unwrap_err(),
        AuthError::Revoked
    );
}

#[tokio::test]
async fn a_key_expires_when_it_should() {
    let (identity, hand) = server().await;
    let owner = owner(&identity).await;
    let names = scopes(&["bench:control"]);
    let created = identity.key_create(&owner, "short", &names, Some(60)).await;
    let secret = created.unwrap().secret;
    hand.advance_ms(59_999);
    assert!(with_key(&identity, secret.expose()).is_ok());
    hand.advance_ms(1);
    assert_eq!(
        with_key(&identity, secret.expose()).unwrap_err(),
        AuthError::Expired
    );
    for ttl_s in [0, 59, u64::MAX] {
        let refused = identity.key_create(&owner, "x", &names, Some(ttl_s)).await;
        assert!(matches!(
            refused,
            Err(KeyError::Invalid {
                field: "ttl_seconds",
                ..
            })
        ));
    }
}

#[tokio::test]
async fn the_last_use_is_written_at_most_once_a_minute() {
    let (identity, hand) = server().await;
    let owner = owner(&identity).await;
    let created = key(&identity, &owner, &["bench:control"]).await;
    let kid = created.key.kid.clone();
    let stored = async || {
        // An awaited write comes after those that are not awaited.
        identity.issue_code("nobody").await.unwrap();
        let kid = kid.clone();
        let found = identity.store.read(move |s| store::keys::by_kid(s, &kid));
        found.await.unwrap().unwrap().last_used_at_ms
    };
    let shown = async || identity.keys_list(&owner).await.unwrap()[0].last_used_at_ms;
    assert_eq!((stored().await, shown().await), (None, None));
    with_key(&identity, created.secret.expose()).unwrap();
    assert_eq!(stored().await, Some(NOW_MS));
    hand.advance_ms(30_000);
    with_key(&identity, created.secret.expose()).unwrap();
    assert_eq!(stored().await, Some(NOW_MS));
    assert_eq!(shown().await, Some(NOW_MS + 30_000));
    let rename = Some("renamed".to_owned());
    identity
        .key_update(&owner, &kid, rename, None)
        .await
        .unwrap();
    assert_eq!(shown().await, Some(NOW_MS + 30_000));
    hand.advance_ms(30_000);
    with_key(&identity, created.secret.expose()).unwrap();
    assert_eq!(stored().await, Some(NOW_MS + 60_000));
}

#[tokio::test]
async fn members_see_their_own_keys_and_admins_all() {
    let (identity, _hand) = server().await;
    add_user(&identity, "default", "ann", Role::Member).await;
    add_user(&identity, "default", "bob", Role::Admin).await;
    let (ann, bob) = (
        signed_in(&identity, "ann").await,
        signed_in(&identity, "bob").await,
    );
    let anns = key(&identity, &ann, &["bench:control"]).await;
    let bobs = key(&identity, &bob, &["bench:control"]).await;
    let list = async |caller| {
        let keys = identity.keys_list(caller).await.unwrap();
        keys.into_iter().map(|k| k.kid).collect::<Vec<_>>()
    };
    assert_eq!(list(&ann).await.concat(), anns.key.kid);
    assert_eq!(list(&bob).await.len(), 2);
    let others = identity.key_revoke(&ann, &bobs.key.kid).await;
    assert!(matches!(others, Err(KeyError::NotFound)));
    let admin = identity
        .key_create(&ann, "x", &scopes(&["bench:admin"]), None)
        .await;
    assert!(matches!(admin, Err(KeyError::Forbidden(_))));
    let raise = Some(scopes(&["bench:control", "bench:admin"]));
    let raised = identity.key_update(&ann, &anns.key.kid, None, raise).await;
    assert!(matches!(raised, Err(KeyError::Forbidden(_))));
    identity.key_revoke(&bob, &anns.key.kid).await.unwrap();
}

#[tokio::test]
async fn another_organisation_does_not_exist() {
    let (identity, _hand) = server().await;
    add_org(&identity, "other").await;
    add_user(&identity, "other", "eve", Role::Owner).await;
    let owner = owner(&identity).await;
    let eve = signed_in(&identity, "eve").await;
    let mine = key(&identity, &owner, &["bench:control"]).await.key.kid;
    assert!(identity.keys_list(&eve).await.unwrap().is_empty());
    assert!(matches!(
        identity.key_revoke(&eve, &mine).await,
        Err(KeyError::NotFound)
    ));
    let update = identity
        .key_update(&eve, &mine, Some("mine".into()), None)
        .await;
    assert!(matches!(update, Err(KeyError::NotFound)));
    assert_eq!(identity.keys_list(&owner).await.unwrap()[0].name, "test");
}

#[tokio::test]
async fn only_admin_keys_manage_keys() {
    let (identity, _hand) = server().await;
    let owner = owner(&identity).await;
    let plain = key(&identity, &owner, &["bench:control"]).await.secret;
    let admin = key(&identity, &owner, &["bench:admin"]).await.secret;
    let plain = with_key(&identity, plain.expose()).unwrap();
    let admin = with_key(&identity, admin.expose()).unwrap();
    assert!(matches!(
        identity.keys_list(&plain).await,
        Err(KeyError::Forbidden(_))
    ));
    let names = scopes(&["bench:control"]);
    let create = identity.key_create(&plain, "x", &names, None);
    assert!(matches!(create.await, Err(KeyError::Forbidden(_))));
    assert_eq!(identity.keys_list(&admin).await.unwrap().len(), 2);
    let session = identity.mint_token(&admin, None, 3600).unwrap();
    let session = bearer(&identity, &session.token).unwrap();
    assert!(matches!(
        identity.keys_list(&session).await,
        Err(KeyError::Forbidden(_))
    ));
}

#[tokio::test]
async fn names_and_scopes_are_checked() {
    let (identity, _hand) = server().await;
    let owner = owner(&identity).await;
    let long = "n".repeat(101);
    for name in ["", "  ", "tab\there", &long] {
        let made = identity
            .key_create(&owner, name, &scopes(&["bench:control"]), None)
            .await;
        assert!(
            matches!(made, Err(KeyError::Invalid { field: "name", .. })),
            "{name}"
        );
    }
    for names in [&[][..], &["bench"], &["bench:control", "*"]] {
        let made = identity.key_create(&owner, "x", &scopes(names), None).await;
        assert!(
            matches!(
                made,
                Err(KeyError::Invalid {
                    field: "scopes",
                    ..
                })
            ),
            "{names:?}"
        );
    }
    let twice = ["bench:control", "benchpod:control", "bench:control"];
    let made = identity
        .key_create(&owner, "é", &scopes(&twice), None)
        .await;
    assert_eq!(made.unwrap().key.scopes, ["bench:control"]);
}

#[tokio::test]
async fn the_number_of_keys_is_bounded() {
    let (identity, _hand) = server().await;
    let owner = owner(&identity).await;
    let mut last = None;
    for _ in 0..100 {
        last = Some(key(&identity, &owner, &["bench:control"]).await.key.kid);
    }
    let names = scopes(&["bench:control"]);
    let more = identity.key_create(&owner, "more", &names, None).await;
    assert!(more.unwrap_err().to_string().contains("100 keys"));
    identity.key_revoke(&owner, &last.unwrap()).await.unwrap();
    assert!(
        identity
            .key_create(&owner, "more", &names, None)
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn a_revocation_is_seen_even_if_its_caller_went_away() {
    let (identity, _hand) = server().await;
    let owner = owner(&identity).await;
    let created = key(&identity, &owner, &["bench:control"]).await;
    {
        let revoke = std::pin::pin!(identity.key_revoke(&owner, &created.key.kid));
        // Polled once, so that the work has begun, then dropped as a closed connection would.
        assert!(is_pending(revoke).await);
    }
    while with_key(&identity, created.secret.expose()).is_ok() {
        tokio::task::yield_now().await;
    }
    assert_eq!(
        with_key(&identity, created.secret.expose()).unwrap_err(),
        AuthError::Revoked
    );
}

async fn is_pending(mut future: std::pin::Pin<&mut impl Future>) -> bool {
    std::future::poll_fn(|cx| std::task::Poll::Ready(future.as_mut().poll(cx).is_pending())).await
}
