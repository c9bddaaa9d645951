//! Commands about the pod itself rather than its instrument: identity, stored settings, updates.

use super::access::Peer;
use super::args::Args;
use super::commands::Next;
use super::refuse::Refuse;
use super::speedtest::Speedtest;
use super::update::{self, Committed};
use super::world::World;
use super::{identity, settings, tls};

/// Runs such a command. This is the end of the chain: what is not here does not exist.
pub(crate) fn dispatch(
    world: &mut World,
    verb: &str,
    args: &Args<'_>,
    peer: Peer,
    now_ns: u64,
) -> Result<Next, Refuse> {
    let data = match verb {
        "identity_public" => identity::public(world.config.seed),
        "identity_pop" => identity::prove(args, world.config.seed)?,
        "identity_wipe" => return Err(Refuse::NoWipe),
        "cloud_status" => settings::cloud_status(world, now_ns),
        "cloud_set" => settings::cloud_set(world, args, now_ns)?,
        "cloud_clear" => settings::cloud_clear(world),
        "cloud_ca" => settings::cloud_ca(world, args, peer)?,
        "cloud_proxy" => settings::cloud_proxy(world, args, peer)?,
        "wifi_status" => settings::wifi_status(world, now_ns),
        "wifi_set" => settings::wifi_set(world, args, now_ns)?,
        "wifi_clear" => settings::wifi_clear(world),
        "eth" => settings::eth(world, args)?,
        "lan_policy" => settings::lan_policy(world, args, peer)?,
        "sig_policy" => settings::sig_policy(world, args, peer)?,
        "usb_network" => settings::usb_network(world, args, peer)?,
        "lan_tls" => tls::lan_tls(world, args, peer)?,
        "blob_status" => world.settings.blobs.status(),
        "ota_status" => world.update.session(),
        "ota_begin" => update::begin(world, args, peer, now_ns)?,
        "ota_data" => update::data(world, args, peer, now_ns)?,
        "ota_end" => update::end(world, peer, now_ns)?,
        "ota_abort" => update::abort(world, peer, now_ns)?,
        "ota_selftest" => update::selftest(),
        "ota_commit" => {
            return Ok(match update::commit(world, peer, now_ns)? {
                Committed::Session(data) => Next::Reply(data),
                Committed::Reboot(data) => Next::Reboot(data),
            });
        }
        "speedtest" => return Speedtest::from_args(args, peer).map(Next::Speedtest),
        _ => return Err(Refuse::UnknownCommand),
    };
    Ok(Next::Reply(data))
}
