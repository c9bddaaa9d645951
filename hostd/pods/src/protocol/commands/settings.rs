//! Stored settings: network, cloud, policies.

use super::{Change, Command, Group, Tier};

pub(super) const GROUP: Group = Group {
    title: "Stored settings",
    commands: &[
        Command::light("cloud_status", "The link to the cloud.").in_safe_mode(),
        Command::new(
            "cloud_set",
            Tier::Settings,
            "Stores where the cloud is; the pod connects anew.",
        )
        .in_safe_mode(),
        Command::new("cloud_clear", Tier::Settings, "Forgets the cloud.").in_safe_mode(),
        Command::read_or_set(
            "cloud_ca",
            &[Change::Set("clear")],
            "The company CA for the cloud's certificate.",
        )
        .in_safe_mode(),
        Command::read_or_set(
            "cloud_proxy",
            &[Change::Given("set"), Change::Set("clear")],
            "The proxy to the cloud.",
        )
        .in_safe_mode(),
        Command::light("wifi_status", "The wireless link.").in_safe_mode(),
        Command::new("wifi_set", Tier::Settings, "Stores a wireless network.").in_safe_mode(),
        Command::new(
            "wifi_clear",
            Tier::Settings,
            "Forgets the wireless network.",
        )
        .in_safe_mode(),
        Command::read_or_set(
            "eth",
            &[Change::Unless("action", &["stats", "refclk"])],
            "The wired link.",
        )
        .in_safe_mode(),
        Command::read_or_set(
            "usb_network",
            &[Change::Given("set")],
            "Whether the USB port is a network adapter.",
        )
        .in_safe_mode(),
        Command::read_or_set(
            "lan_tls",
            &[Change::Given("https_only"), Change::Set("regenerate")],
            "The certificate of the LAN listener.",
        )
        .in_safe_mode(),
        Command::read_or_set(
            "lan_policy",
            &[Change::Given("set")],
            "What the LAN may do.",
        )
        .in_safe_mode(),
        Command::read_or_set(
            "sig_policy",
            &[Change::Given("set")],
            "Whether firmware must be signed.",
        )
        .in_safe_mode(),
    ],
};
