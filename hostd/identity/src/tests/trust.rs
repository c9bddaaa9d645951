//! Which CI runs are admitted, as whom, and for how long.

use serde_json::json;

use super::*;
use crate::oidc::CiRun;

fn run(repository: &str, branch: &str, environment: Option<&str>) -> CiRun {
    let claims = json!({"repository": repository, "ref": branch, "environment": environment,
        "exp": 0});
    serde_json::from_value(claims).unwrap()
}

fn rule(repository: &str, branch: Option<&str>) -> NewRule {
    NewRule {
        repository: repository.to_owned(),
        r#ref: branch.map(str::to_owned),
        environment: None,
        devices: None,
        ttl_s: 600,
    }
}

#[tokio::test]
async fn repository_ref_and_environment_must_fit() {
    let (identity, _hand) = server().await;
    let owner = owner(&identity).await;
    let fits = async |new: NewRule, run: CiRun| {
        let rule = identity.rule_add(&owner, new).await.unwrap();
        let minted = identity.mint_for_run(&run);
        identity.rule_remove(&owner, &rule.id).await.unwrap();
        match minted {
            Ok(_) => true,
            Err(TrustError::Untrusted) => false,
            Err(other) => panic!("{other}"),
        }
    };
    let main = "refs/heads/main";
    for (repository, branch, of, at, expected) in [
        ("acme/blinky", None, "acme/blinky", main, true),
        ("acme/blinky", None, "Acme/Blinky", main, true),
        ("acme/*", None, "acme/other", main, true),
        ("acme/*", None, "acme2/other", main, false),
        ("acme/*", None, "acme", main, false),
        ("acme/blinky", None, "acme/blinky2", main, false),
        ("acme/blinky", Some(main), "acme/blinky", main, true),
        (
            "acme/blinky",
            Some(main),
            "acme/blinky",
            "refs/heads/main2",
            false,
        ),
        (
            "acme/blinky",
            Some("refs/heads/*"),
            "acme/blinky",
            "refs/heads/a/b",
            true,
        ),
        (
            "acme/blinky",
            Some("refs/heads/*"),
            "acme/blinky",
            "refs/tags/v1",
            false,
        ),
        (
            "acme/blinky",
            Some("refs/*/v*-rc*"),
            "acme/blinky",
            "refs/tags/v1-rc2",
            true,
        ),
        (
            "acme/blinky",
            Some("refs/*/v*-rc"),
            "acme/blinky",
            "refs/tags/v1-rc2",
            false,
        ),
        (
            "acme/blinky",
            Some("refs/heads/a*a"),
            "acme/blinky",
            "refs/heads/a",
            false,
        ),
        ("acme/blinky", Some(main), "acme/blinky", "", false),
    ] {
        let fit = fits(rule(repository, branch), run(of, at, None)).await;
        assert_eq!(fit, expected, "{repository} {branch:?} {of} {at}");
    }
    let production = NewRule {
        environment: Some("production".into()),
        ..rule("acme/blinky", None)
    };
    for (environment, expected) in [
        (None, false),
        (Some("test"), false),
        (Some("production"), true),
    ] {
        let run = run("acme/blinky", main, environment);
        assert_eq!(fits(production.clone(), run).await, expected);
    }
}

#[tokio::test]
async fn a_run_is_in_as_long_as_its_rule_and_its_user() {
    let (identity, _hand) = server().await;
    let owner = owner(&identity).await;
    let (adam, code) = identity
        .person_add(&owner, "adam", Role::Admin)
        .await
        .unwrap();
    let session = identity
        .sign_in_code(HOME, code.code.expose(), Stay::Short)
        .await;
    let admin = bearer(&identity, &session.unwrap().token).unwrap();
    let made = identity
        .rule_add(&admin, rule("acme/blinky", None))
        .await
        .unwrap();
    let minted = identity
        .mint_for_run(&run("acme/blinky", "refs/heads/main", None))
        .unwrap();
    let caller = bearer(&identity, &minted.token).unwrap();
    assert_eq!(caller.user(), adam.id);
    assert!(caller.has_scope("bench:control") && !caller.is_admin());
    assert!(identity.mint_token(&caller, None, 60).is_err());
    // The rule as it is now counts, even after a restart.
    let edit = RuleEdit {
        devices: Some(vec!["d1".into()]),
        ..RuleEdit::default()
    };
    identity.rule_update(&owner, &made.id, edit).await.unwrap();
    let again = Identity::open(identity.store.clone(), identity.clock.clone(), "bk");
    let again = again.await.unwrap();
    for identity in [&identity, &again] {
        let caller = bearer(identity, &minted.token).unwrap();
        assert!(caller.may_use_id("d1") && !caller.may_use_id("d2"));
    }
    identity.person_remove(&owner, &adam.id).await.unwrap();
    assert_eq!(
        bearer(&identity, &minted.token).unwrap_err(),
        AuthError::Revoked
    );
    assert!(identity.rules(&owner).unwrap().is_empty());
}

#[tokio::test]
async fn organisations_cannot_take_each_others_runs() {
    let (identity, _hand) = server().await;
    let owner = owner(&identity).await;
    add_org(&identity, "acme").await;
    add_user(&identity, "acme", "eve", Role::Owner).await;
    let eve = signed_in(&identity, "eve").await;
    let made = identity
        .rule_add(&owner, rule("acme/blinky", None))
        .await
        .unwrap();
    identity.rule_add(&eve, rule("acme/*", None)).await.unwrap();
    let both = identity.mint_for_run(&run("acme/blinky", "refs/heads/main", None));
    assert!(matches!(both, Err(TrustError::Ambiguous)));
    let theirs = identity.rule_remove(&eve, &made.id).await;
    assert!(matches!(theirs, Err(TrustError::NotFound)));
    let only = identity.mint_for_run(&run("acme/other", "refs/heads/main", None));
    let caller = bearer(&identity, &only.unwrap().token).unwrap();
    assert_eq!(caller.org(), eve.org());
}
