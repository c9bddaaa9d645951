//! `hostd:host/trust`: rules for CI runs, and the exchange of their tokens.

use wasmtime::component::HasData;

use super::bindings::hostd::host::tokens::Token;
use super::bindings::hostd::host::trust::{Edit, Error, Host, NewRule as WitNewRule, Rule};
use super::door::device_ids;
use super::{CallLinker, Context, internal, wit};
use base::clock;
use identity::oidc::{Oidc, OidcError};
use identity::{Identity, NewRule, RuleEdit, TrustError, Verified};
use lab::devices::Devices;
use store::trust::TrustRule;

/// What this interface gets of a call.
pub(super) struct View<'a> {
    context: &'a Context,
    auth: &'a Identity,
    oidc: &'a Oidc,
    devices: &'a Devices,
}

impl HasData for View<'static> {
    type Data<'a> = View<'a>;
}

pub(super) fn link(linker: &mut CallLinker) -> wasmtime::Result<()> {
    wit::trust::add_to_linker::<_, View<'static>>(linker, |state| View {
        context: &state.data.context,
        auth: &state.data.services.auth,
        oidc: &state.data.services.oidc,
        devices: &state.data.services.devices,
    })
}

impl Host for View<'_> {
    async fn list(&mut self) -> Result<Vec<Rule>, Error> {
        let rules = self.auth.rules(self.trust_caller()?);
        let rules = rules.map_err(|e| self.trust_error(e))?;
        Ok(rules.into_iter().map(|r| self.rule(r)).collect())
    }

    async fn create(&mut self, rule: WitNewRule) -> Result<Rule, Error> {
        let caller = self.trust_caller()?;
        let new = NewRule {
            repository: rule.repository,
            r#ref: rule.ref_,
            environment: rule.environment,
            devices: self.trusted_devices(caller, rule.devices)?,
            ttl_s: rule.ttl_seconds,
        };
        let made = self.auth.rule_add(caller, new).await;
        made.map(|r| self.rule(r)).map_err(|e| self.trust_error(e))
    }

    async fn update(&mut self, id: String, edit: Edit) -> Result<Rule, Error> {
        let caller = self.trust_caller()?;
        let edit = RuleEdit {
            enabled: edit.enabled,
            ttl_s: edit.ttl_seconds,
            devices: self.trusted_devices(caller, edit.devices)?,
        };
        let changed = self.auth.rule_update(caller, &id, edit).await;
        changed
            .map(|r| self.rule(r))
            .map_err(|e| self.trust_error(e))
    }

    async fn remove(&mut self, id: String) -> Result<(), Error> {
        let caller = self.trust_caller()?;
        let removed = self.auth.rule_remove(caller, &id).await;
        removed.map_err(|e| self.trust_error(e))
    }

    async fn exchange(&mut self, id_token: String) -> Result<Token, Error> {
        let auth = self.auth;
        // Without a rule there is no need to ask the provider.
        if !auth.trusts_anybody() {
            return Err(Error::Untrusted);
        }
        let run = self.oidc.verify(&id_token).await;
        let run = run.map_err(|error| match error {
            OidcError::NoKeys => Error::Unavailable,
            refused => Error::Rejected(refused.to_string()),
        })?;
        let minted = auth.mint_for_run(&run).map_err(|e| self.trust_error(e))?;
        Ok(Token {
            token: minted.token.expose().to_owned(),
            expires_at: clock::text(minted.expires_at_ms),
            expires_in: minted.expires_in_s,
        })
    }
}

impl View<'_> {
    fn trust_caller(&self) -> Result<&Verified, Error> {
        let caller = self.context.caller.as_ref();
        caller.ok_or_else(|| Error::Forbidden("trust rules need a caller".to_owned()))
    }

    fn trusted_devices(
        &self,
        caller: &Verified,
        names: Option<Vec<String>>,
    ) -> Result<Option<Vec<String>>, Error> {
        let ids = names.map(|names| device_ids(self.devices, caller, names));
        ids.transpose().map_err(Error::UnknownDevice)
    }

    fn rule(&self, rule: TrustRule) -> Rule {
        let named = |id: String| {
            let device = self.devices.get(&rule.org, &id)?;
            Some((id, device.record.name))
        };
        Rule {
            devices: rule
                .devices
                .map(|ids| ids.into_iter().filter_map(named).collect()),
            id: rule.id,
            repository: rule.repository,
            ref_: rule.r#ref,
            environment: rule.environment,
            ttl_seconds: rule.ttl_s,
            enabled: rule.enabled,
            user: rule.user,
            created_at: clock::text(rule.created_ms),
        }
    }

    fn trust_error(&self, error: TrustError) -> Error {
        match error {
            TrustError::NotFound => Error::NotFound,
            TrustError::Forbidden(text) => Error::Forbidden(text.to_owned()),
            TrustError::Invalid { field, message } => Error::Invalid((field.to_owned(), message)),
            TrustError::Untrusted => Error::Untrusted,
            TrustError::Ambiguous => Error::Ambiguous,
            other => Error::Other(internal(self.context, "trust", &other)),
        }
    }
}
