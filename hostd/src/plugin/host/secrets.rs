//! `hostd:plugin/secrets`: those secrets of the organisation that the plugin was granted.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use evidence::redact::Secrets;
use tracing::warn;
use vault::Vault;
use wasmtime::component::HasData;

use super::{PluginLinker, offers, refusal};
use crate::plugin::call::Acting;
use offers::secrets::Host;
use offers::types::Error;

/// What this interface gets of a call.
pub(super) struct View<'a> {
    acting: Acting<'a>,
    vault: &'a Arc<Vault>,
    read: &'a mut BTreeMap<String, String>,
    hidden: &'a mut Option<Secrets>,
}

impl HasData for View<'static> {
    type Data<'a> = View<'a>;
}

pub(super) fn link(linker: &mut PluginLinker) -> wasmtime::Result<()> {
    offers::secrets::add_to_linker::<_, View<'static>>(linker, |state| {
        let call = &mut state.data;
        View {
            acting: Acting::new(&call.facts.id, &call.rights),
            vault: &call.services.vault,
            read: &mut call.secrets_read,
            hidden: &mut call.secrets,
        }
    })
}

impl Host for View<'_> {
    async fn get(&mut self, name: String) -> wasmtime::Result<Result<String, Error>> {
        Ok(self.open(name).await)
    }
}

impl View<'_> {
    async fn open(&mut self, name: String) -> Result<String, Error> {
        self.acting.secret(&name)?;
        if let Some(value) = self.read.get(&name) {
            return Ok(value.clone());
        }
        let (vault, org) = (self.vault.clone(), self.acting.org().to_owned());
        let wanted = name.clone();
        let opened = tokio::task::spawn_blocking(move || {
            vault.open(&org, &BTreeSet::from([wanted.as_str()]), None)
        });
        let values = match opened.await {
            Ok(Ok(values)) => values,
            Ok(Err(error)) => return Err(refusal("secret_unavailable", error.to_string())),
            Err(error) => {
                warn!(%error, "failed to open a secret for a plugin");
                return Err(refusal(
                    "internal",
                    "the server failed to open the secret; its log has the details",
                ));
            }
        };
        self.read.extend(values);
        let known = self
            .read
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_bytes()));
        // Nobody gets a value that could not be kept out of the log.
        let hidden =
            Secrets::new(known).map_err(|unfit| refusal("secret_unavailable", unfit.to_string()));
        match hidden {
            Ok(hidden) => *self.hidden = Some(hidden),
            Err(error) => {
                self.read.remove(&name);
                return Err(error);
            }
        }
        let value = self.read.get(&name).cloned();
        value.ok_or_else(|| refusal("not_found", format!("there is no secret {name}")))
    }
}
