//! What a job's key opens, and what it ends with.

use std::sync::Mutex;
use std::time::Duration;

use super::*;

const DEVICE: &str = "01JGZ5V9T3N8W2K4Q7R6D1M0XB";

/// For a job of this user.
pub(super) fn grant(identity: &Identity, user: &str) -> JobGrant {
    JobGrant {
        org: identity.default_org(),
        user: user.to_owned(),
        job: "01JGZ5V9T3N8W2K4Q7R6D1M0JB".to_owned(),
        run: "smoke".to_owned(),
        attempt: 1,
        device: DEVICE.to_owned(),
        lease_id: "job-lease".to_owned(),
        lease_owner: "job/1".to_owned(),
    }
}

/// For tests that do not look at what is told of tokens.
pub(super) fn untold() -> Tell {
    Box::new(|_| true)
}

/// What a job may do, whichever of its credentials it shows.
fn assert_narrow(caller: &Verified, grant: &JobGrant) {
    assert_eq!(caller.job(), Some(grant));
    assert_eq!((caller.org(), caller.user()), (&*grant.org, &*grant.user));
    assert_eq!(caller.role(), Role::Member);
    assert_eq!(caller.scopes(), [Scope::BenchControl]);
    assert_eq!(caller.devices(), Some(&[DEVICE.to_owned()][..]));
    assert!(caller.may_use_id(DEVICE) && !caller.may_use_id("another"));
    assert!(caller.has_scope("benchpod:control") && !caller.is_admin());
    for scope in ["jobs:submit", "emi:analyze", "bench:admin"] {
        assert!(!caller.has_scope(scope), "{scope}");
    }
}

#[tokio::test]
async fn a_job_may_use_its_device_and_do_nothing_else_whatever_its_user_may() {
    let (identity, _hand) = server().await;
    let owner = owner(&identity).await;
    let grant = grant(&identity, owner.user());
    let key = identity.job_key_open(grant.clone(), untold()).unwrap();
    let parts: Vec<_> = key.secret().expose().split('_').map(str::len).collect();
    assert_eq!(parts, [2, 12, 30], "as published clients know keys");
    let caller = with_key(&identity, key.secret().expose()).unwrap();
    assert_narrow(&caller, &grant);
    assert_eq!(caller.credential(), Credential::ApiKey);
    assert_eq!(caller.kid(), Some(&**key.kid()));

    // A token has no more, for whichever devices it was asked.
    for devices in [None, Some(vec!["another".to_owned()])] {
        let minted = identity.mint_token(&caller, devices, 3600).unwrap();
        let session = bearer(&identity, &minted.token).unwrap();
        assert_narrow(&session, &grant);
        assert_eq!(session.credential(), Credential::CloudSession);
        assert_eq!(session.kid(), caller.kid());
    }
    assert!(with_key(&identity, key.secret().expose()).is_ok());
    assert_eq!(owner.job(), None);
}

#[tokio::test]
async fn a_job_manages_no_keys_and_its_own_is_in_no_list() {
    let (identity, _hand) = server().await;
    let owner = owner(&identity).await;
    let job_key = identity.job_key_open(grant(&identity, owner.user()), untold());
    let job_key = job_key.unwrap();
    let caller = with_key(&identity, job_key.secret().expose()).unwrap();
    let listed = identity.keys_list(&caller).await;
    assert!(matches!(listed, Err(KeyError::Forbidden(_))));
    let names = scopes(&["bench:control"]);
    let made = identity.key_create(&caller, "mine", &names, None).await;
    assert!(matches!(made, Err(KeyError::Forbidden(_))));
    assert!(identity.rules(&caller).is_err());
    assert!(identity.people(&caller).await.is_err());
    assert!(identity.keys_list(&owner).await.unwrap().is_empty());
    let found = identity.key_revoke(&owner, job_key.kid()).await;
    assert!(matches!(found, Err(KeyError::NotFound)));
}

