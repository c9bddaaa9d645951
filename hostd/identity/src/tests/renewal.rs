//! Sign-ins that renew themselves, and everything that signing out ends.

use super::*;
use store::refreshes;
use store::testing::Disk;

/// Sign in `login` so that the session can be renewed.
async fn kept(identity: &Identity, login: &str) -> SignedIn {
    let user = identity.user_by_login(login).await.unwrap().unwrap();
    let code = identity.issue_code(&user.id).await.unwrap();
    identity
        .sign_in_code(HOME, code.expose(), Stay::Renewed)
        .await
        .unwrap()
}

fn refresh_token(session: &SignedIn) -> String {
    session.renewal.as_ref().unwrap().token.expose().to_owned()
}

#[tokio::test]
async fn each_refresh_token_is_good_once() {
    let (identity, hand) = server().await;
    let first = kept(&identity, "owner").await;
    assert_eq!(first.expires_in_s, 3600);
    hand.advance_ms(3_700_000);
    assert_eq!(
        bearer(&identity, &first.token).unwrap_err(),
        AuthError::Expired
    );
    let second = identity.renew(&refresh_token(&first)).await.unwrap();
    bearer(&identity, &second.token).unwrap();
    let (a, b) = (first.renewal.as_ref(), second.renewal.as_ref());
    assert_eq!(a.unwrap().id, b.unwrap().id);
    assert_eq!(a.unwrap().expires_at_ms, b.unwrap().expires_at_ms);
    let third = identity.renew(&refresh_token(&second)).await.unwrap();
    bearer(&identity, &third.token).unwrap();
}

#[tokio::test]
async fn a_refresh_token_used_twice_ends_its_sign_in_with_all_it_made() {
    let (identity, _hand) = server().await;
    let first = kept(&identity, "owner").await;
    let bystander = kept(&identity, "owner").await;
    let second = identity.renew(&refresh_token(&first)).await.unwrap();
    let caller = bearer(&identity, &second.token).unwrap();
    let cloud = identity.mint_token(&caller, None, 3600).unwrap();
    let stolen = identity.renew(&refresh_token(&first)).await;
    assert!(matches!(stolen, Err(SignInError::Rejected)));
    for token in [&first.token, &second.token, &cloud.token] {
        assert_eq!(bearer(&identity, token).unwrap_err(), AuthError::Revoked);
    }
    let after = identity.renew(&refresh_token(&second)).await;
    assert!(matches!(after, Err(SignInError::Rejected)));
    bearer(&identity, &bystander.token).unwrap();
    identity.renew(&refresh_token(&bystander)).await.unwrap();
}

#[tokio::test]
async fn a_guess_at_a_known_sign_in_ends_nothing() {
    let (identity, _hand) = server().await;
    let session = kept(&identity, "owner").await;
    let good = refresh_token(&session);
    let id = &session.renewal.as_ref().unwrap().id;
    for guess in [
        format!("rt_{id}_{}", "0".repeat(44)),
        format!("rt_{id}_"),
        format!("rt_{id}"),
        format!("bk_{id}_{}", "0".repeat(44)),
        "rt__".to_owned(),
        String::new(),
        "é".repeat(3000),
    ] {
        let refused = identity.renew(&guess).await;
        assert!(matches!(refused, Err(SignInError::Rejected)), "{guess}");
    }
    identity.renew(&good).await.unwrap();
}

