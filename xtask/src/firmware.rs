//! Builds the demo firmware of the simulated target. The result is committed, so only a developer who
//! changes its sources needs the compiler.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::metadata::Metadata;
use crate::progress;
use crate::tool::Tool;

const FOLDER: &str = "hostd/target-sim/firmware";
const COMPILER: &str = "arm-none-eabi-gcc";
const STRIP: &str = "arm-none-eabi-strip";

/// One of the chips that the demo is for.
struct Build {
    output: &'static str,
    /// What the compiler must know of the chip.
    flags: &'static [&'static str],
    sources: &'static [&'static str],
}

const BUILDS: &[Build] = &[
    Build {
        output: "demo.elf",
        flags: &["-mcpu=cortex-m0", "-T", "stm32f030r8.ld"],
        sources: &[
            "start.c",
            "main.c",
            "serial.c",
            "i2c.c",
            "bmp280.c",
            "console.c",
        ],
    },
    Build {
        output: "demo-f446.elf",
        flags: &[
            "-mcpu=cortex-m4",
            "-mfloat-abi=hard",
            "-mfpu=fpv4-sp-d16",
            "-DSTM32F446",
            "-T",
            "stm32f446re.ld",
        ],
        sources: &[
            "start.c",
            "main.c",
            "serial.c",
            "i2c1.c",
            "bmp280.c",
            "console.c",
        ],
    },
];
/// No paths, no build id and no time stamps get into the file, so that the same sources and compiler
/// make the same bytes.
const FLAGS: &[&str] = &[
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
];

/// Builds and strips the firmware in its folder, for all chips.
pub(crate) fn build() -> Result<()> {
    let folder = Metadata::load()?.root.join(FOLDER);
    for build in BUILDS {
        let file = folder.join(build.output);
        let before = fs::read(&file).unwrap_or_default();
        compile(&folder, build)?;
        let after = fs::read(&file).context("failed to read the new firmware")?;
        let outcome = if before == after { "unchanged" } else { "new" };
        progress::detail(&format!(
            "{FOLDER}/{} is {outcome}, {} bytes",
            build.output,
            after.len()
        ));
    }
    Ok(())
}

fn compile(folder: &Path, build: &Build) -> Result<()> {
    progress::step(&format!("building the demo firmware {}", build.output));
    Tool::new(COMPILER)
        .dir(folder)
        .args(FLAGS)
        .args(build.flags)
        .args(["-o", build.output])
        .args(build.sources)
        .arg("-lgcc")
        .advice(format!(
            "install {COMPILER}, on Debian with `apt-get install gcc-arm-none-eabi`"
        ))
        .run()?;
    Tool::new(STRIP)
        .dir(folder)
        .args(["--strip-all", build.output])
        .run()?;
    make_plain(&folder.join(build.output))
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