#[tokio::test(start_paused = true)]
async fn a_job_s_key_ends_with_its_guard_and_so_does_what_it_opened() {
    let (identity, _hand) = server().await;
    let owner = owner(&identity).await;
    let key = identity.job_key_open(grant(&identity, owner.user()), untold());
    let key = key.unwrap();
    let other = identity.job_key_open(grant(&identity, owner.user()), untold());
    let other = other.unwrap();
    let text = key.secret().expose().to_owned();
    let caller = with_key(&identity, &text).unwrap();
    let token = identity.mint_token(&caller, None, 3600).unwrap().token;
    let session = bearer(&identity, &token).unwrap();
    let scope = Some("bench:control");
    let stands = Duration::from_secs(3600);
    for opened in [&caller, &session] {
        let over = tokio::time::timeout(stands, identity.over(opened, scope));
        assert!(over.await.is_err());
    }
    let both = async {
        tokio::join!(
            identity.over(&caller, scope),
            identity.over(&session, scope)
        )
    };
    let ended = async { drop(key) };
    let (over, ()) = tokio::join!(both, ended);
    assert_eq!(over, (AuthError::Revoked, AuthError::Revoked));
    assert_eq!(with_key(&identity, &text).unwrap_err(), AuthError::Invalid);
    assert_eq!(bearer(&identity, &token).unwrap_err(), AuthError::Revoked);
    assert!(with_key(&identity, other.secret().expose()).is_ok());
}

#[tokio::test]
async fn a_job_s_key_ends_with_its_user_and_with_the_process() {
    let (identity, _hand) = server().await;
    let owner = owner(&identity).await;
    let ann = add_user(&identity, "default", "ann", Role::Member).await;
    let key = identity
        .job_key_open(grant(&identity, &ann.id), untold())
        .unwrap();
    let text = key.secret().expose();
    let caller = with_key(&identity, text).unwrap();
    let token = identity.mint_token(&caller, None, 3600).unwrap().token;

    identity.user_set_disabled(&ann.id, true).await.unwrap();
    assert_eq!(with_key(&identity, text).unwrap_err(), AuthError::Revoked);
    assert_eq!(bearer(&identity, &token).unwrap_err(), AuthError::Revoked);
    let none = identity.job_key_open(grant(&identity, &ann.id), untold());
    assert_eq!(none.unwrap_err(), JobKeyError::NoUser);
    identity.user_set_disabled(&ann.id, false).await.unwrap();
    assert!(with_key(&identity, text).is_ok());

    // The next process has the user, and the keys that sign tokens, but not this one.
    let again = Identity::open(identity.store.clone(), identity.clock.clone(), "bk");
    let again = again.await.unwrap();
    assert_eq!(with_key(&again, text).unwrap_err(), AuthError::Invalid);
    assert_eq!(bearer(&again, &token).unwrap_err(), AuthError::Revoked);

    identity.person_remove(&owner, &ann.id).await.unwrap();
    assert_eq!(with_key(&identity, text).unwrap_err(), AuthError::Revoked);
    assert_eq!(bearer(&identity, &token).unwrap_err(), AuthError::Revoked);
}

#[tokio::test]
async fn a_job_has_no_key_in_an_organisation_that_its_user_is_not_in() {
    let (identity, _hand) = server().await;
    let other = add_org(&identity, "other").await;
    let owner = owner(&identity).await;
    let elsewhere = JobGrant {
        org: other,
        ..grant(&identity, owner.user())
    };
    let none = identity.job_key_open(elsewhere, untold());
    assert_eq!(none.unwrap_err(), JobKeyError::NoUser);
}

#[tokio::test]
async fn a_wrong_secret_is_invalid_and_nothing_shows_the_right_one() {
    let (identity, _hand) = server().await;
    let owner = owner(&identity).await;
    let key = identity.job_key_open(grant(&identity, owner.user()), untold());
    let key = key.unwrap();
    let text = key.secret().expose();
    let secret = text.rsplit('_').next().unwrap();
    let last = if text.ends_with('A') { "B" } else { "A" };
    let wrong = format!("{}{last}", &text[..text.len() - 1]);
    assert_eq!(with_key(&identity, &wrong).unwrap_err(), AuthError::Invalid);
    assert!(!format!("{key:?}").contains(secret));
    let caller = with_key(&identity, text).unwrap();
    assert!(!format!("{caller:?}").contains(secret));
}

