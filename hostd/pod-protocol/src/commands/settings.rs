//! Stored settings: network, cloud, policies.

use super::{Change, Command, Data, Denied, Example, Field, Group, Kind, Out, Shape, Tier};

const CLOUD: &[Out] = &[
    Out::bool("configured", "the pod is registered"),
    Out::text(
        "state",
        "`disabled`, `waiting-wifi`, `connecting`, `connected` or `backoff`",
    ),
    Out::text("device_id", "its id there; empty: not registered"),
    Out::text("last_error", "why the last attempt failed"),
    Out::text("host", "where the cloud is"),
    Out::int("port", "its port"),
    Out::bool("tls", "the link is encrypted"),
    Out::bool("verify", "the certificate is checked"),
];

const CLOUD_SET: &[Field] = &[
    Field::text("host", "where the cloud is").required(),
    Field::text("device_id", "the pod's id there").required(),
    Field::int("port", 1, 65_535, "its port").or("443"),
    Field::flag("tls", "encrypt the link; release firmware refuses false").or("true"),
    Field::flag("enabled", "connect").or("true"),
];

const TLS: &[Out] = &[
    Out::int("port", "where TLS is offered"),
    Out::bool("https_only", "the plain port is closed"),
    Out::int("sessions", "open ones"),
    Out::text(
        "origin",
        "`generated` by the pod or installed by its `user`",
    ),
    Out::text("key", "kind of key"),
    Out::text("subject", "the certificate's subject"),
    Out::new("san", Shape::Texts, "its names"),
    Out::text("not_after", "when it ends"),
    Out::text("sha256", "hash of its DER form in hex, which clients pin"),
    Out::text("error", "why there is none; empty when all is well"),
];

const CERT: &[Out] = &[
    Out::text("subject", "of the certificate"),
    Out::text("sha256", "hash of its DER form in hex"),
];

