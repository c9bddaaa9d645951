//! Identity as a whole, on a store in memory and a clock that stands still.

use std::net::{IpAddr, Ipv4Addr};

use super::*;
use base::clock::Hand;
use store::users::User;

mod admins;
mod forgery;
mod fuzz;
mod job_keys;
mod keys;
mod links;
mod people;
mod renewal;
mod sessions;
mod standing;
mod trust;

/// 2026-11-21T09:54:16Z
const NOW_MS: u64 = 1_795_254_856_000;

/// Where people sign in in tests.
const HOME: Origin = Origin::Address(Some(IpAddr::V4(Ipv4Addr::LOCALHOST)));

/// A server just started, and the hand of its clock.
async fn server() -> (Identity, Hand) {
    let (clock, hand) = Clock::manual(NOW_MS);
    let store = Store::in_memory().unwrap();
    (Identity::open(store, clock, "bk").await.unwrap(), hand)
}

fn bearer(identity: &Identity, token: &Secret) -> Result<Verified, AuthError> {
    let header = format!("Bearer {}", token.expose());
    identity.authenticate(Some(&header), None, None)
}

fn with_key(identity: &Identity, key: &str) -> Result<Verified, AuthError> {
    identity.authenticate(Some(&format!("ApiKey {key}")), None, None)
}

/// The first user, signed in.
async fn owner(identity: &Identity) -> Verified {
    signed_in(identity, "owner").await
}

async fn signed_in(identity: &Identity, login: &str) -> Verified {
    let user = identity.user_by_login(login).await.unwrap().unwrap();
    let code = identity.issue_code(&user.id).await.unwrap();
    let session = identity
        .sign_in_code(HOME, code.expose(), Stay::Short)
        .await
        .unwrap();
    bearer(identity, &session.token).unwrap()
}

async fn add_user(identity: &Identity, org: &str, login: &str, role: Role) -> User {
    identity.user_add(org, login, role).await.unwrap()
}

/// An organisation beside the first one.
async fn add_org(identity: &Identity, name: &str) -> String {
    let org = orgs::Org {
        id: base::id::ulid(&identity.clock),
        name: name.to_owned(),
        created_ms: NOW_MS,
        trusted_refs: Vec::new(),
    };
    identity.store.org_ensure(org).await.unwrap().id
}

fn scopes(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// A key of `caller` with `names` as scopes.
async fn key(identity: &Identity, caller: &Verified, names: &[&str]) -> CreatedKey {
    let created = identity
        .key_create(caller, "test", &scopes(names), None)
        .await;
    created.unwrap()
}

#[tokio::test]
async fn a_first_start_makes_an_organisation_and_its_owner_once() {
    let (identity, _hand) = server().await;
    let first = identity.bootstrap().await.unwrap();
    assert_eq!(first.login, "owner");
    assert_eq!(first.org, identity.default_org());
    let code = first.sign_in_code.clone().unwrap();
    assert!(!format!("{first:?}").contains(&code));
    let again = Identity::open(identity.store.clone(), identity.clock.clone(), "bk");
    let again = again.await.unwrap();
    assert_eq!(again.default_org(), identity.default_org());
    assert_eq!(again.users().await.unwrap().len(), 1);
    let session = again.sign_in_code(HOME, &code, Stay::Short).await.unwrap();
    let caller = bearer(&identity, &session.token).unwrap();
    assert_eq!(
        (caller.role(), caller.org()),
        (Role::Owner, first.org.as_str())
    );
    assert!(identity.bootstrap().await.unwrap().sign_in_code.is_none());
}

#[tokio::test]
async fn a_start_leaves_a_code_that_somebody_asked_for() {
    let (identity, _hand) = server().await;
    let owner = identity.user_by_login("owner").await.unwrap().unwrap();
    let asked = identity.issue_code(&owner.id).await.unwrap();
    let shown = identity.bootstrap().await.unwrap().sign_in_code.unwrap();
    let session = identity
        .sign_in_code(HOME, asked.expose(), Stay::Short)
        .await;
    assert_eq!(session.unwrap().user, owner.id);
    // One sign-in is enough: the code shown at the start is now useless.
    assert!(
        identity
            .sign_in_code(HOME, &shown, Stay::Short)
            .await
            .is_err()
    );

    // What is shown works beside it too.
    let (identity, _hand) = server().await;
    let owner = identity.user_by_login("owner").await.unwrap().unwrap();
    identity.issue_code(&owner.id).await.unwrap();
    identity.bootstrap().await.unwrap();
    let shown = identity.bootstrap().await.unwrap().sign_in_code.unwrap();
    assert!(
        identity
            .sign_in_code(HOME, &shown, Stay::Short)
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn each_start_replaces_the_code_until_somebody_signs_in() {
    let (identity, _hand) = server().await;
    let first = identity.bootstrap().await.unwrap().sign_in_code.unwrap();
    let second = identity.bootstrap().await.unwrap().sign_in_code.unwrap();
    assert!(
        identity
            .sign_in_code(HOME, &first, Stay::Short)
            .await
            .is_err()
    );
    assert!(
        identity
            .sign_in_code(HOME, &second, Stay::Short)
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn the_demo_key_is_the_same_at_every_start_and_another_once_revoked() {
    let (identity, _hand) = server().await;
    let demo = identity.ensure_demo().await.unwrap();
    let caller = with_key(&identity, &demo.api_key).unwrap();
    for scope in scope::ALL {
        assert!(caller.has_scope(scope.as_str()), "{scope:?}");
    }
    let again = Identity::open(identity.store.clone(), identity.clock.clone(), "bk");
    let again = again.await.unwrap();
    assert_eq!(again.ensure_demo().await.unwrap().api_key, demo.api_key);
    identity.revoke(caller.kid().unwrap()).await.unwrap();
    let other = identity.ensure_demo().await.unwrap();
    assert_ne!(other.api_key, demo.api_key);
    assert!(with_key(&identity, &other.api_key).is_ok());
    assert_eq!(
        with_key(&identity, &demo.api_key).unwrap_err(),
        AuthError::Revoked
    );
    assert!(!format!("{other:?}").contains(&other.api_key));
    let elsewhere = server().await.0.ensure_demo().await.unwrap();
    assert_ne!(elsewhere.api_key, demo.api_key);
}

#[tokio::test]
async fn a_caller_is_who_was_verified() {
    let (identity, _hand) = server().await;
    let owner = owner(&identity).await;
    let created = key(&identity, &owner, &["benchpod:control"]).await;
    let caller = with_key(&identity, created.secret.expose()).unwrap();
    assert_eq!(caller.org(), identity.default_org());
    assert_eq!(caller.user(), owner.user());
    assert_eq!(caller.role(), Role::Owner);
    assert_eq!(caller.credential(), Credential::ApiKey);
    assert_eq!(caller.kid(), Some(created.key.kid.as_str()));
    assert_eq!(caller.scopes(), [Scope::BenchControl]);
    assert_eq!(caller.devices(), None);
    assert_eq!(owner.scopes(), []);
}
