//! Devices: what they are, their wiring, commands to them.

use crate::call::{Rows, call, rows};

pub(super) fn all() -> Vec<Rows> {
    vec![
        rows("devices.list")
            .success(200, call("/bench/devices"))
            .success(200, call("/bench/devices?text=demo&online=true"))
            .refusal(400, "invalid_request", call("/bench/devices?online=1")),
        rows("devices.register")
            .success(
                201,
                call("/bench/devices").json(
                    r#"{"name":"afar","public_key":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#,
                ),
            )
            .success(
                200,
                call("/bench/devices").json(
                    r#"{"name":"again","public_key":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#,
                ),
            )
            .refusal(
                409,
                "name_taken",
                call("/bench/devices").json(
                    r#"{"name":"demo","public_key":"ebVWLo_mVPlAeLES6KmLp5AfhTrmlb7X4OORC60ElmQ"}"#,
                ),
            )
            .refusal(
                400,
                "invalid_request",
                call("/bench/devices").json(
                    r#"{"name":"none","public_key":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}"#,
                ),
            ),
        rows("devices.get")
            .success(200, call("/bench/devices/<device>"))
            .success(200, call("/bench/devices/<gone>"))
            .refusal(404, "not_found", call("/bench/devices/<missing>")),
        rows("devices.telemetry")
            .success(200, call("/bench/devices/<device>/telemetry"))
            .success(
                200,
                call("/bench/devices/<gone>/telemetry?from=1767323045000&points=1"),
            )
            .refusal(404, "not_found", call("/bench/devices/<missing>/telemetry")),
        rows("devices.lease_take")
            .success(200, call("/bench/devices/<lent>/lease"))
            .success(
                200,
                call("/bench/devices/<lent>/lease").json(r#"{"ttl_seconds":600,"queue":true}"#),
            )
            .refusal(409, "lease_held", call("/bench/devices/<leased>/lease"))
            .refusal(404, "not_found", call("/bench/devices/<missing>/lease")),
        rows("devices.lease_end")
            .success(200, call("/bench/devices/<lent>/lease"))
            .success(200, call("/bench/devices/<leased>/lease"))
            .refusal(
                409,
                "lease_held",
                call("/bench/devices/<leased>/lease?holder=somebody"),
            )
            .refusal(404, "not_found", call("/bench/devices/<missing>/lease")),
        rows("devices.update")
            .success(
                200,
                call("/bench/devices/<digital>").json(r#"{"wiring":{"uart_rx":3,"uart_tx":4}}"#),
            )
            .success(
                200,
                call("/bench/devices/<digital>").json(r#"{"name":"digital"}"#),
            )
            .refusal(
                409,
                "name_taken",
                call("/bench/devices/<digital>").json(r#"{"name":"demo"}"#),
            )
            .refusal(
                400,
                "invalid_request",
                call("/bench/devices/<digital>").json(r#"{"name":"a b"}"#),
            )
            .refusal(
                404,
                "not_found",
                call("/bench/devices/<missing>").json(r#"{"name":"x"}"#),
            ),
        rows("devices.remove")
            .success(204, call("/bench/devices/<removable>"))
            .refusal(404, "not_found", call("/bench/devices/<missing>")),
        // As the rows before have left it.
        rows("devices.admit")
            .success(
                200,
                call("/bench/devices/admit").json(r#"{"device":"<tombstone>"}"#),
            )
            .refusal(
                409,
                "name_taken",
                call("/bench/devices/admit").json(r#"{"device":"<replaced>"}"#),
            )
            .refusal(
                404,
                "not_found",
                call("/bench/devices/admit").json(r#"{"device":"<missing>"}"#),
            ),
        rows("devices.command")
            .success(
                200,
                call("/bench/devices/<device>/command").json(
                    r#"{"command":{"cmd":"target_power","efuse":1,"state":0},"timeout_ms":5000}"#,
                ),
            )
            // A refusal by the pod itself is not an error of the API.
            .success(
                200,
                call("/bench/devices/<digital>/command").json(r#"{"command":{"cmd":"adc_read"}}"#),
            )
            .refusal(
                400,
                "needs_tunnel",
                call("/bench/devices/<device>/command").json(r#"{"command":{"cmd":"la_capture"}}"#),
            )
            .refusal(
                400,
                "invalid_request",
                call("/bench/devices/<device>/command").json(r#"{"command":{"cmd":"target_powr"}}"#),
            )
            .refusal(
                400,
                "not_capable",
                call("/bench/devices/<digital>/command")
                    .json(r#"{"command":{"cmd":"generate","waveform":"sine","freq":1000}}"#),
            )
            .refusal(
                409,
                "lease_held",
                call("/bench/devices/<leased>/command")
                    .json(r#"{"command":{"cmd":"target_power","efuse":1,"state":1}}"#),
            )
            .refusal(
                503,
                "device_offline",
                call("/bench/devices/<gone>/command").json(r#"{"command":{"cmd":"ping"}}"#),
            ),
        rows("devices.flashable")
            .success(200, call("/bench/devices/<device>/flashable-artifacts"))
            .refusal(
                400,
                "invalid_request",
                call("/bench/devices/<device>/flashable-artifacts?limit=0"),
            )
            .refusal(
                404,
                "not_found",
                call("/bench/devices/<missing>/flashable-artifacts"),
            ),
        rows("devices.wiring")
            .success(200, call("/bench/devices/<device>/wiring/profile"))
            .refusal(
                404,
                "not_found",
                call("/bench/devices/<missing>/wiring/profile"),
            ),
        rows("devices.wiring_put")
            .success(
                200,
                call("/bench/devices/<digital>/wiring")
                    .json(r#"{"uart_rx":3,"uart_tx":4,"uart_baud":115200}"#),
            )
            .refusal(
                400,
                "invalid_request",
                call("/bench/devices/<digital>/wiring").json(r#"{"uart_rx":99}"#),
            ),
        rows("devices.uart")
            .success(101, call("/bench/devices/<digital>/uart/ws?rx=3&tx=4"))
            .refusal(409, "lease_held", call("/bench/devices/<leased>/uart/ws"))
            .refusal(
                400,
                "invalid_request",
                call("/bench/devices/<digital>/uart/ws?rx=3&tx=3"),
            )
            .refusal(404, "not_found", call("/bench/devices/<missing>/uart/ws"))
            .refusal(503, "device_offline", call("/bench/devices/<gone>/uart/ws"))
            .refusal(
                403,
                "foreign_origin",
                call("/bench/devices/<digital>/uart/ws?rx=3&tx=4")
                    .header("origin", "http://elsewhere.example"),
            ),
        rows("devices.firmware")
            .success(200, call("/bench/devices/<device>/firmware"))
            .success(200, call("/bench/devices/<gone>/firmware"))
            .refusal(404, "not_found", call("/bench/devices/<missing>/firmware")),
    ]
    .into_iter()
    .chain(flashing())
    .collect()
}

const FORM: &str = "multipart/form-data; boundary=B";

/// Four bytes that go to the start of the flash.
const FIRMWARE: &[u8] =
    b"--B\r\nContent-Disposition: form-data; name=\"target\"\r\n\r\nstm32f0x\r\n\
    --B\r\nContent-Disposition: form-data; name=\"firmware\"; filename=\"fw.bin\"\r\n\r\n\
    \0 \0 \r\n--B--\r\n";

/// The same for one chip, with the name of the file.
const FIRMWARE_FOR_A_CHIP: &[u8] =
    b"--B\r\nContent-Disposition: form-data; name=\"target\"\r\n\r\nSTM32F030R8\r\n\
    --B\r\nContent-Disposition: form-data; name=\"firmware\"; filename=\"fw.bin\"\r\n\r\n\
    \0 \0 \r\n--B--\r\n";

fn flashing() -> Vec<Rows> {
    vec![
        rows("devices.flash")
            .success(
                200,
                call("/bench/devices/<device>/flash").bytes(FORM, FIRMWARE),
            )
            .success(
                202,
                call("/bench/devices/<target>/flash")
                    .bytes(FORM, FIRMWARE)
                    .header("prefer", "respond-async"),
            )
            .refusal(
                400,
                "invalid_request",
                call("/bench/devices/<device>/flash").json(r#"{"target":"stm32f0x"}"#),
            )
            .refusal(
                400,
                "invalid_request",
                call("/bench/devices/<device>/flash").bytes(FORM, b"no form"),
            )
            .refusal(
                404,
                "not_found",
                call("/bench/devices/<device>/flash").json(r#"{"repo":"nowhere"}"#),
            )
            .refusal(
                409,
                "ambiguous",
                call("/bench/devices/<device>/flash").json(r#"{"build":"<build.twins>"}"#),
            )
            .refusal(
                409,
                "lease_held",
                call("/bench/devices/<leased>/flash").bytes(FORM, FIRMWARE),
            )
            .refusal(
                415,
                "unsupported_media_type",
                call("/bench/devices/<device>/flash").bytes("text/plain", b"x"),
            )
            .refusal(
                503,
                "device_offline",
                call("/bench/devices/<gone>/flash").bytes(FORM, FIRMWARE),
            ),
        rows("devices.firmware_info")
            .success(
                200,
                call("/bench/firmware/info").bytes(FORM, FIRMWARE_FOR_A_CHIP),
            )
            .refusal(
                400,
                "invalid_request",
                call("/bench/firmware/info").bytes(FORM, b"no form"),
            )
            .refusal(
                415,
                "unsupported_media_type",
                call("/bench/firmware/info").bytes("text/plain", b"x"),
            ),
        rows("devices.flash.list")
            .success(200, call("/bench/devices/<device>/flash"))
            .refusal(404, "not_found", call("/bench/devices/<missing>/flash")),
        rows("devices.flash.get")
            .success(200, call("/bench/devices/<device>/flash/<flash>"))
            .refusal(
                404,
                "not_found",
                call("/bench/devices/<device>/flash/<missing>"),
            ),
        rows("devices.flash.cancel")
            .success(
                200,
                call("/bench/devices/<unwired>/flash/<new-flash.running>/cancel"),
            )
            .refusal(
                409,
                "wrong_state",
                call("/bench/devices/<device>/flash/<flash>/cancel"),
            )
            .refusal(
                404,
                "not_found",
                call("/bench/devices/<device>/flash/<missing>/cancel"),
            ),
    ]
}
