//! Notices: what of them cannot be read.

use super::{head, put};

/// Its part of the page.
#[must_use]
pub fn render(unreadable: u64) -> String {
    let mut page = String::new();
    let name = "hostd_notices_unreadable";
    let help = "Records of webhooks, deliveries, commit statuses and badges that could not be read at the start.";
    head(&mut page, name, "gauge", help);
    put(&mut page, format_args!("{name} {unreadable}\n"));
    page
}
