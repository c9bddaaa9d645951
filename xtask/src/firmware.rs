//! Builds the demo firmware of the simulated target. The result is committed, so only a developer who
//! changes its sources needs the compiler.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::metadata::Metadata;
use crate::progress;
use crate::tool::Tool;

const FOLDER: &str = "hostd/target-sim/firmware";
const OUTPUT: &str = "demo.elf";
const COMPILER: &str = "arm-none-eabi-gcc";
const STRIP: &str = "arm-none-eabi-strip";
const SOURCES: &[&str] = &[
    "start.c",
    "main.c",
    "serial.c",
    "i2c.c",
    "bmp280.c",
    "console.c",
];
/// No paths, no build id and no time stamps get into the file, so that the same sources and compiler
/// make the same bytes.
const FLAGS: &[&str] = &[
    "-mcpu=cortex-m0",
    "-mthumb",
    "-Os",
    "-std=c11",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-ffreestanding",
    "-ffunction-sections",
    "-fdata-sections",
    "-fno-common",
    "-nostartfiles",
    "-nostdlib",
    "-Wl,--gc-sections",
    "-Wl,--build-id=none",
    "-T",
    "stm32f030r8.ld",
];

/// Builds and strips the firmware in its folder.
pub(crate) fn build() -> Result<()> {
    let folder = Metadata::load()?.root.join(FOLDER);
    let before = fs::read(folder.join(OUTPUT)).unwrap_or_default();
    compile(&folder)?;
    let after = fs::read(folder.join(OUTPUT)).context("failed to read the new firmware")?;
    let outcome = if before == after { "unchanged" } else { "new" };
    progress::detail(&format!(
        "{FOLDER}/{OUTPUT} is {outcome}, {} bytes",
        after.len()
    ));
    Ok(())
}

fn compile(folder: &Path) -> Result<()> {
    progress::step("building the demo firmware");
    Tool::new(COMPILER)
        .dir(folder)
        .args(FLAGS)
        .args(["-o", OUTPUT])
        .args(SOURCES)
        .arg("-lgcc")
        .advice(format!(
            "install {COMPILER}, on Debian with `apt-get install gcc-arm-none-eabi`"
        ))
        .run()?;
    Tool::new(STRIP)
        .dir(folder)
        .args(["--strip-all", OUTPUT])
        .run()?;
    make_plain(&folder.join(OUTPUT))
}

/// The linker marks its output as executable; this program does not run here.
#[cfg(unix)]
fn make_plain(file: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(file, fs::Permissions::from_mode(0o644))
        .with_context(|| format!("failed to set the mode of {}", file.display()))
}

#[cfg(not(unix))]
fn make_plain(_file: &Path) -> Result<()> {
    Ok(())
}
