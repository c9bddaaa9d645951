//! Files opened by programs that others wrote, where those are installed.

use std::ffi::OsStr;
use std::process::Command;

use super::*;

/// What a program prints; nothing when it is not installed.
pub(super) fn answer(program: &str, arguments: &[&OsStr]) -> Option<Vec<u8>> {
    let Ok(output) = Command::new(program).args(arguments).output() else {
        eprintln!("left out, since it is not installed: {program}");
        return None;
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program}: {said}");
    Some(output.stdout)
}

/// Prints what the module `wave` of Python finds in a file: tracks, bytes of a sample, rate, and the samples.
const WAVE: &str = "
import struct, sys, wave
with wave.open(sys.argv[1]) as file:
    count = file.getnframes()
    print(file.getnchannels(), file.getsampwidth(), file.getframerate(), count)
    print(*struct.unpack(f'<{count}h', file.readframes(count)))
";

#[test]
fn wav_files_are_opened_by_python() {
    let dir = TempDir::new().unwrap();
    let counts = [0, 1, 0x7fff, 0x8000, 0x8001, 0xffff];
    let reader = capture_at(&dir, (1e6, 48_000.0), None, &counts);
    let path = dir.path().join("capture.wav");
    std::fs::write(&path, file(&reader, Format::Wav, None)).unwrap();
    let arguments = ["-c".as_ref(), WAVE.as_ref(), path.as_os_str()];
    let Some(found) = answer("python3", &arguments) else {
        return;
    };
    let found = String::from_utf8(found).unwrap();
    assert_eq!(found, "1 2 48000 6\n-32768 -32767 -1 0 1 32767\n");
}
