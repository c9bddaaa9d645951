//! `hostd:plugin/notify`: what a plugin has to say to the organisation's webhooks.

use std::sync::{Arc, Weak};

use ::notify::{Notices, RaiseError};
use plugins::interface::Interface;
use serde_json::Value;
use wasmtime::component::HasData;

use super::{PluginLinker, offers, refusal};
use crate::host::{Context, internal};
use crate::plugin::Plugins;
use crate::plugin::call::Acting;
use crate::plugin::meter::Meter;
use offers::notify::Host;
use offers::types::Error;

/// Longest text.
const JSON_BYTES_MAX: usize = 64 << 10;

/// Messages that one call may send.
const SENT_MAX: u32 = 16;

/// What this interface gets of a call.
pub(super) struct View<'a> {
    acting: Acting<'a>,
    context: &'a Context,
    notices: &'a Notices,
    /// None while the server begins or ends.
    plugins: Option<Arc<Plugins>>,
    sent: &'a mut u32,
    meter: &'a Meter,
}

impl HasData for View<'static> {
    type Data<'a> = View<'a>;
}

pub(super) fn link(linker: &mut PluginLinker) -> wasmtime::Result<()> {
    offers::notify::add_to_linker::<_, View<'static>>(linker, |state| {
        let call = &mut state.data;
        View {
            acting: Acting::new(&call.facts.id, &call.rights),
            context: &call.context,
            notices: &call.services.notices,
            plugins: call.services.plugins.get().and_then(Weak::upgrade),
            sent: &mut call.notices_sent,
            meter: &call.facts.meter,
        }
    })
}

impl Host for View<'_> {
    async fn send(&mut self, kind: String, json: String) -> wasmtime::Result<Result<(), Error>> {
        Ok(self.raise(&kind, &json).await)
    }
}

impl View<'_> {
    async fn raise(&mut self, kind: &str, json: &str) -> Result<(), Error> {
        self.acting.interface(Interface::Notify)?;
        if json.len() > JSON_BYTES_MAX {
            let told = format!("json must have at most {JSON_BYTES_MAX} bytes");
            return Err(refusal("too_large", told));
        }
        let Ok(Value::Object(data)) = serde_json::from_str(json) else {
            return Err(refusal("invalid", "json must be a JSON object"));
        };
        *self.sent = self.sent.saturating_add(1);
        if *self.sent > SENT_MAX {
            let told = format!("one call may send {SENT_MAX} messages");
            return Err(refusal("quota_exceeded", told));
        }
        let (org, plugin) = (self.acting.org(), self.acting.plugin());
        if let Some(other) = self.whose(kind).await? {
            let told = format!(
                "the event x.{plugin}.{kind} would be one of the plugin {other}: choose another kind"
            );
            return Err(refusal("invalid", told));
        }
        match self.notices.raise(org, plugin, kind, data).await {
            Ok(_) => {
                self.meter.told();
                Ok(())
            }
            Err(error @ RaiseError::Kind(_)) => Err(refusal("invalid", error.to_string())),
            Err(error @ RaiseError::Full(_)) => Err(refusal("quota_exceeded", error.to_string())),
            Err(RaiseError::Store(error)) => Err(refusal(
                "internal",
                internal(self.context, "notify", &error),
            )),
        }
    }

    /// The plugin that is installed as well and that webhooks would take for the sender of a kind.
    async fn whose(&self, kind: &str) -> Result<Option<String>, Error> {
        let Some(plugins) = &self.plugins else {
            return Ok(None);
        };
        let installed = plugins.installed.list().await.map_err(|error| {
            let told = internal(self.context, "notify", &error);
            refusal("internal", told)
        })?;
        let own = self.acting.plugin();
        let mut ids = installed.into_iter().map(|plugin| plugin.id);
        Ok(ids.find(|id| is_of(own, kind, id)))
    }
}

/// Whether the event that a plugin raises under a kind is, by its name, one of another plugin: `rail.high` of `acme` is
/// `high` of `acme.rail`.
fn is_of(plugin: &str, kind: &str, other: &str) -> bool {
    let name = format!("{plugin}.{kind}");
    let rest = name.strip_prefix(other);
    other.len() > plugin.len() && rest.is_some_and(|rest| rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_plugin_speaks_in_the_name_of_another() {
        assert!(is_of("acme", "rail.high", "acme.rail"));
        assert!(is_of("acme", "rail.a.high", "acme.rail.a"));
        for (plugin, kind, other) in [
            ("acme", "rail.high", "acme"),
            ("acme", "rails.high", "acme.rail"),
            ("acme", "rail", "acme.rail"),
            // The one with the shorter id is it that may not.
            ("acme.rail", "high", "acme"),
            ("acme", "rail.high", "other.rail"),
        ] {
            assert!(!is_of(plugin, kind, other), "{plugin} {kind} {other}");
        }
    }
}
