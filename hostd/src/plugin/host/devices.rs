//! `hostd:plugin/devices`: the devices that grant and caller have in common.

use plugins::interface::Interface;
use serde_json::{Value, json};
use wasmtime::component::{HasData, Resource, ResourceTable};

use super::{PluginLinker, offers, refusal, within};
use crate::host::bindings::hostd::host::devices::{Capabilities, Device, State, Transport};
use crate::host::door::Door;
use crate::host::{self, Context};
use crate::plugin::call::Acting;
use crate::services::Services;
use offers::devices::{Host, HostDevice};
use offers::types::Error;

/// Scope that everything here needs.
pub(super) const SCOPE: &str = "bench:control";

/// A device as it was when a plugin asked for it.
#[derive(Debug)]
#[expect(unreachable_pub, reason = "the generated code exports it once more")]
pub struct SeenDevice(Device);

/// What this interface gets of a call.
pub(super) struct View<'a> {
    acting: Acting<'a>,
    context: &'a Context,
    services: &'a Services,
    table: &'a mut ResourceTable,
}

impl HasData for View<'static> {
    type Data<'a> = View<'a>;
}

pub(super) fn link(linker: &mut PluginLinker) -> wasmtime::Result<()> {
    offers::devices::add_to_linker::<_, View<'static>>(linker, |state| {
        let call = &mut state.data;
        View {
            acting: Acting::new(&call.facts.id, &call.rights),
            context: &call.context,
            services: &call.services,
            table: &mut call.table,
        }
    })
}

impl Host for View<'_> {
    async fn list(&mut self) -> wasmtime::Result<Result<Vec<Resource<SeenDevice>>, Error>> {
        let devices = match self.all() {
            Ok(devices) => devices,
            Err(error) => return Ok(Err(error)),
        };
        let held = devices
            .into_iter()
            .map(|device| self.table.push(SeenDevice(device)));
        Ok(Ok(held.collect::<Result<_, _>>()?))
    }

    async fn get(
        &mut self,
        device: String,
    ) -> wasmtime::Result<Result<Resource<SeenDevice>, Error>> {
        match self.one(&device) {
            Ok(device) => Ok(Ok(self.table.push(SeenDevice(device))?)),
            Err(error) => Ok(Err(error)),
        }
    }

    async fn command(
        &mut self,
        device: String,
        command: String,
        timeout_ms: u32,
    ) -> wasmtime::Result<Result<String, Error>> {
        let acting = self.acting;
        if let Err(error) = acting.interface(Interface::Devices) {
            return Ok(Err(error));
        }
        let at = (self.context, self.services);
        Ok(send(&acting, at, &device, &command, timeout_ms).await)
    }
}

impl HostDevice for View<'_> {
    async fn id(&mut self, device: Resource<SeenDevice>) -> wasmtime::Result<String> {
        Ok(self.table.get(&device)?.0.id.clone())
    }

    async fn name(&mut self, device: Resource<SeenDevice>) -> wasmtime::Result<String> {
        Ok(self.table.get(&device)?.0.name.clone())
    }

    async fn state(&mut self, device: Resource<SeenDevice>) -> wasmtime::Result<String> {
        Ok(state(self.table.get(&device)?.0.state).to_owned())
    }

    async fn json(&mut self, device: Resource<SeenDevice>) -> wasmtime::Result<String> {
        Ok(described(&self.table.get(&device)?.0).to_string())
    }

    async fn drop(&mut self, device: Resource<SeenDevice>) -> wasmtime::Result<()> {
        self.table.delete(device)?;
        Ok(())
    }
}

impl View<'_> {
    fn all(&self) -> Result<Vec<Device>, Error> {
        self.acting.interface(Interface::Devices)?;
        self.acting.scope(SCOPE)?;
        let caller = self.context.caller.as_ref().ok_or_else(no_caller)?;
        let seen = self.services.devices.list(caller.org()).into_iter();
        Ok(seen
            .filter(|device| caller.may_use_id(&device.record.id))
            .filter(|device| self.acting.may_device(&device.record.id))
            .map(|device| host::devices::shown(self.services, &device))
            .collect())
    }

    fn one(&self, which: &str) -> Result<Device, Error> {
        self.acting.interface(Interface::Devices)?;
        self.acting.scope(SCOPE)?;
        let id = id_of(&self.acting, self.context, self.services, which)?;
        let device = Door::new(self.context, self.services).device(&id);
        let device = device.ok_or_else(|| unknown(which))?;
        Ok(host::devices::shown(self.services, &device))
    }
}

