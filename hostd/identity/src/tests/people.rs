//! People: passwords, codes, signing out, being shut out.

use super::*;

const PASSWORD: &str = "correct horse battery";

async fn with_password(identity: &Identity, login: &str) -> User {
    let user = add_user(identity, "default", login, Role::Member).await;
    let set = identity.user_set_password(&user.id, PASSWORD).await;
    set.unwrap()
}

#[tokio::test]
async fn the_right_password_signs_in() {
    let (identity, hand) = server().await;
    let user = with_password(&identity, "ann").await;
    let session = identity
        .sign_in_password(HOME, "ann", PASSWORD.into(), Stay::Short)
        .await
        .unwrap();
    assert_eq!(session.expires_in_s, SESSION_TTL_S);
    assert_eq!(
        session.expires_at_ms,
        NOW_MS + 1000 * u64::from(SESSION_TTL_S)
    );
    let caller = bearer(&identity, &session.token).unwrap();
    assert_eq!(
        (caller.user(), caller.credential()),
        (user.id.as_str(), Credential::UserSession)
    );
    hand.advance_ms(1000 * u64::from(SESSION_TTL_S) + 2000);
    assert_eq!(
        bearer(&identity, &session.token).unwrap_err(),
        AuthError::Expired
    );
}

#[tokio::test]
async fn every_failure_looks_alike() {
    let (identity, _hand) = server().await;
    with_password(&identity, "ann").await;
    let out = with_password(&identity, "bob").await;
    identity.user_set_disabled(&out.id, true).await.unwrap();
    let long = "x".repeat(300);
    for (login, password) in [
        ("ann", "wrong horse battery"),
        ("ann", ""),
        ("nobody", PASSWORD),
        ("bob", PASSWORD),
        ("owner", ""),
        (long.as_str(), PASSWORD),
        ("ann", long.as_str()),
    ] {
        let failed = identity
            .sign_in_password(HOME, login, password.into(), Stay::Short)
            .await;
        assert!(matches!(failed, Err(SignInError::Rejected)), "{login}");
    }
}

/// Number of attempts admitted before the first refusal, and the wait that it reported.
async fn tried(identity: &Identity, origin: Origin, login: &str) -> (u32, u32) {
    for tried in 0.. {
        let wrong = identity.sign_in_password(origin, login, "wrong".into(), Stay::Short);
        match wrong.await {
            Err(SignInError::Rejected) => {}
            Err(SignInError::SlowDown { wait_s }) => return (tried, wait_s),
            other => panic!("{other:?}"),
        }
    }
    unreachable!("it is slowed down at some time")
}

fn at(address: &str) -> Origin {
    Origin::Address(Some(address.parse().unwrap()))
}

#[tokio::test]
async fn guessing_is_slowed_down_for_known_and_unknown_logins() {
    let (identity, hand) = server().await;
    with_password(&identity, "ann").await;
    let ann = tried(&identity, at("10.0.0.1"), "ann").await;
    assert_eq!(ann, tried(&identity, at("10.0.0.2"), "nobody").await);
    let sign_in = || identity.sign_in_password(at("10.0.0.1"), "ann", PASSWORD.into(), Stay::Short);
    let slowed = sign_in().await;
    assert!(matches!(slowed, Err(SignInError::SlowDown { wait_s: 60 })));
    // A code is as good as a password, and has as many attempts.
    tried(&identity, at("10.0.0.1"), "bob").await;
    let code = identity
        .sign_in_code(at("10.0.0.1"), "x", Stay::Short)
        .await;
    assert!(matches!(code, Err(SignInError::SlowDown { .. })));
    hand.advance_ms(60_000);
    assert!(sign_in().await.is_ok());
    // From now on it is known there, whatever others do.
    tried(&identity, at("10.0.0.1"), "nobody").await;
    assert!(sign_in().await.is_ok());
    let wrong = identity.sign_in_password(at("10.0.0.1"), "ann", "wrong".into(), Stay::Short);
    let hidden = wrong.await;
    assert!(matches!(hidden, Err(SignInError::SlowDown { .. })));
    assert!(sign_in().await.is_ok());
}

#[tokio::test]
async fn the_owner_gets_in_while_others_guess() {
    let (identity, _hand) = server().await;
    with_password(&identity, "ann").await;
    for n in 0..30 {
        let origin = at(&format!("10.0.1.{n}"));
        let wrong = identity.sign_in_password(origin, "ann", "wrong".into(), Stay::Short);
        assert!(wrong.await.is_err());
    }
    let sign_in =
        |address| identity.sign_in_password(at(address), "ann", PASSWORD.into(), Stay::Short);
    assert!(sign_in("10.0.2.1").await.is_ok());
    assert!(sign_in("10.0.2.1").await.is_ok());
}

#[tokio::test]
async fn a_session_guesses_its_own_password_slowly_and_apart() {
    let (identity, _hand) = server().await;
    with_password(&identity, "ann").await;
    let session = identity.sign_in_password(HOME, "ann", PASSWORD.into(), Stay::Short);
    let caller = bearer(&identity, &session.await.unwrap().token).unwrap();
    let mut answers = Vec::new();
    for _ in 0..25 {
        let old = Some("wrong".to_owned());
        let changed = identity
            .change_own_password(&caller, old, "another horse")
            .await;
        answers.push(matches!(
            changed,
            Err(PeopleError::SignIn(SignInError::SlowDown { .. }))
        ));
    }
    assert_eq!(answers.iter().filter(|slow| **slow).count(), 5);
    let elsewhere = identity.sign_in_password(HOME, "ann", PASSWORD.into(), Stay::Short);
    assert!(elsewhere.await.is_ok());
}

