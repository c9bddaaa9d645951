//! Devices by name: leases, commands and tunnels.

use crate::call::{Rows, call, rows};

pub(super) fn all() -> Vec<Rows> {
    let mine = "<lease.spare>";
    vec![
        rows("cloud.command")
            .success(
                200,
                call("/cloud/devices/command?device=demo").json(r#"{"cmd":"status"}"#),
            )
            .success(
                200,
                call("/cloud/devices/command")
                    .header("x-bench-device", "demo")
                    .json(r#"{"command":{"cmd":"ping"},"timeout_ms":5000}"#),
            )
            .success(
                200,
                call("/cloud/devices/command?device=spare")
                    .header("x-bench-lease", mine)
                    .json(r#"{"cmd":"ping"}"#),
            )
            .refusal(
                404,
                "not_found",
                call("/cloud/devices/command?device=nobody").json(r#"{"cmd":"ping"}"#),
            )
            .refusal(
                400,
                "invalid_request",
                call("/cloud/devices/command").json(r#"{"cmd":"ping"}"#),
            )
            .refusal(
                400,
                "needs_tunnel",
                call("/cloud/devices/command?device=demo").json(r#"{"cmd":"la_capture"}"#),
            )
            .refusal(
                409,
                "lease_held",
                call("/cloud/devices/command?device=leased").json(r#"{"cmd":"ping"}"#),
            )
            .refusal(
                503,
                "device_offline",
                call("/cloud/devices/command?device=gone").json(r#"{"cmd":"ping"}"#),
            ),
        rows("cloud.lease_acquire")
            .success(
                200,
                call("/cloud/devices/lease?device=spare")
                    .json(r#"{"lease_id":"<lease.spare>","run_label":"CI","ttl_seconds":600}"#),
            )
            .refusal(
                409,
                "lease_held",
                call("/cloud/devices/lease?device=spare").json(r#"{"lease_id":"<lease.other>"}"#),
            )
            .refusal(
                400,
                "invalid_request",
                call("/cloud/devices/lease?device=spare")
                    .json(r#"{"lease_id":"x","ttl_seconds":601}"#),
            )
            .refusal(
                404,
                "not_found",
                call("/cloud/devices/lease?device=nobody").json(r#"{"lease_id":"x"}"#),
            ),
        rows("cloud.lease_renew")
            .success(
                200,
                call("/cloud/devices/lease/renew?device=spare")
                    .json(r#"{"lease_id":"<lease.spare>","ttl_seconds":600}"#),
            )
            .refusal(
                409,
                "lease_held",
                call("/cloud/devices/lease/renew?device=spare")
                    .json(r#"{"lease_id":"<lease.other>"}"#),
            ),
        rows("cloud.lease_release")
            .success(
                200,
                call("/cloud/devices/lease/release?device=spare")
                    .json(r#"{"lease_id":"<lease.spare>"}"#),
            )
            .refusal(
                409,
                "lease_held",
                call("/cloud/devices/lease/release?device=leased").json(r#"{"holder":"nobody"}"#),
            )
            .refusal(
                400,
                "invalid_request",
                call("/cloud/devices/lease/release?device=spare").json("{}"),
            ),
        rows("cloud.tunnel")
            .success(101, call("/cloud/devices/ws?device=demo"))
            .success(101, call("/cloud/devices/ws?device=demo&kind=uart"))
            .success(
                101,
                call("/cloud/devices/ws?device=demo&token=<secret.token>"),
            )
            .refusal(409, "lease_held", call("/cloud/devices/ws?device=leased"))
            .refusal(404, "not_found", call("/cloud/devices/ws?device=nobody"))
            .refusal(503, "device_offline", call("/cloud/devices/ws?device=gone"))
            .refusal(
                400,
                "invalid_request",
                call("/cloud/devices/ws?device=demo&kind=tea"),
            )
            .refusal(
                403,
                "foreign_origin",
                call("/cloud/devices/ws?device=demo").header("origin", "http://elsewhere.example"),
            ),
    ]
}
