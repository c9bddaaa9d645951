//! The most memory that a process of its own has resident while it imports a `.sr` file of a billion samples, decodes them and
//! writes them out as a value change dump, files that are mapped included.

use crate::traffic::{self, Load};
use crate::{stored, vcd};
use decode::{Format, Spec, sr};
use std::fs::File;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;

/// The argument that makes this program the one that is measured.
pub(crate) const MODE: &str = "measured";

/// Samples that are drawn at once; the recording repeats such parts.
const PART: usize = 1 << 22;

/// What the whole is to take, in MiB.
const AIM_MIB: f64 = 48.0;

const RATE_HZ: u64 = 24_000_000;

fn write(path: &Path, load: Load, parts: usize) {
    let different: Vec<Vec<u8>> = (0..4).map(|seed| traffic::i2c(PART, load, seed)).collect();
    let mut file = File::create(path).expect("there is room");
    let mut writer = sr::Writer::new(RATE_HZ, &["scl", "sda"]);
    for number in 0..parts {
        writer.add(&different[number % 4]);
        file.write_all(&writer.take()).expect("there is room");
    }
    file.write_all(&writer.finish()).expect("there is room");
}

pub(crate) fn run(parts: usize) {
    println!(
        "\nmemory of a process that imports, decodes and writes out {} samples of I2C",
        parts * PART
    );
    for load in [Load::Dense, Load::Sparse] {
        let folder = tempfile::tempdir().expect("there is room");
        let recording = folder.path().join("recording.sr");
        write(&recording, load, parts);
        let this = std::env::current_exe().expect("it runs");
        let mut command = Command::new(this);
        let output = command.arg(MODE).arg(&recording).arg(folder.path());
        let output = output.output().expect("it can be run again");
        assert!(output.status.success(), "{output:?}");
        let said = String::from_utf8_lossy(&output.stdout);
        print!("  {load:?}: {said}");
    }
}

/// What the measured process does.
pub(crate) fn measured(recording: &Path, folder: &Path) {
    let idle = peak_mib();
    let reader = stored::import(recording, folder);
    let imported = peak_mib();
    let segment = reader.logic().expect("it has logic channels");
    let names = ["scl".to_owned(), "sda".to_owned()];
    let map = [("scl", "scl"), ("sda", "sda")];
    let spec = Spec::parse("i2c", &map, &[], Some("addr-data"), &names).expect("it is valid");
    let mut text = Vec::new();
    let mut bytes = 0;
    let decoded = decode::decode_segment(&segment, &spec, &mut |notes| {
        text.clear();
        let written = Format::Sigrok.write(&spec, notes, &mut text);
        written.expect("memory takes everything");
        bytes += text.len();
        ControlFlow::Continue(())
    });
    decoded.expect("sound");
    let read = peak_mib();
    let dump = vcd::export(&reader);
    let all = peak_mib();
    println!(
        "{all:.0} MiB = {:.2} of the aim; {idle:.0} at first, {imported:.0} with the import, {read:.0} with {bytes} bytes of \
         text, the rest with {dump} of the dump",
        all / AIM_MIB
    );
}

/// The most that was resident so far.
fn peak_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("this is Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kib.expect("the kernel says it") / 1024.0
}
