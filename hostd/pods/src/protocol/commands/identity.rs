//! Who the pod is and how it is.

use super::{Command, Group, Tier};

pub(super) const GROUP: Group = Group {
    title: "Identity and housekeeping",
    commands: &[
        Command::light("ping", "Says that the pod is there.").in_safe_mode(),
        Command::light("status", "What the pod is, what it can do and how it is.").in_safe_mode(),
        Command::light("identity_public", "The pod's public key.").in_safe_mode(),
        Command::light(
            "identity_pop",
            "Signs a nonce with the pod's key: proof of possession.",
        )
        .in_safe_mode(),
        Command::light(
            "identity_wipe",
            "Always refused: only the USB console wipes the key.",
        )
        .in_safe_mode(),
        Command::light("blob_status", "The images in the pod's flash.").in_safe_mode(),
        Command::new(
            "speedtest",
            Tier::Instrument,
            "Measures a tunnel's throughput.",
        )
        .raw("bytes one way"),
    ],
};
