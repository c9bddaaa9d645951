//! Which interface of a USB device is a CMSIS-DAP probe.

use pod_protocol::usb::CMSIS_DAP_NAME;

/// Class of the interface of a probe of the second version.
const VENDOR_CLASS: u8 = 0xFF;

/// Class of the interface of a probe of the first version.
const HID_CLASS: u8 = 0x03;

/// The versions of CMSIS-DAP, which differ in how packets travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    /// In the reports of a human interface device.
    First,
    /// In bulk transfers.
    Second,
}

/// The place of the interface to use among all, by their classes and names; `None` for what is no probe. The second
/// version is preferred, since its packets are longer. Its interface has the name; one of the first version may leave it
/// to the product.
pub(crate) fn of<'a>(
    product: Option<&str>,
    interfaces: impl Iterator<Item = (u8, &'a str)> + Clone,
) -> Option<(usize, Version)> {
    let is_named = |name: &str| name.contains(CMSIS_DAP_NAME);
    let find = |class, is_named_itself: bool| {
        let mut all = interfaces.clone();
        all.position(|(found, name)| found == class && (is_named_itself || is_named(name)))
    };
    let second = find(VENDOR_CLASS, false).map(|place| (place, Version::Second));
    let first = || {
        let by_product = product.is_some_and(is_named);
        let place = find(HID_CLASS, false).or_else(|| find(HID_CLASS, by_product));
        place.map(|place| (place, Version::First))
    };
    second.or_else(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_version_is_preferred_and_the_product_names_the_first() {
        let both = [(3, "CMSIS-DAP v1"), (0xFF, "X CMSIS-DAP v2"), (2, "")];
        let keys = [(3, ""), (3, "CMSIS-DAP"), (2, "")];
        let named = Some("DAPLink CMSIS-DAP");
        for (product, interfaces, found) in [
            (None, &both[..], Some((1, Version::Second))),
            (None, &both[..1], Some((0, Version::First))),
            // The name of the product is no promise of bulk transfers.
            (named, &[(0xFF, "")], None),
            (named, &both[2..], None),
            (named, &[(2, ""), (3, "")], Some((1, Version::First))),
            // Other interfaces of the class are not taken for it.
            (named, &keys, Some((1, Version::First))),
            (Some("keyboard"), &keys[..1], None),
        ] {
            assert_eq!(
                of(product, interfaces.iter().copied()),
                found,
                "{interfaces:?}"
            );
        }
    }
}
