//! Target power, its monitors, reset and USB-C.

use super::{Command, Gate, Group, OwnConnection, Tier};

pub(super) const GROUP: Group = Group {
    title: "Target power, reset and USB-C",
    commands: &[
        Command::new(
            "target_power",
            Tier::Instrument,
            "Switches a rail of the target, now or later.",
        )
        .in_safe_mode(),
        Command::light("target_status", "The switches of both rails.").in_safe_mode(),
        Command::light(
            "power_status",
            "Voltage and current of both rails and of the pod.",
        )
        .in_safe_mode(),
        Command::new(
            "nrst",
            Tier::Instrument,
            "Holds, releases or pulses the target's reset line.",
        )
        .gates(&[Gate::BoardV3])
        .waits(&["pulse_ms"])
        .in_safe_mode(),
        Command::light("usb_cc", "What the source behind the USB-C plug offers.")
            .gates(&[Gate::BoardV3]),
        Command::new(
            "power_profile",
            Tier::Instrument,
            "Samples a rail's current and voltage over time.",
        )
        .chunks(&[])
        .own_connection(OwnConnection::Unless("action", &["start", "status"]))
        .waits(&["duration_ms"]),
    ],
};
