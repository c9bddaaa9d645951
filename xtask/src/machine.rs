//! A virtual machine for tests that need another kernel, or hardware that this machine does not have.
//!
//! The machine is QEMU's. Its kernel and its shell are Debian's, fetched into the user's cache; the tests and the
//! libraries that they are linked to are this machine's. It has no disk and no network, and talks over its
//! serial line.

mod initrd;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

pub(crate) use self::initrd::Initrd;
use crate::apt::{self, PackageSet};
use crate::metadata::Metadata;
use crate::progress;
use crate::tool::{self, Tool};

const QEMU: &str = "qemu-system-x86_64";

/// A kernel of Debian.
pub(crate) struct Kernel {
    /// The package that depends on the newest one.
    package: &'static str,
    /// The size of that one, in megabytes.
    megabytes: u32,
    /// The folder of the user's cache that holds one folder for each version.
    cache: &'static str,
}

impl Kernel {
    /// For virtual machines: small, without drivers of hardware.
    pub(crate) const SMALL: Self = Self {
        package: "linux-image-cloud-amd64",
        megabytes: 26,
        cache: "hostd-test-kernel",
    };

    /// For all machines, with all drivers as modules.
    pub(crate) const WITH_DRIVERS: Self = Self {
        package: "linux-image-amd64",
        megabytes: 70,
        cache: "hostd-test-kernel-drivers",
    };
}

/// How the name of a kernel's package begins.
const KERNEL_PREFIX: &str = "linux-image-";

/// The package of a shell and its programs in one file without libraries.
const SHELL: &str = "busybox-static";

/// Where programs look for others and for libraries.
const LINKS: [(&str, &str); 4] = [
    ("bin", "usr/bin"),
    ("sbin", "usr/bin"),
    ("lib", "usr/lib"),
    ("lib64", "usr/lib64"),
];

/// How long the machine may take to start where the processor helps.
const PROBED_WITHIN: Duration = Duration::from_secs(15);

/// What emulates a processor where the machine has none to give.
const EMULATED: &str = "tcg,thread=multi";

/// What is emulated. Without the two features, copying takes vector instructions; with them, single steps of `rep movsb`,
/// each of which is emulated by itself.
const EMULATED_PROCESSOR: &str = "max,-erms,-fsrm";

/// What the kernel is told: where to write, to start over (which ends QEMU) when it fails, and not to spend
/// time on what an emulated processor is slow at.
const COMMAND_LINE: &str = "console=ttyS0 loglevel=1 panic=-1 tsc=reliable no_timer_check mitigations=off cryptomgr.notests nokaslr";

/// The variable by which the first process only says that it starts. Words without a value are of no use: the kernel
/// passes those of its own that it does not know as well.
const PROBE: &str = "probe=1";

/// What a machine is made of.
pub(crate) struct Parts {
    /// The packages, unpacked.
    pub(crate) tree: PathBuf,
    kernel: PathBuf,
    shell: PathBuf,
}

impl Parts {
    /// Finds what is needed, and fetches what is missing. The error says why it cannot be had.
    pub(crate) fn find(kernel: &Kernel) -> Result<Self> {
        if std::env::consts::ARCH != "x86_64" {
            bail!("the machine would be an x86-64, and this is none");
        }
        if !tool::is_installed(QEMU) {
            bail!("there is no {QEMU}");
        }
        let cache = apt::cache_folder(kernel.cache);
        let cached = apt::newest_in(&cache, |tree| Self::in_tree(tree).is_some());
        let tree = match cached {
            Some(version) => cache.join(version),
            None => packages(kernel)?.fetch(&cache)?,
        };
        Self::in_tree(&tree).with_context(|| {
            let tree = tree.display();
            format!("{tree} holds no kernel and shell; remove that folder and try again")
        })
    }

    fn in_tree(tree: &Path) -> Option<Self> {
        let mut boot = fs::read_dir(tree.join("boot")).ok()?.flatten();
        let kernel =
            boot.find(|file| file.file_name().to_string_lossy().starts_with("vmlinuz-"))?;
        let shells = ["usr/bin/busybox", "bin/busybox"].map(|path| tree.join(path));
        Some(Self {
            tree: tree.to_owned(),
            kernel: kernel.path(),
            shell: shells.into_iter().find(|file| file.is_file())?,
        })
    }

