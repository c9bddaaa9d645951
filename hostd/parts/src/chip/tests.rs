//! What means a chip, and chips in a made-up tree of the kernel's.

use std::os::unix::fs::symlink;

use super::*;

#[test]
fn a_chip_is_meant_by_what_stays() {
    for text in [
        "/dev/gpiochip0",
        "gpiochip12",
        "pinctrl-bcm2711",
        "usb:10c4:ea60",
        "usb:10c4:ea60:0001:A",
        "usb:port=1-2.3",
    ] {
        let meant = Meant::parse(text).unwrap_or_else(|| panic!("{text}"));
        assert_eq!(meant.to_string(), text);
    }
    assert_eq!(
        Meant::parse("usb:port=1-2.3"),
        Some(Meant::UsbPort("1-2.3".to_owned()))
    );
    let long = "x".repeat(32);
    for wrong in [
        "",
        "usb:",
        "usb:10c4",
        "usb:port=",
        "usb:port=usb1",
        "usb:port=../1-1",
        "dev/gpiochip0",
        "a\nb",
        &long,
    ] {
        assert_eq!(Meant::parse(wrong), None, "{wrong}");
    }
}

#[test]
fn a_chip_knows_the_device_that_it_is_part_of() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    let made = |path: &str| {
        let path = root.join(path);
        fs::create_dir_all(&path).unwrap();
        path
    };
    let chips = made("bus/gpio/devices");
    for (chip, place) in [
        ("gpiochip0", "devices/platform/pinctrl/gpiochip0"),
        ("gpiochip10", "devices/usb1/1-4/1-4.2/1-4.2:1.0/gpiochip10"),
        ("gpiochip2", "devices/usb1/1-3/1-3:1.0/gpiochip2"),
        ("export", "devices/platform/export"),
    ] {
        symlink(made(place), chips.join(chip)).unwrap();
    }
    for (file, text) in [
        ("1-4/1-4.2/idVendor", "10c4\n"),
        ("1-4/1-4.2/idProduct", "ea60\n"),
        ("1-4/1-4.2/serial", "A 1\n"),
        // The hub on the way.
        ("1-4/idVendor", "05e3\n"),
        ("1-4/idProduct", "0608\n"),
        ("1-3/idVendor", "0403\n"),
        ("1-3/idProduct", "6015\n"),
    ] {
        fs::write(root.join("devices/usb1").join(file), text).unwrap();
    }
    let usb = |port: &str, ids, serial: Option<&str>| Usb {
        port: port.to_owned(),
        ids,
        serial: serial.map(str::to_owned),
    };
    let found = listed(&chips).unwrap();
    let told: Vec<_> = found
        .iter()
        .map(|listed| (listed.name.as_str(), listed.usb.clone()))
        .collect();
    assert_eq!(
        told,
        [
            ("gpiochip0", None),
            ("gpiochip2", Some(usb("1-3", (0x0403, 0x6015), None))),
            (
                "gpiochip10",
                Some(usb("1-4.2", (0x10C4, 0xEA60), Some("A 1")))
            ),
        ]
    );
    assert!(listed(&root.join("nowhere")).unwrap().is_empty());
}

#[test]
fn what_is_no_chip_is_told() {
    let missing = Meant::parse("/nowhere/gpiochip0").unwrap().open();
    let missing = missing.unwrap_err().to_string();
    assert_eq!(missing, "/nowhere/gpiochip0 is not plugged in");
    let other = Meant::parse("/dev/null").unwrap().open().unwrap_err();
    assert_eq!(other.to_string(), "/dev/null is no GPIO chip");
    let unplugged = Meant::parse("usb:port=127-9").unwrap().open().unwrap_err();
    let wanted = "the GPIO chip usb:port=127-9 is not plugged in";
    assert_eq!(unplugged.to_string(), wanted);
}

#[test]
fn errors_say_what_to_do() {
    for (errno, wanted) in [
        (Errno::ACCESS, "hostd udev"),
        (Errno::NODEV, "unplugged"),
        (Errno::IO, "Input/output error"),
    ] {
        let told = explained("X", io::Error::from_raw_os_error(errno.raw_os_error()));
        assert!(told.to_string().contains(wanted), "{told}");
    }
}
