//! The group's table: every endpoint requires the scope to drive devices.

use crate::ROUTES;

#[test]
fn every_endpoint_asks_for_the_right_to_drive_devices() {
    for route in ROUTES {
        assert_eq!(route.scope, Some("bench:control"), "{}", route.name);
        assert_eq!(route.credentials.len(), 3, "{}", route.name);
    }
}