    /// The files that every machine has: its shell, its first process, its links, and programs under `host` with
    /// their libraries, each by its name in the machine and its path here.
    pub(crate) fn initrd(&self, init: &[u8], programs: &[(&str, &Path)]) -> Result<Initrd> {
        let mut initrd = Initrd::default();
        initrd.program("usr/bin/busybox", &read(&self.shell)?)?;
        let mut needed = BTreeSet::new();
        for (name, path) in programs {
            initrd.program(&format!("host/{name}"), &read(path)?)?;
            needed.extend(libraries(path)?);
        }
        for library in &needed {
            initrd.program(&place(library), &read(Path::new(library))?)?;
        }
        for (path, target) in LINKS {
            initrd.link(path, target)?;
        }
        initrd.program("init", init)?;
        Ok(initrd)
    }
}

/// A machine that has not started yet.
pub(crate) struct Machine {
    kernel: PathBuf,
    /// What its first process writes before anything else.
    started: String,
    initrd: PathBuf,
    /// What came over its serial line.
    console: PathBuf,
}

impl Machine {
    /// A machine of this name, whose first process says `<name>: started` before anything else, and ends at once if the
    /// variable `probe` is set.
    pub(crate) fn new(parts: &Parts, name: &str, initrd: Initrd) -> Result<Self> {
        let folder = Metadata::load()?.target_directory.join(name);
        fs::create_dir_all(&folder)
            .with_context(|| format!("failed to create {}", folder.display()))?;
        let machine = Self {
            kernel: parts.kernel.clone(),
            started: format!("{name}: started"),
            initrd: folder.join("initrd"),
            console: folder.join("console.txt"),
        };
        fs::write(&machine.initrd, initrd.finish()?)
            .with_context(|| format!("failed to write {}", machine.initrd.display()))?;
        Ok(machine)
    }

    /// Lets it run to its end, with variables for its first process (`name=value`), shows what it says, and returns that.
    pub(crate) fn run(&self, variables: &str, limit: Duration) -> Result<String> {
        let accelerator = self.accelerator();
        progress::step(&format!("running the tests in {QEMU} with {accelerator}"));
        let ended = self.start(accelerator, variables, limit);
        let told = self.told()?;
        for line in told.lines() {
            progress::detail(line);
        }
        ended?;
        Ok(told)
    }

    /// What executes the machine's instructions: the processor, where it turns out to do so.
    fn accelerator(&self) -> &'static str {
        if File::options()
            .read(true)
            .write(true)
            .open("/dev/kvm")
            .is_err()
        {
            return EMULATED;
        }
        let ended = self.start("kvm", PROBE, PROBED_WITHIN);
        let has_started = self
            .told()
            .is_ok_and(|told| told.lines().any(|line| line == self.started));
        if ended.is_ok() && has_started {
            return "kvm";
        }
        progress::detail("/dev/kvm is there but starts no machine, so the processor is emulated");
        EMULATED
    }

    /// Lets it run to its end, with variables for its first process.
    fn start(&self, accelerator: &str, variables: &str, limit: Duration) -> Result<()> {
        let console = File::create(&self.console)
            .with_context(|| format!("failed to create {}", self.console.display()))?;
        let processor = match accelerator {
            EMULATED => EMULATED_PROCESSOR,
            _ => "max",
        };
        // With a second processor, an emulated one has clocks that run late at times.
        Tool::new(QEMU)
            .args([
                "-machine", "q35", "-cpu", processor, "-smp", "1", "-m", "1024",
            ])
            .args(["-accel", accelerator])
            .args([
                "-nodefaults",
                "-no-reboot",
                "-display",
                "none",
                "-serial",
                "stdio",
                "-nic",
                "none",
            ])
            .arg("-kernel")
            .arg(&self.kernel)
            .arg("-initrd")
            .arg(&self.initrd)
            .arg("-append")
            .arg(format!("{COMMAND_LINE} {variables}"))
            .output_to(console)?
            .run_within(limit)
    }

    /// What it said from its start on, without what its BIOS said.
    fn told(&self) -> Result<String> {
        let console = read(&self.console)?;
        let console = String::from_utf8_lossy(&console).replace('\r', "");
        let start = console.find(&self.started).unwrap_or(0);
        Ok(console[start..].to_owned())
    }
}

