//! `hostd:plugin/power`: the rails of a device's target, over the pod's own commands.

use plugins::interface::Interface;
use serde_json::{Value, json};
use wasmtime::component::HasData;

use super::{PluginLinker, devices, offers, refusal};
use crate::host::Context;
use crate::plugin::call::Acting;
use crate::services::Services;
use offers::power::{Host, Rail};
use offers::types::Error;

/// How long a pod may take for one of these commands.
const WAIT_MS: u32 = 5_000;

/// Rails by number, and what the pod's answers call them.
const RAILS: [(u8, &str, &str); 2] = [(1, "efuse1", "internal"), (2, "efuse2", "external")];

/// What this interface gets of a call.
pub(super) struct View<'a> {
    acting: Acting<'a>,
    context: &'a Context,
    services: &'a Services,
}

impl HasData for View<'static> {
    type Data<'a> = View<'a>;
}

pub(super) fn link(linker: &mut PluginLinker) -> wasmtime::Result<()> {
    offers::power::add_to_linker::<_, View<'static>>(linker, |state| View {
        acting: state.data.acting(),
        context: &state.data.context,
        services: &state.data.services,
    })
}

impl Host for View<'_> {
    async fn rails(&mut self, device: String) -> wasmtime::Result<Result<Vec<Rail>, Error>> {
        Ok(self.look(&device).await)
    }

    async fn switch(
        &mut self,
        device: String,
        rail: u8,
        on: bool,
    ) -> wasmtime::Result<Result<(), Error>> {
        Ok(self.set(&device, rail, on).await)
    }
}

impl View<'_> {
    async fn look(&self, device: &str) -> Result<Vec<Rail>, Error> {
        self.acting.interface(Interface::Power)?;
        let switches = self.ask(device, &json!({"cmd": "target_status"})).await?;
        let monitors = self.ask(device, &json!({"cmd": "power_status"})).await?;
        Ok(rails(&switches, &monitors))
    }

    async fn set(&self, device: &str, rail: u8, on: bool) -> Result<(), Error> {
        self.acting.interface(Interface::Power)?;
        if !RAILS.iter().any(|(id, ..)| *id == rail) {
            return Err(refusal(
                "invalid",
                format!("rail must be 1 or 2, not {rail}"),
            ));
        }
        let command = json!({"cmd": "target_power", "efuse": rail, "state": u8::from(on)});
        self.ask(device, &command).await.map(|_| ())
    }

    async fn ask(&self, device: &str, command: &Value) -> Result<Value, Error> {
        let at = (self.context, self.services);
        let told = devices::send(&self.acting, at, device, &command.to_string(), WAIT_MS).await?;
        serde_json::from_str(&told)
            .map_err(|e| refusal("bad_answer", format!("the pod's answer is not JSON: {e}")))
    }
}

/// What the pod's two answers say of its rails; a rail that neither names is left out.
fn rails(switches: &Value, monitors: &Value) -> Vec<Rail> {
    let is_set = |value: &Value| value.as_bool().unwrap_or(value.as_i64().unwrap_or(0) != 0);
    let rail = |&(id, switch, monitor): &(u8, &str, &str)| {
        let switch = switches.get(switch)?;
        let measured = monitors.get(monitor).filter(|m| is_set(&m["ok"]));
        Some(Rail {
            id,
            on: is_set(&switch["enabled"]),
            fault: is_set(&switch["fault"]),
            millivolts: measured.and_then(|m| m["bus_mv"].as_i64()),
            microamperes: measured.and_then(|m| m["current_ua"].as_i64()),
            extra: Vec::new(),
        })
    };
    RAILS.iter().filter_map(rail).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rails_come_from_switches_and_monitors() {
        let switches = json!({"efuse1": {"enabled": 1, "fault": 0, "valid": 1}, "efuse2": {"enabled": 0, "fault": 1}});
        let monitors = json!({"internal": {"ok": true, "bus_mv": 4990, "current_ua": 12000}, "external": {"ok": false, "bus_mv": 0, "current_ua": 0}});
        let seen = rails(&switches, &monitors);
        assert_eq!(seen.len(), 2);
        assert!(seen[0].on && !seen[0].fault && seen[0].millivolts == Some(4990));
        assert!(!seen[1].on && seen[1].fault && seen[1].microamperes.is_none());
        assert!(rails(&json!({}), &monitors).is_empty());
    }
}
