//! From a `.sr` file, and from the stored capture, to a value change dump, in processor time.

use crate::clock::{process_seconds, user_seconds};
use crate::stored;
use lab::captures::export::{Asked, Export, Format};
use lab::captures::reader::Reader;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Below the captures of the decoders' tests.
const RECORDINGS: [&str; 3] = [
    "i2c_trekstor_120s/trekstor_ebr30_a_i2c_120s.sr",
    "multi_rding_temper/rding_temper_i2c_usb_led_eeprom_and_sensor_5s.sr",
    "spi_mrf24j40/mrf24j40ma_no_txfails.sr",
];

/// Takes bytes and counts them.
#[derive(Default)]
pub(crate) struct Counter(pub(crate) u64);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes a capture out; returns the bytes.
pub(crate) fn export(reader: &Reader) -> u64 {
    let export = Export::plan(reader, Format::Vcd, &Asked::default()).expect("it has channels");
    let mut out = io::BufWriter::new(Counter::default());
    export.write(reader, &mut out).expect("it is sound");
    out.flush().expect("counting does not fail");
    out.get_ref().0
}

fn sigrok(recording: &Path) -> Option<f64> {
    let mut command = Command::new("sigrok-cli");
    command.arg("-i").arg(recording).args(["-O", "vcd"]);
    user_seconds(command.stdout(Stdio::null()))
}

pub(crate) fn run(rounds: u32) {
    println!("\nvalue change dumps, processor time, best of {rounds}");
    let folder = tempfile::tempdir().expect("there is room");
    let below = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../decode/testdata/captures");
    for name in RECORDINGS {
        let recording = below.join(name);
        let (mut all, mut alone, mut bytes) = (f64::MAX, f64::MAX, 0);
        for _ in 0..rounds {
            let begun = process_seconds();
            let reader = stored::import(&recording, folder.path());
            let stored = process_seconds();
            bytes = export(&reader);
            let done = process_seconds();
            all = all.min(done - begun);
            alone = alone.min(done - stored);
        }
        let against = match sigrok(&recording) {
            Some(theirs) => format!(
                "sigrok-cli {theirs:.2} s = {:.0} x from the .sr, {:.0} x from the capture",
                theirs / all,
                theirs / alone
            ),
            None => "sigrok-cli is not here".to_owned(),
        };
        println!(
            "  {:52} {bytes:>9} bytes  {:6.1} ms with the import, {:6.1} ms without; {against}",
            name.rsplit('/').next().unwrap_or(name),
            all * 1e3,
            alone * 1e3
        );
    }
}
