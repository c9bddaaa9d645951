//! Who is calling, and on whose behalf the host acts: what every interface may know about a call.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use base::space;
use identity::{Credential, JobGrant, Verified};
use lab::leases::Shown;
use pods::protocol::commands::Tier;

/// Who asks, and for whom the host acts.
#[derive(Debug)]
pub struct Context {
    /// Name of the handler group, for logs and for the store's namespace.
    pub group: Arc<str>,
    pub request_id: String,
    /// None on public routes and while a component is being loaded.
    pub caller: Option<Verified>,
    /// The lease that the request shows.
    pub lease: Option<String>,
    /// Where the request comes from.
    pub client: Option<IpAddr>,
    /// What the client calls this server, as the start of a URL: `http://bench.example:8080`.
    pub origin: Option<String>,
    /// When a waiting handler should report progress instead, so that it answers before its
    /// deadline.
    pub answer_by: Instant,
    /// Set when something failed because the disk is full: whatever the handler makes of that
    /// failure, the caller gets the real cause.
    pub disk_full: Arc<AtomicBool>,
}

impl Context {
    /// The job that asks, if a program of one does.
    pub(super) fn job(&self) -> Option<&JobGrant> {
        self.caller.as_ref()?.job()
    }

    /// Who a lease belongs to: a person and everything that acts for them, or a job.
    pub(super) fn owner(&self) -> String {
        match (&self.caller, self.job()) {
            (_, Some(job)) => job.lease_owner.clone(),
            (Some(caller), None) => format!("{}/{}", caller.org(), caller.user()),
            (None, None) => String::new(),
        }
    }

    /// The lease that the request shows for its device, for this `owner`. A job has shown its own
    /// with its key, whatever its programs say.
    pub(super) fn shown<'a>(&'a self, owner: &'a str) -> Shown<'a> {
        let of_job = self.job().map(|job| job.lease_id.as_str());
        Shown {
            lease_id: of_job.or(self.lease.as_deref()),
            owner,
        }
    }

    /// What absolute addresses of this server begin with, for who asks: its public URL, or what they call it if that is empty.
    pub(super) fn base(&self, public_url: &str) -> Option<String> {
        match public_url {
            "" => self.origin.clone(),
            url => Some(url.trim_end_matches('/').to_owned()),
        }
    }

    /// The same request, on behalf of another caller, who shows no lease.
    pub(super) fn acting_for(&self, caller: Verified) -> Self {
        Self {
            group: self.group.clone(),
            request_id: self.request_id.clone(),
            caller: Some(caller),
            lease: None,
            client: self.client,
            origin: self.origin.clone(),
            answer_by: self.answer_by,
            disk_full: self.disk_full.clone(),
        }
    }

    /// Whether somebody who is signed in asks.
    pub(super) fn is_person(&self) -> bool {
        let caller = self.caller.as_ref();
        caller.is_some_and(|caller| caller.credential() == Credential::UserSession)
    }

    /// Refuse a caller that is not an administrator; `doing` begins the sentence.
    pub(super) fn check_admin(&self, doing: &str) -> Result<(), String> {
        if self.caller.as_ref().is_some_and(|c| c.is_admin()) {
            return Ok(());
        }
        Err(format!(
            "{doing} takes an admin's session, or an admin's key with scope bench:admin"
        ))
    }

    /// Whether the caller may use some devices only.
    pub(super) fn is_restricted(&self) -> bool {
        self.caller.as_ref().is_none_or(|c| c.devices().is_some())
    }

    /// How far the caller's commands may reach. Settings that outlive the session need an
    /// administrator, since a mistake there takes the bench away from everybody.
    pub(super) fn tier_max(&self) -> Tier {
        match &self.caller {
            Some(caller) if caller.is_admin() => Tier::Firmware,
            _ => Tier::Instrument,
        }
    }
}

/// A failure that a handler cannot act on: the cause goes to the log, the guest learns only that
/// something failed.
pub(crate) fn internal(
    call: &Context,
    interface: &str,
    error: &(dyn std::error::Error + 'static),
) -> String {
    if space::is_full(error) {
        call.disk_full.store(true, Ordering::Relaxed);
        return "the disk of the server is full".to_owned();
    }
    let mut chain = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        chain.push_str(": ");
        chain.push_str(&cause.to_string());
        source = cause.source();
    }
    tracing::error!(request_id = call.request_id, handler = %call.group, interface, error = chain, "host call failed");
    "the server failed to do this; its log has the details".to_owned()
}
