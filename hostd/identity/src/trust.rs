//! Trust rules: managed by people, matched against verified CI runs.

use tracing::info;

use super::error::TokenError;
use super::mint::{TTL_S_MAX, TTL_S_MIN};
use super::token::{Claims, TokenType};
use super::{Identity, Minted, Verified};
use crate::oidc::CiRun;
use crate::verified::Credential;
use base::id;
use store::StoreError;
use store::trust::TrustRule;
use store::users::{Role, User};

/// Rules of one organisation.
const RULES_PER_ORG_MAX: usize = 200;

/// Longest text of a rule, in characters.
const TEXT_CHARS_MAX: usize = 255;

/// What a new rule says.
#[derive(Debug, Clone)]
pub struct NewRule {
    pub repository: String,
    pub r#ref: Option<String>,
    pub environment: Option<String>,
    /// Device ids.
    pub devices: Option<Vec<String>>,
    pub ttl_s: u32,
}

/// Changes to a rule; none leaves a value as it is.
#[derive(Debug, Clone, Default)]
pub struct RuleEdit {
    pub enabled: Option<bool>,
    pub ttl_s: Option<u32>,
    /// Device ids.
    pub devices: Option<Vec<String>>,
}

/// Why a rule was not made or changed, or a run not admitted.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    #[error("there is no such rule")]
    NotFound,
    #[error("{0}")]
    Forbidden(&'static str),
    #[error("{field}: {message}")]
    Invalid {
        field: &'static str,
        message: String,
    },
    #[error("no rule lets this run in")]
    Untrusted,
    #[error("several organisations trust this run")]
    Ambiguous,
    #[error(transparent)]
    Token(#[from] TokenError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Identity {
    /// Rules of the caller's organisation, oldest first.
    ///
    /// # Errors
    /// The caller may not see them.
    pub fn rules(&self, caller: &Verified) -> Result<Vec<TrustRule>, TrustError> {
        check_admin(caller)?;
        let mut rules = self.all_rules();
        rules.retain(|rule| rule.org == caller.org());
        Ok(rules)
    }

    /// Rules of all organisations, oldest first.
    pub fn all_rules(&self) -> Vec<TrustRule> {
        let index = self.index();
        let mut rules: Vec<TrustRule> = index.rules.values().map(|r| (**r).clone()).collect();
        rules.sort_by(|a, b| a.id.cmp(&b.id));
        rules
    }

    /// Make a rule.
    ///
    /// # Errors
    /// The caller may not, a value is malformed, there are too many, or the storage failed.
    pub async fn rule_add(&self, caller: &Verified, new: NewRule) -> Result<TrustRule, TrustError> {
        check_admin(caller)?;
        self.new_rule(caller.org(), caller.user(), new).await
    }

    /// Make a rule in the name of any admin; for the command line.
    pub async fn rule_add_for(&self, user: &User, new: NewRule) -> Result<TrustRule, TrustError> {
        if user.role < Role::Admin {
            return Err(TrustError::Forbidden("only admins and owners make rules"));
        }
        self.new_rule(&user.org, &user.id, new).await
    }

    async fn new_rule(&self, org: &str, user: &str, new: NewRule) -> Result<TrustRule, TrustError> {
        check_new(&new)?;
        let own = self.all_rules().iter().filter(|r| r.org == org).count();
        if own >= RULES_PER_ORG_MAX {
            let message = format!("must not be one of more than {RULES_PER_ORG_MAX} rules");
            return Err(invalid("repository", message));
        }
        let rule = TrustRule {
            id: id::ulid(&self.clock),
            org: org.to_owned(),
            user: user.to_owned(),
            repository: new.repository,
            r#ref: new.r#ref,
            environment: new.environment,
            devices: new.devices,
            ttl_s: new.ttl_s,
            enabled: true,
            created_ms: self.clock.now_ms(),
        };
        self.put_rule(rule.clone()).await?;
        info!(
            rule = rule.id,
            repository = rule.repository,
            by = user,
            "trust rule made"
        );
        Ok(rule)
    }

    /// Change a rule; sessions that it admitted before follow the change.
    ///
    /// # Errors
    /// As [`Identity::rule_add`]; there is no such rule.
    pub async fn rule_update(
        &self,
        caller: &Verified,
        id: &str,
        edit: RuleEdit,
    ) -> Result<TrustRule, TrustError> {
        let rules = self.rules(caller)?;
        let rule = rules.into_iter().find(|rule| rule.id == id);
        let mut rule = rule.ok_or(TrustError::NotFound)?;
        rule.enabled = edit.enabled.unwrap_or(rule.enabled);
        rule.ttl_s = edit.ttl_s.unwrap_or(rule.ttl_s);
        rule.devices = edit.devices.or(rule.devices);
        check_ttl(rule.ttl_s)?;
        self.put_rule(rule.clone()).await?;
        info!(
            rule = id,
            by = caller.user(),
            enabled = rule.enabled,
            "trust rule changed"
        );
        Ok(rule)
    }

    /// Delete a rule; sessions that it admitted end.
    ///
    /// # Errors
    /// The caller may not, there is no such rule, or the storage failed.
    pub async fn rule_remove(&self, caller: &Verified, id: &str) -> Result<(), TrustError> {
        if !self.rules(caller)?.iter().any(|rule| rule.id == id) {
            return Err(TrustError::NotFound);
        }
        self.drop_rule(id).await?;
        info!(rule = id, by = caller.user(), "trust rule removed");
        Ok(())
    }

    /// Delete anybody's rule; for the command line.
    pub async fn drop_rule(&self, id: &str) -> Result<(), StoreError> {
        let (store, gone) = (self.store.clone(), id.to_owned());
        let write = async move { store.trust_remove(&gone).await };
        let id = id.to_owned();
        self.change(write, move |index, ()| {
            index.rules.remove(&id);
        })
        .await
    }

    async fn put_rule(&self, rule: TrustRule) -> Result<(), StoreError> {
        let (store, new) = (self.store.clone(), rule.clone());
        let write = async move { store.trust_put(new).await };
        self.change(write, move |index, ()| {
            index.rules.insert(rule.id.clone(), rule.into());
        })
        .await
    }

    /// Whether anybody is trusted at all.
    #[must_use]
    pub fn trusts_anybody(&self) -> bool {
        self.index().rules.values().any(|rule| rule.enabled)
    }

    /// A session token for a verified run, by the oldest rule that admits it.
    ///
    /// # Errors
    /// No rule does, or rules of several organisations do, or the token cannot be signed.
    pub fn mint_for_run(&self, run: &CiRun) -> Result<Minted, TrustError> {
        let mut rules = self.all_rules();
        rules.retain(|rule| rule.enabled && lets_in(rule, run));
        let rule = rules.first().ok_or(TrustError::Untrusted)?;
        if rules.iter().any(|other| other.org != rule.org) {
            return Err(TrustError::Ambiguous);
        }
        let now_s = self.clock.now_s();
        let claims = Claims {
            iss: Claims::issuer(),
            typ: TokenType::CloudSession,
            sub: rule.user.clone(),
            org: rule.org.clone(),
            devices: rule.devices.clone(),
            kid: None,
            parent: None,
            rule: Some(rule.id.clone()),
            epoch: None,
            iat: now_s,
            exp: now_s + u64::from(rule.ttl_s),
            jti: id::ulid(&self.clock),
        };
        let token = self.signer.sign(&claims).map_err(TokenError::Sign)?;
        info!(
            rule = rule.id,
            repository = run.repository,
            r#ref = run.r#ref,
            actor = run.actor,
            token = claims.jti,
            "a CI run was let in"
        );
        Ok(Minted {
            token,
            expires_at_ms: claims.exp * 1000,
            expires_in_s: rule.ttl_s,
        })
    }
}

fn check_admin(caller: &Verified) -> Result<(), TrustError> {
    if caller.credential() != Credential::UserSession {
        return Err(TrustError::Forbidden("sign in to manage trust rules"));
    }
    if caller.role() < Role::Admin {
        return Err(TrustError::Forbidden(
            "only admins and owners manage trust rules",
        ));
    }
    Ok(())
}

fn lets_in(rule: &TrustRule, run: &CiRun) -> bool {
    let repository = match rule.repository.strip_suffix("/*") {
        Some(owner) => {
            let of_run = run.repository.split_once('/').map(|(owner, _)| owner);
            of_run.is_some_and(|of_run| of_run.eq_ignore_ascii_case(owner))
        }
        None => rule.repository.eq_ignore_ascii_case(&run.repository),
    };
    let reference = rule.r#ref.as_deref();
    let environment = rule.environment.as_ref();
    repository
        && reference.is_none_or(|pattern| fits(pattern, &run.r#ref))
        && environment.is_none_or(|wanted| run.environment.as_ref() == Some(wanted))
}

/// Whether `text` matches `pattern`, where `*` stands for anything.
fn fits(pattern: &str, text: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(mut text) = text.strip_prefix(head) else {
        return false;
    };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let tail = parts.pop().unwrap_or_default();
    for part in parts {
        // The first match leaves the most text for the parts that follow.
        let Some(at) = text.find(part) else {
            return false;
        };
        text = &text[at + part.len()..];
    }
    text.ends_with(tail)
}

fn check_new(new: &NewRule) -> Result<(), TrustError> {
    let name = |name: &str| {
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
        !name.is_empty() && name.bytes().all(plain)
    };
    let repository = new.repository.split_once('/');
    if new.repository.len() > TEXT_CHARS_MAX
        || !repository.is_some_and(|(owner, repo)| name(owner) && (repo == "*" || name(repo)))
    {
        return Err(invalid(
            "repository",
            "must be owner/name or owner/*".to_owned(),
        ));
    }
    let long = |text: &String| text.is_empty() || text.chars().count() > TEXT_CHARS_MAX;
    if new
        .r#ref
        .as_ref()
        .is_some_and(|r| long(r) || !r.starts_with("refs/"))
    {
        let message = "must be a full ref such as refs/heads/main or refs/heads/release/*";
        return Err(invalid("ref", message.to_owned()));
    }
    if new.environment.as_ref().is_some_and(long) {
        let message = format!("must have 1 to {TEXT_CHARS_MAX} characters");
        return Err(invalid("environment", message));
    }
    check_ttl(new.ttl_s)
}

fn check_ttl(ttl_s: u32) -> Result<(), TrustError> {
    if (TTL_S_MIN..=TTL_S_MAX).contains(&ttl_s) {
        return Ok(());
    }
    Err(invalid(
        "ttl_seconds",
        format!("must be {TTL_S_MIN} to {TTL_S_MAX}"),
    ))
}

fn invalid(field: &'static str, message: String) -> TrustError {
    TrustError::Invalid { field, message }
}
