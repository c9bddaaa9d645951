//! Their side: `qemu-arm` with a small program that executes cases.

use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread::JoinHandle;

use super::cases::{CORE_REGISTERS, Case, FLAGS, FLOATS, Outcome};

const RESULT_WORDS: usize = CORE_REGISTERS + 2 + FLOATS + 1;
/// In user mode QEMU has no Cortex-M4; this one has the same instructions, and more.
const CPU: &str = "cortex-a15";

/// A running QEMU that answers case after case.
pub(crate) struct Qemu {
    child: Child,
    answers: BufReader<ChildStdout>,
    asks: Option<JoinHandle<()>>,
    _folder: tempfile::TempDir,
}

/// Builds the program that QEMU runs.
fn build(folder: &Path) -> Option<PathBuf> {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle");
    let program = folder.join("runner");
    let built = Command::new("arm-none-eabi-gcc")
        .args([
            "-mcpu=cortex-m4",
            "-mfloat-abi=hard",
            "-mfpu=fpv4-sp-d16",
            "-nostdlib",
        ])
        .args(["-Wl,--build-id=none", "-Wl,--no-warn-rwx-segments", "-T"])
        .arg(sources.join("runner.ld"))
        .arg("-o")
        .arg(&program)
        .arg(sources.join("runner.S"))
        .status();
    built.ok().filter(std::process::ExitStatus::success)?;
    Some(program)
}

impl Qemu {
    /// Starts it with so many cases; `None` if a tool is missing.
    pub(crate) fn start(
        mut case: impl FnMut() -> Case + Send + 'static,
        count: usize,
    ) -> Option<Self> {
        let folder = tempfile::tempdir().ok()?;
        let program = build(folder.path())?;
        let mut child = Command::new("qemu-arm")
            .args(["-cpu", CPU])
            .arg(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        let mut stdin = BufWriter::new(child.stdin.take()?);
        let answers = BufReader::new(child.stdout.take()?);
        let asks = std::thread::spawn(move || {
            for _ in 0..count {
                for word in case().words() {
                    // If QEMU is gone, whoever reads its answers says so.
                    let _ = stdin.write_all(&word.to_le_bytes());
                }
            }
        });
        Some(Self {
            child,
            answers,
            asks: Some(asks),
            _folder: folder,
        })
    }

    /// The next outcome, which is that of this case.
    pub(crate) fn next(&mut self, case: &Case) -> Outcome {
        let mut bytes = [0; RESULT_WORDS * 4];
        let read = self.answers.read_exact(&mut bytes);
        assert!(read.is_ok(), "QEMU ended at or after {case:08x?}");
        let word =
            |place: usize| u32::from_le_bytes(bytes[4 * place..4 * place + 4].try_into().unwrap());
        Outcome {
            registers: std::array::from_fn(word),
            flags: word(CORE_REGISTERS) & FLAGS,
            status: word(CORE_REGISTERS + 1),
            floats: std::array::from_fn(|place| word(CORE_REGISTERS + 2 + place)),
            data: word(RESULT_WORDS - 1),
        }
    }
}

impl Drop for Qemu {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(asks) = self.asks.take() {
            let _ = asks.join();
        }
    }
}