/// What apt offers of what is needed.
fn packages(kernel: &Kernel) -> Result<PackageSet> {
    apt::expect_programs()?;
    let Kernel {
        package, megabytes, ..
    } = kernel;
    let version = apt::candidate(package)?
        .with_context(|| format!("apt offers no {package}; Debian does"))?;
    let image = apt::dependency_starting_with(package, KERNEL_PREFIX)?;
    Ok(PackageSet {
        title: format!("Debian's kernel {version} ({megabytes} MB)"),
        version,
        packages: vec![image, SHELL.to_owned()],
    })
}

/// Builds an integration test of the workspace, as `cargo xtask ci` does for all tests.
pub(crate) fn test_program(test: &str) -> Result<PathBuf> {
    let metadata = Metadata::load()?;
    let told = Tool::cargo(&metadata.root)
        .args([
            "test",
            "--profile",
            "release",
            "--workspace",
            "--test",
            test,
        ])
        .args(["--no-run", "--message-format", "json-render-diagnostics"])
        .read()?;
    program_in(&told, test).with_context(|| format!("cargo built no test program `{test}`"))
}

/// The path of the test program in what cargo tells about each thing that it built.
fn program_in(told: &str, test: &str) -> Option<PathBuf> {
    told.lines().find_map(|line| {
        let built: Value = serde_json::from_str(line).ok()?;
        let is_it = built["target"]["name"] == test && built["target"]["kind"][0] == "test";
        let program = built["executable"].as_str().filter(|_| is_it)?;
        Some(PathBuf::from(program))
    })
}

/// Paths of the libraries that a program is linked to, and of what loads them.
pub(crate) fn libraries(program: &Path) -> Result<BTreeSet<String>> {
    Ok(libraries_in(&Tool::new("ldd").arg(program).read()?))
}

/// The same, in what `ldd` tells.
pub(crate) fn libraries_in(told: &str) -> BTreeSet<String> {
    let path = |line: &str| {
        let mut words = line.split_whitespace();
        words.find(|word| word.starts_with('/')).map(str::to_owned)
    };
    told.lines().filter_map(path).collect()
}

/// Where a library goes, in a machine whose `/lib` is a link to `/usr/lib`.
pub(crate) fn place(library: &str) -> String {
    let path = library.trim_start_matches('/');
    match path.starts_with("lib") {
        true => format!("usr/{path}"),
        false => path.to_owned(),
    }
}

pub(crate) fn read(file: &Path) -> Result<Vec<u8>> {
    fs::read(file).with_context(|| format!("failed to read {}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_keep_their_places() {
        let told = "\tlinux-vdso.so.1 (0x00007ffe0b5d2000)\n\
            \tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f00a5a00000)\n\
            \t/lib64/ld-linux-x86-64.so.2 (0x00007f00a5ce9000)\n\
            \tlibz.so.1 => /usr/lib/libz.so.1 (0x00007f00a5a00000)\n";
        let places: Vec<String> = libraries_in(told).iter().map(|path| place(path)).collect();
        assert_eq!(
            places,
            [
                "usr/lib/x86_64-linux-gnu/libc.so.6",
                "usr/lib64/ld-linux-x86-64.so.2",
                "usr/lib/libz.so.1",
            ]
        );
    }

    #[test]
    fn the_test_program_is_found_in_what_cargo_tells() {
        let told = r#"{"reason":"compiler-artifact","target":{"kind":["lib"],"name":"jail"},"executable":null}
{"reason":"compiler-artifact","target":{"kind":["test"],"name":"jobs"},"executable":"/t/jobs-1"}
{"reason":"compiler-artifact","target":{"kind":["test"],"name":"jail"},"executable":"/t/jail-2"}
{"reason":"build-finished","success":true}"#;
        assert_eq!(program_in(told, "jail"), Some(PathBuf::from("/t/jail-2")));
        assert_eq!(program_in("", "jail"), None);
    }
}
