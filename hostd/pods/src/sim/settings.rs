//! Stored settings as a pod shows them that was never registered: they can be read here, and changed
//! only where a real pod allows it, which is not on a connection of this kind.

use serde_json::{Value, json};

use super::args::Args;
use super::refuse::Refuse;

/// `cloud_status`: not registered.
pub(crate) fn cloud_status() -> Value {
    json!({"configured": false, "state": "disabled", "device_id": "", "last_error": "",
        "host": "", "port": 0, "tls": true, "verify": true})
}

/// `lan_policy`: open.
pub(crate) fn lan_policy(args: &Args<'_>) -> Result<Value, Refuse> {
    read_only(args, "lan_policy", "the cloud or the USB console")?;
    Ok(json!({"policy": "open"}))
}

/// `sig_policy`: signatures are noted, not enforced; there are no keys.
pub(crate) fn sig_policy(args: &Args<'_>) -> Result<Value, Refuse> {
    read_only(args, "sig_policy", "the cloud or the USB console")?;
    Ok(json!({"policy": "audit", "enforces": false, "keys": 0}))
}

/// `usb_network`: on.
pub(crate) fn usb_network(args: &Args<'_>) -> Result<Value, Refuse> {
    read_only(args, "usb_network", "USB")?;
    Ok(json!({"setting": "on"}))
}

fn read_only(args: &Args<'_>, command: &'static str, place: &'static str) -> Result<(), Refuse> {
    if args.has("set") {
        return Err(Refuse::Policy { command, place });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