#[tokio::test]
async fn a_code_works_once_and_for_fifteen_minutes() {
    let (identity, hand) = server().await;
    let user = add_user(&identity, "default", "ann", Role::Member).await;
    let code = identity.issue_code(&user.id).await.unwrap();
    let session = identity
        .sign_in_code(HOME, code.expose(), Stay::Short)
        .await
        .unwrap();
    assert_eq!(session.user, user.id);
    for spent in [code.expose(), "", "x", &"x".repeat(65)] {
        let failed = identity.sign_in_code(HOME, spent, Stay::Short).await;
        assert!(matches!(failed, Err(SignInError::Rejected)));
    }
    let code = identity.issue_code(&user.id).await.unwrap();
    hand.advance_ms(1000 * u64::from(CODE_TTL_S));
    let late = identity
        .sign_in_code(HOME, code.expose(), Stay::Short)
        .await;
    assert!(matches!(late, Err(SignInError::Rejected)));
}

#[tokio::test]
async fn signing_out_ends_one_session_for_good() {
    let (identity, _hand) = server().await;
    with_password(&identity, "ann").await;
    let one = identity
        .sign_in_password(HOME, "ann", PASSWORD.into(), Stay::Short)
        .await
        .unwrap();
    let two = identity
        .sign_in_password(HOME, "ann", PASSWORD.into(), Stay::Short)
        .await
        .unwrap();
    let caller = bearer(&identity, &one.token).unwrap();
    identity.sign_out(&caller).await.unwrap();
    let again = Identity::open(identity.store.clone(), identity.clock.clone(), "bk");
    let again = again.await.unwrap();
    for server in [&identity, &again] {
        assert_eq!(bearer(server, &one.token).unwrap_err(), AuthError::Revoked);
        assert!(bearer(server, &two.token).is_ok());
    }
}

#[tokio::test]
async fn a_new_password_ends_all_sessions_but_not_keys() {
    let (identity, _hand) = server().await;
    let user = with_password(&identity, "ann").await;
    let session = identity
        .sign_in_password(HOME, "ann", PASSWORD.into(), Stay::Short)
        .await
        .unwrap();
    let caller = bearer(&identity, &session.token).unwrap();
    let cloud = identity.mint_token(&caller, None, 3600).unwrap();
    let made = key(&identity, &caller, &["bench:control"]).await;
    identity
        .user_set_password(&user.id, "another horse")
        .await
        .unwrap();
    assert_eq!(
        bearer(&identity, &session.token).unwrap_err(),
        AuthError::Revoked
    );
    assert_eq!(
        bearer(&identity, &cloud.token).unwrap_err(),
        AuthError::Revoked
    );
    assert!(with_key(&identity, made.secret.expose()).is_ok());
    assert!(
        identity
            .sign_in_password(HOME, "ann", "another horse".into(), Stay::Short)
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn a_disabled_user_is_out_at_once_with_keys_and_sessions() {
    let (identity, _hand) = server().await;
    let user = with_password(&identity, "ann").await;
    let session = identity
        .sign_in_password(HOME, "ann", PASSWORD.into(), Stay::Short)
        .await
        .unwrap();
    let caller = bearer(&identity, &session.token).unwrap();
    let made = key(&identity, &caller, &["bench:control"]).await;
    let from_key = with_key(&identity, made.secret.expose()).unwrap();
    let cloud = identity.mint_token(&from_key, None, 3600).unwrap();
    let code = identity.issue_code(&user.id).await.unwrap();
    identity.user_set_disabled(&user.id, true).await.unwrap();
    assert_eq!(
        bearer(&identity, &session.token).unwrap_err(),
        AuthError::Revoked
    );
    assert_eq!(
        bearer(&identity, &cloud.token).unwrap_err(),
        AuthError::Revoked
    );
    assert_eq!(
        with_key(&identity, made.secret.expose()).unwrap_err(),
        AuthError::Revoked
    );
    assert!(
        identity
            .sign_in_code(HOME, code.expose(), Stay::Short)
            .await
            .is_err()
    );
    identity.user_set_disabled(&user.id, false).await.unwrap();
    assert!(with_key(&identity, made.secret.expose()).is_ok());
    assert_eq!(
        bearer(&identity, &session.token).unwrap_err(),
        AuthError::Revoked
    );
}

#[tokio::test]
async fn logins_passwords_and_organisations_are_checked() {
    let (identity, _hand) = server().await;
    let long = "a".repeat(65);
    for login in ["", "with space", "a/b", "é", &long] {
        let added = identity.user_add("default", login, Role::Member).await;
        assert!(
            matches!(added, Err(UserChangeError::Invalid { field: "login", .. })),
            "{login}"
        );
    }
    let added = identity.user_add("nowhere", "ann", Role::Member).await;
    assert!(matches!(added, Err(UserChangeError::UnknownOrg(name)) if name == "nowhere"));
    let user = add_user(&identity, "default", "ann", Role::Member).await;
    let twice = identity.user_add("default", "ann", Role::Member).await;
    assert!(matches!(twice, Err(UserChangeError::User(_))));
    let long = "p".repeat(PASSWORD_CHARS.end() + 1);
    for password in ["", "too short", &long] {
        let set = identity.user_set_password(&user.id, password).await;
        assert!(matches!(
            set,
            Err(UserChangeError::Invalid {
                field: "password",
                ..
            })
        ));
    }
}
