//! Which of the pods on USB is meant.

use usb_host::is_port;

use super::plugged::Plugged;

/// Characters of a serial number.
const SERIAL_CHARS_MAX: usize = 126;

/// What the rest of an address says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Selector {
    /// The first one that nobody uses.
    Any,
    /// The one with this serial number, wherever it is plugged in.
    Serial(String),
    /// The one that is plugged into this port, as the kernel names it: `1-2.3`.
    Port(String),
}

impl Selector {
    /// `None` when the text is malformed.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if text.is_empty() {
            return Some(Self::Any);
        }
        if let Some(serial) = text.strip_prefix("serial=") {
            let is_one = (1..=SERIAL_CHARS_MAX).contains(&serial.chars().count())
                && !serial.contains(char::is_control);
            return is_one.then(|| Self::Serial(serial.to_owned()));
        }
        let port = text.strip_prefix("port=")?;
        is_port(port).then(|| Self::Port(port.to_owned()))
    }

    pub(super) fn means(&self, pod: &Plugged) -> bool {
        match self {
            Self::Any => true,
            Self::Serial(serial) => pod.serial.as_ref() == Some(serial),
            Self::Port(port) => pod.port == *port,
        }
    }

    /// Why there is none.
    pub(super) fn lack(&self) -> String {
        match self {
            Self::Any => "no pod is plugged into USB".to_owned(),
            Self::Serial(serial) => {
                format!("no pod with the serial number {serial} is plugged into USB")
            }
            Self::Port(port) => format!("no pod is plugged into the USB port {port}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        assert_eq!(Selector::parse(""), Some(Selector::Any));
        let serial = Selector::Serial("P-1".into());
        assert_eq!(Selector::parse("serial=P-1"), Some(serial));
        let port = Selector::Port("1-2.3".into());
        assert_eq!(Selector::parse("port=1-2.3"), Some(port));
        for wrong in [
            "P-1",
            "serial=",
            "serial=a\n",
            "port=",
            "port=1",
            "port=a-1",
            "port=1-",
            "port=1-2.",
            "port=0-1",
            "port=1-300",
            "port=../1-2",
        ] {
            assert_eq!(Selector::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn each_finds_its_own() {
        let pod = |port: &str, serial: Option<&str>| Plugged::example(port, serial);
        let pods = [
            pod("1-1", Some("A")),
            pod("1-2", Some("B")),
            pod("2-1", None),
        ];
        let found = |text: &str| {
            let selector = Selector::parse(text).unwrap();
            let mut meant = pods.iter().filter(|pod| selector.means(pod));
            meant.next().map(|pod| pod.port.clone())
        };
        assert_eq!(found("").as_deref(), Some("1-1"));
        assert_eq!(found("serial=B").as_deref(), Some("1-2"));
        assert_eq!(found("port=2-1").as_deref(), Some("2-1"));
        assert_eq!(found("serial=C"), None);
    }
}
