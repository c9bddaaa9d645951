//! The pod's text console, behind the kernel's serial driver.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
use usb_sim::Attached;

use super::*;

pub(crate) const CASES: &[Case] = &[("the_console_is_a_serial_port", the_console_is_a_serial_port)];

const PORT: &str = "/dev/ttyACM0";

fn opened() -> File {
    let began = Instant::now();
    loop {
        if Path::new(PORT).exists()
            && let Ok(port) = OpenOptions::new().read(true).write(true).open(PORT)
        {
            return port;
        }
        assert!(began.elapsed() < PATIENCE, "there is no serial port");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn the_console_is_a_serial_port() {
    let _plugged = Attached::new(simulated(1).plug()).unwrap();
    let (send, told) = mpsc::channel();
    std::thread::spawn(move || {
        let mut port = opened();
        let mut settings = tcgetattr(&port).unwrap();
        settings.make_raw();
        tcsetattr(&port, OptionalActions::Now, &settings).unwrap();
        port.write_all(b"ping\r").unwrap();
        let mut told = String::new();
        let mut bytes = [0; 64];
        while !told.contains("PING ok") {
            let count = port.read(&mut bytes).unwrap();
            told.push_str(&String::from_utf8_lossy(&bytes[..count]));
        }
        send.send(told).unwrap();
    });
    let told = told.recv_timeout(PATIENCE).unwrap();
    assert!(told.contains("ping\r\n"), "{told:?}");
}
