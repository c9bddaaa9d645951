//! The gates between a command and the instrument, in the order in which they are checked.

use pod_protocol::commands::Tier;
use pod_protocol::commands::{find, tier_of};

use super::World;
use crate::access::{Origin, Peer};
use crate::args::Args;
use crate::refuse::Refuse;
use crate::settings::LanPolicy;

impl World {
    /// A connection has ended.
    pub(crate) fn leave(&mut self, peer: Peer) {
        self.access.leave(peer);
        self.update.vacate(peer);
    }

    /// Whether there is a listener for connections of this origin.
    pub(crate) fn admits(&self, origin: Origin) -> bool {
        match origin {
            Origin::Lan => self.settings.lan != LanPolicy::Off && !self.settings.https_only,
            Origin::LanTls => self.settings.lan != LanPolicy::Off,
            Origin::Usb | Origin::Tunnel(_) => true,
        }
    }

    /// Whether a request may run. The first closed gate answers.
    pub(crate) fn gate(
        &self,
        verb: &str,
        args: &Args<'_>,
        peer: Peer,
        now_ns: u64,
    ) -> Result<(), Refuse> {
        let command = || verb.to_owned();
        let tier = tier_of(args.0);
        let described = find(verb);
        let lan = peer.origin.is_lan();
        if lan && self.settings.lan != LanPolicy::Open && tier >= Tier::Settings {
            let command = command();
            return Err(Refuse::Locked { command });
        }
        let light = described.is_some_and(|command| command.is_light_read(args.0));
        if let Some((holder, left_s)) = self.access.held(now_ns)
            && lan
            && !light
        {
            let holder = holder.to_owned();
            return Err(Refuse::Leased { holder, left_s });
        }
        if let Origin::Tunnel(allowed) = peer.origin
            && tier > allowed
        {
            return Err(Refuse::Forbidden {
                command: command(),
                tier: tier.number(),
                allowed: allowed.number(),
            });
        }
        let safe = described.is_some_and(|command| command.safe_mode);
        if self.access.is_safe() && !safe {
            let command = command();
            return Err(Refuse::SafeMode { command });
        }
        let analog = described.is_some_and(|command| command.needs_analog(args.0));
        if analog && !self.config.board.is_analog() {
            let command = command();
            return Err(Refuse::NoAnalog { command });
        }
        Ok(())
    }
}
