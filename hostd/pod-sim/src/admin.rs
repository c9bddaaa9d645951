//! Commands about the pod itself rather than its instrument: identity, stored settings, updates.

use super::access::Peer;
use super::args::Args;
use super::next::Next;
use super::refuse::Refuse;
use super::speedtest::Speedtest;
use super::update::{self, Committed};
use super::world::World;
use super::{identity, settings};

/// Runs such a command. This is the end of the chain: a command that is not here does not exist.
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
        "cloud_status" => settings::cloud_status(&world.settings, now_ns),
        "cloud_set" => settings::cloud_set(&mut world.settings, args, now_ns)?,
        "cloud_clear" => settings::cloud_clear(&mut world.settings),
        "cloud_ca" => settings::cloud_ca(&mut world.settings, args, peer)?,
        "cloud_proxy" => settings::cloud_proxy(&mut world.settings, args, peer)?,
        "wifi_status" => settings::wifi_status(&world.settings, now_ns),
        "wifi_set" => settings::wifi_set(&mut world.settings, args, now_ns)?,
        "wifi_clear" => settings::wifi_clear(&mut world.settings),
        "eth" => settings::eth(&mut world.settings, args)?,
        "lan_policy" => settings::lan_policy(&mut world.settings, args, peer)?,
        "sig_policy" => settings::sig_policy(
            &mut world.settings,
            world.config.update_keys.len(),
            args,
            peer,
        )?,
        "usb_network" => settings::usb_network(&mut world.settings, args, peer)?,
        "lan_tls" => {
            let sessions = world.access.tls_sessions();
            settings::lan_tls(&mut world.settings, &world.config, sessions, args, peer)?
        }
        "blob_status" => world.settings.blobs.status(),
        "ota_status" => world.update.session(),
        "ota_begin" => {
            let is_held = world.capture_is_held();
            update::begin(
                &mut world.update,
                &world.config,
                is_held,
                args,
                peer,
                now_ns,
            )?
        }
        "ota_data" => update::data(&mut world.update, args, peer, now_ns)?,
        "ota_end" => {
            let flash_kb = world.config.flash_kb;
            update::end(&mut world.update, &world.settings, flash_kb, peer, now_ns)?
        }
        "ota_abort" => update::abort(&mut world.update, peer, now_ns)?,
        "ota_selftest" => update::selftest(),
        "ota_commit" => {
            return Ok(
                match update::commit(&mut world.update, &mut world.settings, peer, now_ns)? {
                    Committed::Session(data) => Next::Reply(data),
                    Committed::Reboot(data) => Next::Reboot(data),
                },
            );
        }
        "speedtest" => return Speedtest::from_args(args, peer).map(Next::Speedtest),
        _ => return Err(Refuse::UnknownCommand),
    };
    Ok(Next::Reply(data))
}