pub(super) const GROUP: Group = Group {
    title: "Stored settings",
    commands: &[
        Command::light("cloud_status", "The link to the cloud.")
            .in_safe_mode()
            .data(Data::Object(CLOUD))
            .examples(&[Example::new(r#"{"cmd":"cloud_status"}"#)]),
        Command::new("cloud_set", Tier::Settings, "Stores where the cloud is; the pod connects anew after the reply.")
            .in_safe_mode()
            .fields(CLOUD_SET)
            .data(Data::Object(CLOUD))
            .examples(&[Example::new(r#"{"cmd":"cloud_set","host":"cloud.example","device_id":"b1"}"#)]),
        Command::new("cloud_clear", Tier::Settings, "Forgets the cloud.")
            .in_safe_mode()
            .data(Data::Text("cleared"))
            .examples(&[Example::new(r#"{"cmd":"cloud_clear"}"#)]),
        Command::read_or_set("cloud_ca", &[Change::Set("clear")], "Reads or clears the company CA for the cloud's certificate; it is installed as an update of target `ca`.")
            .in_safe_mode()
            .fields(&[Field::flag("clear", "forget it; never from the LAN")])
            .data(Data::Object(&[
                Out::bool("present", "there is one"),
                Out::new("certs", Shape::Objects(CERT), "its certificates"),
            ]))
            .denials(&[Denied::new("cloud_ca: change it from the cloud", "cleared from the LAN", &[r#"{"cmd":"cloud_ca","clear":true}"#])])
            .examples(&[Example::new(r#"{"cmd":"cloud_ca"}"#)]),
        Command::read_or_set("cloud_proxy", &[Change::Given("set"), Change::Set("clear")], "Reads, sets or clears the proxy to the cloud.")
            .in_safe_mode()
            .fields(&[
                Field::text("set", "`host:port`; never from the LAN"),
                Field::text("user", "its user"),
                Field::text("password", "its password; never read back"),
                Field::flag("clear", "forget it; never from the LAN"),
            ])
            .data(Data::Object(&[
                Out::text("host", "the proxy").when("with a proxy"),
                Out::int("port", "its port").when("with a proxy"),
                Out::bool("auth", "it takes a user").when("with a proxy"),
            ]))
            .denials(&[Denied::new("cloud_proxy: change it from the cloud", "set or cleared from the LAN", &[r#"{"cmd":"cloud_proxy","set":"proxy:3128"}"#])])
            .examples(&[Example::new(r#"{"cmd":"cloud_proxy"}"#)]),
        Command::light("wifi_status", "The wireless link.")
            .in_safe_mode()
            .data(Data::Object(&[
                Out::text("state", "`disabled`, `starting`, `waiting-slave`, `flashing-c3`, `connecting`, `connected` or `backoff`"),
                Out::bool("configured", "a network is stored"),
                Out::bool("connected", "the link is up"),
                Out::text("ssid", "the stored network"),
            ]))
            .examples(&[Example::new(r#"{"cmd":"wifi_status"}"#)]),
        Command::new("wifi_set", Tier::Settings, "Stores a wireless network.")
            .in_safe_mode()
            .fields(&[
                Field::text("ssid", "its name").required(),
                Field::text("password", "its password; never read back").or("an open network"),
            ])
            .data(Data::Object(&[Out::text("ssid", "the stored name")]))
            .examples(&[Example::new(r#"{"cmd":"wifi_set","ssid":"bench","password":"correct horse"}"#)]),
        Command::new("wifi_clear", Tier::Settings, "Forgets the wireless network.")
            .in_safe_mode()
            .data(Data::Text("cleared"))
            .examples(&[Example::new(r#"{"cmd":"wifi_clear"}"#)]),
        Command::read_or_set("eth", &[Change::Unless("action", &["stats", "refclk"])], "Reads or changes the wired link; the data is a string or an object of the maker's choice.")
            .in_safe_mode()
            .fields(&[
                Field::word("action", &["stats", "refclk", "stop", "start", "restart", "speed", "loopback"], "what to do").required(),
                Field::new("mbit", Kind::OneOf(&[10, 100]), "speed to force").unit("Mbit/s"),
                Field::word("duplex", &["half", "full"], "duplex to force"),
                Field::int("n", 1, 1000, "frames to loop back"),
            ]),
        Command::read_or_set("usb_network", &[Change::Given("set")], "Reads or sets whether the USB port is a network adapter.")
            .in_safe_mode()
            .fields(&[Field::word("set", &["on", "off"], "only over the USB link")])
            .data(Data::Object(&[Out::text("setting", "`on` or `off`")]))
            .denials(&[Denied::new("usb_network: change it on the device", "set over another link", &[r#"{"cmd":"usb_network","set":"off"}"#])])
            .examples(&[Example::new(r#"{"cmd":"usb_network"}"#)]),
        Command::read_or_set("lan_tls", &[Change::Given("https_only"), Change::Set("regenerate")], "Reads or changes the certificate of the LAN listener.")
            .in_safe_mode()
            .fields(&[
                Field::flag("https_only", "close the plain port"),
                Field::flag("regenerate", "make a new key and certificate"),
            ])
            .data(Data::Object(TLS))
            .denials(&[Denied::new("lan_tls: change it over TLS (port 8443), over USB or from the cloud", "regenerated, or the plain port opened, in plaintext", &[r#"{"cmd":"lan_tls","regenerate":true}"#])])
            .examples(&[Example::new(r#"{"cmd":"lan_tls"}"#)]),
        Command::read_or_set("lan_policy", &[Change::Given("set")], "Reads or sets what the LAN may do.")
            .in_safe_mode()
            .fields(&[Field::word("set", &["open", "locked", "off"], "never from the LAN")])
            .data(Data::Object(&[Out::text("policy", "`open`, `locked` (no settings, no firmware) or `off` (no listener)")]))
            .denials(&[Denied::new("lan_policy: change it from the cloud or the USB console", "set from the LAN", &[r#"{"cmd":"lan_policy","set":"off"}"#])])
            .examples(&[Example::new(r#"{"cmd":"lan_policy"}"#)]),
        Command::read_or_set("sig_policy", &[Change::Given("set")], "Reads or sets whether firmware must be signed.")
            .in_safe_mode()
            .fields(&[Field::word("set", &["audit", "permissive", "required"], "the cloud may only tighten; never from the LAN")])
            .data(Data::Object(&[
                Out::text("policy", "`audit`, `permissive` or `required`"),
                Out::bool("enforces", "unsigned images are refused"),
                Out::int("keys", "trusted keys"),
            ]))
            .denials(&[Denied::new("sig_policy: change it from the cloud or the USB console", "set from the LAN", &[r#"{"cmd":"sig_policy","set":"required"}"#])])
            .examples(&[Example::new(r#"{"cmd":"sig_policy"}"#)]),
    ],
};