#[tokio::test]
async fn signing_out_ends_the_tokens_made_of_the_sign_in_also_after_a_restart() {
    let (identity, hand) = server().await;
    for stay in [Stay::Short, Stay::Renewed] {
        let user = identity.user_by_login("owner").await.unwrap().unwrap();
        let code = identity.issue_code(&user.id).await.unwrap();
        let signed_in = identity
            .sign_in_code(HOME, code.expose(), stay)
            .await
            .unwrap();
        let caller = bearer(&identity, &signed_in.token).unwrap();
        let cloud = identity.mint_token(&caller, None, 86_400).unwrap();
        let other = identity.mint_token(&caller, None, 86_400).unwrap();
        // A session token ends alone.
        let of_other = bearer(&identity, &other.token).unwrap();
        identity.sign_out(&of_other).await.unwrap();
        assert!(bearer(&identity, &other.token).is_err());
        bearer(&identity, &cloud.token).unwrap();
        identity.sign_out(&caller).await.unwrap();
        hand.advance_ms(12 * 3_600_000);
        let again = Identity::open(identity.store.clone(), identity.clock.clone(), "bk");
        let again = again.await.unwrap();
        for identity in [&identity, &again] {
            assert_eq!(
                bearer(identity, &cloud.token).unwrap_err(),
                AuthError::Revoked
            );
        }
        if stay == Stay::Renewed {
            assert!(identity.renew(&refresh_token(&signed_in)).await.is_err());
        }
    }
}

#[tokio::test]
async fn a_new_password_and_a_shut_out_user_end_renewals() {
    let (identity, _hand) = server().await;
    let ann = add_user(&identity, "default", "ann", Role::Member).await;
    let session = kept(&identity, "ann").await;
    identity
        .user_set_password(&ann.id, "correct horse battery")
        .await
        .unwrap();
    assert!(identity.renew(&refresh_token(&session)).await.is_err());
    let session = kept(&identity, "ann").await;
    identity.user_set_disabled(&ann.id, true).await.unwrap();
    assert!(identity.renew(&refresh_token(&session)).await.is_err());
}

#[tokio::test]
async fn sign_ins_of_one_user_are_bounded_and_end_in_time() {
    let (identity, hand) = server().await;
    let mut sessions = Vec::new();
    for _ in 0..25 {
        sessions.push(kept(&identity, "owner").await);
        hand.advance_ms(1);
    }
    let stored = identity.store.read(refreshes::count).await.unwrap();
    assert_eq!(stored, 20);
    assert!(identity.renew(&refresh_token(&sessions[0])).await.is_err());
    identity.renew(&refresh_token(&sessions[24])).await.unwrap();
    hand.advance_ms(31 * 24 * 3_600_000);
    assert!(identity.renew(&refresh_token(&sessions[20])).await.is_err());
    kept(&identity, "owner").await;
    assert_eq!(identity.store.read(refreshes::count).await.unwrap(), 1);
}

/// Made-up credentials cost no write: even on a disk that accepts none they get the usual answer.
#[tokio::test]
async fn made_up_codes_and_tokens_write_nothing() {
    let disk = Disk::default();
    let (clock, _hand) = Clock::manual(NOW_MS);
    let identity = Identity::open(disk.open().unwrap(), clock, "bk")
        .await
        .unwrap();
    let session = kept(&identity, "owner").await;
    let owner = identity.user_by_login("owner").await.unwrap().unwrap();
    let code = identity.issue_code(&owner.id).await.unwrap();
    disk.fail_after(Some(0));
    let token = refresh_token(&session);
    let (start, _) = token.rsplit_once('_').unwrap();
    let secrets = "A".repeat(44);
    for made_up in [
        format!("rt_01ARZ3NDEKTSV4RRFFQ69G5FAV_{secrets}"),
        format!("{start}_{secrets}"),
    ] {
        let renewed = identity.renew(&made_up).await;
        assert!(matches!(renewed, Err(SignInError::Rejected)), "{made_up}");
    }
    let made_up = identity
        .sign_in_code(HOME, &"A".repeat(24), Stay::Short)
        .await;
    assert!(matches!(made_up, Err(SignInError::Rejected)));
    // Real ones do write.
    let spent = identity
        .sign_in_code(HOME, code.expose(), Stay::Short)
        .await;
    assert!(matches!(spent, Err(SignInError::Store(_))), "{spent:?}");
}
