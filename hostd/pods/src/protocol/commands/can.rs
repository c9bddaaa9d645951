//! CAN.

use super::{Command, Group, Tier};

pub(super) const GROUP: Group = Group {
    title: "CAN",
    commands: &[
        Command::new("can_config", Tier::Instrument, "Starts the controller.").in_safe_mode(),
        Command::new("can_write", Tier::Instrument, "Sends a frame.").in_safe_mode(),
        Command::new("can_read", Tier::Read, "Takes received frames.").in_safe_mode(),
        Command::light("can_status", "The controller and its counters.").in_safe_mode(),
        Command::new("can_term", Tier::Instrument, "Switches the termination.").in_safe_mode(),
        Command::new(
            "can_respond",
            Tier::Instrument,
            "Adds a rule of the responder, or clears all.",
        )
        .in_safe_mode(),
        Command::new("can_disable", Tier::Instrument, "Stops the controller.").in_safe_mode(),
    ],
};
