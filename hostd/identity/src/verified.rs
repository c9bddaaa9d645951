//! Who makes a request, after all checks.

use std::sync::Arc;

use admission::Requester;

use super::job_keys::JobGrant;
use super::scope::Scope;
use super::token::Claims;
use store::users::Role;

/// The kinds of credentials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Credential {
    ApiKey,
    /// A signed-in user's.
    UserSession,
    /// Made from a key or a sign-in, for a short time and perhaps only some devices.
    CloudSession,
}

/// A caller whose credential was verified. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Verified {
    pub(super) org: Arc<str>,
    pub(super) user: Arc<str>,
    pub(super) role: Role,
    pub(super) credential: Credential,
    /// Key id, for API keys and for sessions minted from one.
    pub(super) kid: Option<Arc<str>>,
    /// Empty for user sessions, which are limited by role alone.
    pub(super) scopes: Arc<[Scope]>,
    pub(super) devices: Option<Arc<[String]>>,
    /// Token id and the second it expires, for sessions.
    pub(super) session: Option<(Arc<str>, u64)>,
    /// Id of the sign-in that the session began with; ending it ends every session derived from it.
    pub(super) root: Option<Arc<str>>,
    /// The user's epoch, if the credential is derived from a sign-in.
    pub(super) epoch: Option<u32>,
    /// All that its token says, for sessions.
    pub(super) claims: Option<Arc<Claims>>,
    /// For a job's key and sessions minted from it.
    pub(super) job: Option<Arc<JobGrant>>,
}

impl Verified {
    /// A plugin that acts for itself, with these scopes, on these devices (none = all of the organisation). No credential
    /// of this kind can be presented: it is as a member's key that names the plugin in place of a user.
    #[must_use]
    pub fn of_plugin(
        org: &str,
        plugin: &str,
        scopes: Vec<Scope>,
        devices: Option<Vec<String>>,
    ) -> Self {
        Self {
            org: org.into(),
            user: format!("plugin:{plugin}").into(),
            role: Role::Member,
            credential: Credential::ApiKey,
            kid: None,
            scopes: scopes.into(),
            devices: devices.map(Into::into),
            session: None,
            root: None,
            epoch: None,
            claims: None,
            job: None,
        }
    }

    /// A program on the server's own computer that shows no credential. It works with the boards of this organisation, as
    /// a member's key for them alone would let it.
    #[must_use]
    pub fn of_desk(org: &str) -> Self {
        Self {
            user: "local".into(),
            ..Self::of_plugin(org, "", vec![Scope::EmiAnalyze], None)
        }
    }

    /// Organisation id.
    #[must_use]
    pub fn org(&self) -> &str {
        &self.org
    }

    /// User id.
    #[must_use]
    pub fn user(&self) -> &str {
        &self.user
    }

    #[must_use]
    pub fn role(&self) -> Role {
        self.role
    }

    #[must_use]
    pub fn credential(&self) -> Credential {
        self.credential
    }

    /// The kind of credential in words, for messages.
    #[must_use]
    pub fn credential_name(&self) -> &'static str {
        match self.credential {
            Credential::ApiKey => "an API key",
            Credential::UserSession => "a user session",
            Credential::CloudSession => "a cloud session token",
        }
    }

    /// Key id, for API keys and for sessions minted from one.
    #[must_use]
    pub fn kid(&self) -> Option<&str> {
        self.kid.as_deref()
    }

    /// Scopes of the credential; empty for user sessions.
    #[must_use]
    pub fn scopes(&self) -> &[Scope] {
        &self.scopes
    }

    /// Ids of the devices the credential is restricted to; none = every device of the organisation.
    #[must_use]
    pub fn devices(&self) -> Option<&[String]> {
        self.devices.as_deref()
    }

    /// The job that calls, by its key or a session minted from that.
    #[must_use]
    pub fn job(&self) -> Option<&JobGrant> {
        self.job.as_deref()
    }

    /// Whether the credential may use the device with this id.
    #[must_use]
    pub fn may_use_id(&self, device: &str) -> bool {
        self.devices()
            .is_none_or(|devices| devices.iter().any(|d| d == device))
    }

    /// The second (since 1970) the session expires; none for API keys.
    #[must_use]
    pub fn expires_s(&self) -> Option<u64> {
        self.session.as_ref().map(|(_, expires_s)| *expires_s)
    }

    /// What requests are counted by: the key, even for sessions made from it, or the sign-in.
    #[must_use]
    pub fn subject(&self) -> &Arc<str> {
        let own = self.kid.as_ref().or(self.root.as_ref());
        own.unwrap_or(&self.user)
    }

    /// Whose share of scarce resources requests take: the user's, whatever the credential.
    #[must_use]
    pub fn requester(&self) -> Requester {
        Requester {
            org: self.org.clone(),
            user: self.user.clone(),
        }
    }

    /// Whether the credential carries the scope of this name or alias. A user session carries every
    /// scope that its role allows.
    #[must_use]
    pub fn has_scope(&self, name: &str) -> bool {
        Scope::parse(name).is_some_and(|scope| self.has(scope))
    }

    pub(super) fn has(&self, scope: Scope) -> bool {
        if self.credential == Credential::UserSession {
            return scope != Scope::BenchAdmin || self.role >= Role::Admin;
        }
        self.scopes.contains(&scope)
    }

    /// Whether the caller is an administrator of its organisation: by role if signed in, otherwise
    /// by the scope `bench:admin`.
    #[must_use]
    pub fn is_admin(&self) -> bool {
        self.has(Scope::BenchAdmin)
    }
}