/// Send a command to a device that grant, caller and lease allow.
pub(super) async fn send(
    acting: &Acting<'_>,
    (context, services): (&Context, &Services),
    device: &str,
    command: &str,
    timeout_ms: u32,
) -> Result<String, Error> {
    acting.scope(SCOPE)?;
    let id = id_of(acting, context, services, device)?;
    let door = Door::new(context, services);
    let wait_ms = within(context, timeout_ms);
    // A plugin never changes a pod's settings or firmware, whoever calls it.
    let sent = host::pod::send(&door, &id, command, wait_ms, host::pod::Tier::Instrument).await;
    sent.map_err(|error| told(&error, device))
}

/// The id of the device with this id or name.
fn id_of(
    acting: &Acting<'_>,
    context: &Context,
    services: &Services,
    which: &str,
) -> Result<String, Error> {
    let door = Door::new(context, services);
    let found = door.device(which).or_else(|| door.device_named(which));
    let id = found.map(|device| device.record.id);
    id.filter(|id| acting.may_device(id))
        .ok_or_else(|| unknown(which))
}

fn no_caller() -> Error {
    refusal(
        "no_caller",
        "this request has no caller whose devices could be seen",
    )
}

pub(super) fn unknown(which: &str) -> Error {
    let shown: String = which.chars().take(64).collect();
    refusal(
        "not_found",
        format!("there is no device {shown:?} that both the plugin and its caller may use"),
    )
}

fn told(error: &host::pod::Error, device: &str) -> Error {
    use host::pod::Error as E;
    match error {
        E::NotFound => unknown(device),
        E::Offline => refusal(
            "device_offline",
            "the device is not connected; nothing was sent",
        ),
        E::Held(busy) => refusal("lease_held", held(busy)),
        E::NeedsTunnel => refusal(
            "needs_tunnel",
            "the command answers with a stream, which plugins cannot read",
        ),
        E::Invalid(why) => refusal("invalid", why.clone()),
        E::Forbidden => refusal(
            "forbidden",
            "plugins may not change a pod's settings or firmware; nothing was sent",
        ),
        E::Refused(why) => refusal("refused", why.clone()),
        E::TimedOut(ms) => refusal(
            "timeout",
            format!("no answer within {ms} ms; the command may still have run"),
        ),
        E::Protocol(why) => refusal("bad_answer", why.clone()),
        E::Other(why) => refusal("internal", why.clone()),
    }
}

fn held(busy: &crate::host::bindings::hostd::host::http_types::Busy) -> String {
    match &busy.holder {
        Some(holder) => format!(
            "{holder} has leased the device; retry in {} s, or show the lease in the request",
            busy.retry_after_s
        ),
        None => format!(
            "the device is being made safe; retry in {} s",
            busy.retry_after_s
        ),
    }
}

fn state(state: State) -> &'static str {
    match state {
        State::Online => "online",
        State::Offline => "offline",
        State::Updating => "updating",
        State::Quarantined => "quarantined",
        State::Degraded => "degraded",
    }
}

/// The members that docs/plugins.md lists.
fn described(device: &Device) -> Value {
    let missing = device.missing_parts.iter();
    let missing: Vec<Value> = missing
        .map(|part| json!({"part": part.part, "reason": part.reason}))
        .collect();
    json!({
        "id": device.id,
        "name": device.name,
        "online": device.online,
        "state": state(device.state),
        "transport": match device.transport {
            Transport::Usb => "usb",
            Transport::Tcp => "tcp",
            Transport::Dial => "dial",
            Transport::Sim => "sim",
            Transport::Parts => "parts",
        },
        "serial": device.serial,
        "board": device.board,
        "firmware_version": device.firmware_version,
        "capabilities": capabilities(&device.capabilities),
        "missing_parts": missing,
        "lease": device.lease.as_ref().map(|lease| json!({
            "holder": lease.holder,
            "expires_at": lease.expires_at,
        })),
        "last_active_at": device.last_active_at,
    })
}

/// What the board can do; null = its pod has not said.
fn capabilities(known: &Capabilities) -> Value {
    json!({
        "ac_dac": known.ac_dac,
        "adc": known.adc,
        "can": known.can,
        "capture_trigger": known.capture_trigger,
        "capture_pre_samples": known.capture_pre_samples,
        "capture_stream": known.capture_stream,
        "trigger_pulse": known.trigger_pulse,
        "trigger_pattern": known.trigger_pattern,
        "trigger_level": known.trigger_level,
        "cmsis_dap": known.cmsis_dap,
        "dac": known.dac,
        "i2c_sensor": known.i2c_sensor,
        "la_channels": known.la_channels,
        "la_max_samples": known.la_max_samples,
        "ota": known.ota,
        "power_profile": known.power_profile,
        "spi": known.spi,
        "uart": known.uart,
    })
}
