//! Analyzers that run the firmware fx2lafw, as they are when nothing runs on them, and with it.

/// What the firmware says that it is.
const RUNNING: (&str, &str) = ("sigrok", "fx2lafw");

/// A kind of analyzer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Model {
    /// Vendor and product numbers, with and without the firmware.
    pub(crate) ids: (u16, u16),
    /// What people call it.
    pub(crate) name: &'static str,
    /// The file of its firmware.
    pub(crate) firmware: &'static str,
    /// Channels that are wired to the chip.
    pub(crate) channels: u8,
}

const fn model(ids: (u16, u16), name: &'static str, firmware: &'static str, channels: u8) -> Model {
    Model {
        ids,
        name,
        firmware,
        channels,
    }
}

/// All that are known.
pub(crate) const MODELS: [Model; 9] = [
    model(
        (0x0925, 0x3881),
        "Saleae Logic or a clone",
        "fx2lafw-saleae-logic.fw",
        8,
    ),
    model(
        (0x04B4, 0x8613),
        "Cypress FX2 board",
        "fx2lafw-cypress-fx2.fw",
        16,
    ),
    model(
        (0x08A9, 0x0014),
        "CWAV USBee AX or a clone",
        "fx2lafw-cwav-usbeeax.fw",
        8,
    ),
    model(
        (0x08A9, 0x0015),
        "CWAV USBee DX or a clone",
        "fx2lafw-cwav-usbeedx.fw",
        16,
    ),
    model(
        (0x08A9, 0x0009),
        "CWAV USBee SX",
        "fx2lafw-cwav-usbeesx.fw",
        8,
    ),
    model(
        (0x08A9, 0x0005),
        "CWAV USBee ZX",
        "fx2lafw-cwav-usbeezx.fw",
        8,
    ),
    model(
        (0x16D0, 0x0498),
        "Braintechnology USB-LPS",
        "fx2lafw-braintechnology-usb-lps.fw",
        16,
    ),
    model(
        (0x1D50, 0x608C),
        "sigrok FX2 LA (8ch)",
        "fx2lafw-sigrok-fx2-8ch.fw",
        8,
    ),
    model(
        (0x1D50, 0x608D),
        "sigrok FX2 LA (16ch)",
        "fx2lafw-sigrok-fx2-16ch.fw",
        16,
    ),
];

impl Model {
    /// The kind of a device with these numbers.
    pub(crate) fn of(ids: (u16, u16)) -> Option<&'static Self> {
        MODELS.iter().find(|model| model.ids == ids)
    }
}

/// Whether a device with these texts runs the firmware.
pub(crate) fn is_running(manufacturer: Option<&str>, product: Option<&str>) -> bool {
    manufacturer.zip(product) == Some(RUNNING)
}
