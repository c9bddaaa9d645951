//! Plugins of the server.

use std::fs;

use tests::package;
use tests::server::binary;

use crate::call::{Rows, call, rows};

/// Media type of packages.
pub(crate) const TAR: &str = "application/x-tar";

/// A version of the plugin that tests have, under the id `id`.
pub(crate) fn packed(id: &str, version: &str) -> Vec<u8> {
    let handlers = binary().unwrap().parent().unwrap().join("../handlers");
    let component = fs::read(handlers.join("guests/plugin.wasm")).unwrap();
    let manifest = package::patient(&format!(
        "[plugin]\nid = \"{id}\"\nversion = \"{version}\"\napi = \"1.0\"\n[wants]\ninterfaces = [\"store\"]\npublic = true\n\
         [limits]\nin_flight = 1\n\
         [config.greeting]\ntype = \"string\"\ndefault = \"hello\"\n"
    ));
    let mut tape = tar::Builder::new(Vec::new());
    for (name, bytes) in [
        ("plugin.toml", manifest.as_bytes()),
        ("plugin.wasm", &component),
    ] {
        let mut header = tar::Header::new_ustar();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        header.set_entry_type(tar::EntryType::Regular);
        tape.append_data(&mut header, name, bytes).unwrap();
    }
    tape.into_inner().unwrap()
}

pub(super) fn all() -> Vec<Rows> {
    let package: &'static [u8] = packed("test.dropped", "1.0.0").leak();
    vec![
        rows("plugins.list").success(200, call("/plugins")),
        rows("plugins.install")
            .success(200, call("/plugins").bytes(TAR, package))
            .refusal(422, "plugin_refused", call("/plugins").bytes(TAR, b"none")),
        rows("plugins.get")
            .success(200, call("/plugins/<new-name.plugin>"))
            .refusal(404, "not_found", call("/plugins/<missing>")),
        rows("plugins.remove")
            .success(204, call("/plugins/<new-name.plugin>"))
            .success(204, call("/plugins/<new-name.plugin>?data=true"))
            .refusal(404, "not_found", call("/plugins/<missing>")),
        rows("plugins.approve")
            .success(200, call("/plugins/<new-name.plugin>/approve").json("{}"))
            .success(200, call("/plugins/<new-name.plugin>/approve"))
            .success(
                200,
                call("/plugins/<new-name.plugin>/approve")
                    .json(r#"{"interfaces":["store"],"devices":["demo"]}"#),
            )
            .refusal(
                422,
                "plugin_refused",
                call("/plugins/<new-name.plugin>/approve").json(r#"{"interfaces":["nothing"]}"#),
            )
            .refusal(
                400,
                "invalid_request",
                call("/plugins/<new-name.plugin>/approve")
                    .json(r#"{"devices":["demo"],"all_devices":true}"#),
            )
            .refusal(
                404,
                "not_found",
                call("/plugins/<missing>/approve").json("{}"),
            ),
        rows("plugins.revoke")
            .success(200, call("/plugins/<new-name.plugin>/revoke").json("{}"))
            .refusal(
                404,
                "not_found",
                call("/plugins/<missing>/revoke").json("{}"),
            ),
        rows("plugins.configure")
            .success(
                200,
                call("/plugins/<new-name.plugin>/configure")
                    .json(r#"{"values":{"greeting":"hi"}}"#),
            )
            .refusal(
                422,
                "plugin_refused",
                call("/plugins/<new-name.plugin>/configure").json(r#"{"values":{"other":1}}"#),
            )
            .refusal(
                404,
                "not_found",
                call("/plugins/<missing>/configure").json("{}"),
            ),
        rows("plugins.enable")
            .success(200, call("/plugins/<new-name.plugin>/enable"))
            .refusal(404, "not_found", call("/plugins/<missing>/enable")),
        rows("plugins.disable")
            .success(200, call("/plugins/<new-name.plugin>/disable"))
            .refusal(404, "not_found", call("/plugins/<missing>/disable")),
        rows("plugins.rollback")
            .success(200, call("/plugins/<new-name.plugin>/rollback"))
            .refusal(404, "not_found", call("/plugins/<missing>/rollback")),
        rows("plugins.logs")
            .success(200, call("/plugins/<new-name.plugin>/logs"))
            .success(200, call("/plugins/<new-name.plugin>/logs?from=3"))
            .refusal(404, "not_found", call("/plugins/<missing>/logs")),
    ]
}