#[tokio::test]
async fn there_are_so_many_keys_of_jobs_and_no_more() {
    let (identity, _hand) = server().await;
    let owner = owner(&identity).await;
    let open = || identity.job_key_open(grant(&identity, owner.user()), untold());
    let mut keys: Vec<JobKey> = (0..1024).map(|_| open().unwrap()).collect();
    assert_eq!(open().unwrap_err(), JobKeyError::TooMany);
    keys.pop();
    assert!(open().is_ok());
}

/// A key whose tokens are noted as they are told.
fn noting(identity: &Identity, user: &str) -> (JobKey, Arc<Mutex<Vec<String>>>) {
    let told = Arc::<Mutex<Vec<String>>>::default();
    let noted = told.clone();
    let tell = move |tokens: &[&str]| {
        *noted.lock().unwrap() = tokens.iter().map(|token| (*token).to_owned()).collect();
        true
    };
    let key = identity.job_key_open(grant(identity, user), Box::new(tell));
    (key.unwrap(), told)
}

#[tokio::test]
async fn every_token_of_a_job_is_told_before_it_is_given_and_given_again_while_it_is_fresh() {
    let (identity, hand) = server().await;
    let owner = owner(&identity).await;
    let (key, told) = noting(&identity, owner.user());
    let caller = with_key(&identity, key.secret().expose()).unwrap();
    let mint = |ttl_s: u32| identity.mint_token(&caller, None, ttl_s).unwrap();
    let has_told = |tokens: &[&Minted]| {
        let tokens: Vec<&str> = tokens.iter().map(|minted| minted.token.expose()).collect();
        assert_eq!(*told.lock().unwrap(), tokens);
    };
    let first = mint(3600);
    has_told(&[&first]);
    assert_eq!(first.expires_in_s, 3600);
    hand.advance_ms(1_800_000);
    let again = mint(3600);
    assert_eq!(again.token, first.token);
    assert_eq!(
        (again.expires_in_s, again.expires_at_ms),
        (1800, first.expires_at_ms)
    );
    let other = mint(60);
    assert_ne!(other.token, first.token);
    has_told(&[&first, &other]);
    hand.advance_ms(1_000);
    let second = mint(3600);
    assert_ne!(second.token, first.token);
    has_told(&[&first, &other, &second]);

    // Whoever ends a token gets another one; what is worth nothing any more is not told.
    let session = bearer(&identity, &second.token).unwrap();
    identity.sign_out(&session).await.unwrap();
    hand.advance_ms(100_000);
    let third = mint(3600);
    assert_ne!(third.token, second.token);
    has_told(&[&first, &third]);
    assert!(bearer(&identity, &third.token).is_ok());
    // Whoever is no job gets another one each time, which nobody is told of.
    let of_owner = || identity.mint_token(&owner, None, 3600).unwrap().token;
    assert_ne!(of_owner(), of_owner());
    has_told(&[&first, &third]);
}

#[tokio::test]
async fn a_job_has_so_many_tokens_and_no_more() {
    let (identity, hand) = server().await;
    let owner = owner(&identity).await;
    let (key, _told) = noting(&identity, owner.user());
    let caller = with_key(&identity, key.secret().expose()).unwrap();
    let mint = |ttl_s: u32| identity.mint_token(&caller, None, ttl_s);
    let ttls = || (1000..).take(JOB_TOKENS_MAX);
    let all: Vec<_> = ttls().map(|ttl_s| mint(ttl_s).unwrap().token).collect();
    let refused = mint(60).unwrap_err().to_string();
    assert!(
        refused.starts_with("ttl_seconds: must be one that"),
        "{refused}"
    );
    let again: Vec<_> = ttls().map(|ttl_s| mint(ttl_s).unwrap().token).collect();
    assert_eq!(again, all);
    hand.advance_ms(2_000_000);
    mint(60).unwrap();
}

#[tokio::test]
async fn a_token_that_cannot_be_kept_out_of_the_log_is_not_given() {
    let (identity, _hand) = server().await;
    let owner = owner(&identity).await;
    let key = identity.job_key_open(grant(&identity, owner.user()), Box::new(|_| false));
    let key = key.unwrap();
    let caller = with_key(&identity, key.secret().expose()).unwrap();
    assert!(identity.mint_token(&caller, None, 3600).is_err());
    drop(key);
    let refused = identity.mint_token(&caller, None, 3600).unwrap_err();
    assert!(
        refused
            .to_string()
            .starts_with("authorization: must be the key of a job")
    );
}
