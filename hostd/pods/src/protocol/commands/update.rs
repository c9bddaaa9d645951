//! Updates of firmware, gateware and certificates.

use super::{Command, Group, Tier};

pub(super) const GROUP: Group = Group {
    title: "Updates",
    commands: &[
        Command::new("ota_begin", Tier::Firmware, "Begins an update."),
        Command::new("ota_data", Tier::Firmware, "A piece of the image."),
        Command::new("ota_end", Tier::Firmware, "Checks the image that was sent."),
        Command::new("ota_commit", Tier::Firmware, "Installs the checked image."),
        Command::new("ota_abort", Tier::Firmware, "Drops the update."),
        Command::light("ota_status", "The update session."),
        Command::new(
            "ota_selftest",
            Tier::Firmware,
            "Says that the new firmware works.",
        ),
    ],
};
