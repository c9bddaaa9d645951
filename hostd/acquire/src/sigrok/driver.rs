//! The driver of a configuration, as `sigrok-cli` takes it: `demo`, `fx2lafw:conn=1.5`.

use crate::error::AcquireError;

/// Characters of the whole text.
const CHARS_MAX: usize = 256;

const FORM: &str = "a driver of libsigrok, perhaps with options, such as \"fx2lafw:conn=1.5\"";

/// A driver that can stand in an argument: nothing in it can be taken for an option or for a second argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Driver(String);

impl Driver {
    /// Reads `name`, then perhaps `:key=value` several times.
    pub(crate) fn parse(text: &str) -> Result<Self, AcquireError> {
        let is_name = |name: &str| {
            name.starts_with(|first: char| first.is_ascii_alphanumeric())
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        };
        let is_option = |option: &str| {
            let (key, value) = option.split_once('=').unwrap_or((option, "-"));
            let is_key = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
            !key.is_empty()
                && key.bytes().all(is_key)
                && !value.is_empty()
                && value.bytes().all(|byte| byte.is_ascii_graphic())
        };
        let mut parts = text.split(':');
        let is_driver =
            text.len() <= CHARS_MAX && parts.next().is_some_and(is_name) && parts.all(is_option);
        match is_driver {
            true => Ok(Self(text.to_owned())),
            false => Err(AcquireError::Setting {
                field: "driver",
                found: text.chars().take(CHARS_MAX).collect(),
                form: FORM,
            }),
        }
    }

    /// Everything, options included.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// The driver's name.
    pub(crate) fn name(&self) -> &str {
        self.0.split(':').next().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drivers_are_names_with_options() {
        for text in [
            "demo",
            "fx2lafw:conn=1.5",
            "rigol-ds:conn=tcp-raw/192.168.1.7/5555",
            "ols:conn=/dev/serial/by-id/usb-SUMP_1:serialcomm=115200/8n1",
            "demo:logic_channels=4:analog_channels=0",
        ] {
            let driver = Driver::parse(text).unwrap();
            assert_eq!(driver.text(), text);
            assert!(text.starts_with(driver.name()) && !driver.name().contains(':'));
        }
        let long = format!("demo:conn={}", "x".repeat(256));
        for text in [
            "",
            "-h",
            "--show",
            "demo --show",
            "demo\n",
            "demo:",
            "demo:=1",
            "demo:conn=",
            "demo:conn=a b",
            "demo:conn=a\0",
            "de/mo",
            "démo",
            &long,
        ] {
            let error = Driver::parse(text).unwrap_err().to_string();
            assert!(error.contains("fx2lafw:conn=1.5"), "{error}");
        }
    }
}
