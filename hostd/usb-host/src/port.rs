//! The name of a port, as Linux has it: the bus, then the chain of ports through the hubs, `1-2.3`.

use nusb::DeviceInfo;

/// Whether this names a port. A name that passes is safe as part of a path.
#[must_use]
pub fn is_port(text: &str) -> bool {
    let is_number = |part: &str| part.parse::<u8>().is_ok_and(|number| number > 0);
    text.split_once('-')
        .is_some_and(|(bus, chain)| is_number(bus) && chain.split('.').all(is_number))
}

/// The port that a device is plugged into.
#[must_use]
pub fn port(device: &DeviceInfo) -> String {
    let chain: Vec<String> = device.port_chain().iter().map(u8::to_string).collect();
    let bus = device.bus_id().trim_start_matches('0');
    format!("{bus}-{}", chain.join("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_as_the_kernel_names_them() {
        for port in ["1-1", "2-1.4.3"] {
            assert!(is_port(port), "{port}");
        }
        for wrong in [
            "", "1", "1-", "-1", "1-0", "0-1", "1-2.", "1-300", "../1-2", "1-1 ", "a-1",
        ] {
            assert!(!is_port(wrong), "{wrong}");
        }
    }
}
