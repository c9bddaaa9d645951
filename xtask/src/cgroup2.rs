//! Tests of jails on a kernel with control groups of version 2, delegated as systemd does it, in a virtual
//! machine: the kernel that CI runs on may have version 1, or delegate nothing.
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

use self::initrd::Initrd;
use crate::apt::{self, PackageSet};
use crate::metadata::Metadata;
use crate::progress;
use crate::tool::{self, Tool};

const QEMU: &str = "qemu-system-x86_64";

/// The package that depends on Debian's newest kernel for virtual machines, and how that one's name begins.
const KERNEL: (&str, &str) = ("linux-image-cloud-amd64", "linux-image-");

/// The package of a shell and its programs in one file without libraries.
const SHELL: &str = "busybox-static";

/// The folder of the user's cache that holds one folder per kernel.
const CACHE_NAME: &str = "hostd-test-kernel";

/// Programs that the tests start, and that the shell does not have or has with fewer options.
const PROGRAMS: [&str; 2] = ["nice", "setsid"];

/// The package and the test program of jails.
const TESTS: &str = "jail";

/// Where programs look for others and for libraries.
const LINKS: [(&str, &str); 4] = [
    ("bin", "usr/bin"),
    ("sbin", "usr/bin"),
    ("lib", "usr/lib"),
    ("lib64", "usr/lib64"),
];

/// The machine's users (passwd(5)).
const USERS: &str = "root:x:0:0::/:/usr/bin/sh\nuser:x:1000:1000::/:/usr/bin/sh\n";

/// How long the machine may take to start where the processor helps.
const PROBED_WITHIN: Duration = Duration::from_secs(15);

/// How long all tests may take. They take one or two minutes where the processor is emulated.
const TESTED_WITHIN: Duration = Duration::from_secs(600);

/// What the kernel is told: where to write, to start over (which ends QEMU) when it fails, and not to spend
/// time on what an emulated processor is slow at.
const COMMAND_LINE: &str = "console=ttyS0 loglevel=1 panic=-1 tsc=reliable no_timer_check mitigations=off cryptomgr.notests nokaslr";

/// What the first process writes before anything else.
const STARTED: &str = "cgroup2: started";

/// What it writes for each user whose tests passed.
const PASSED: [&str; 2] = ["cgroup2: root ended with 0", "cgroup2: user ended with 0"];

/// What the machine is made of.
pub(crate) struct Parts {
    kernel: PathBuf,
    shell: PathBuf,
}

/// Runs the tests, and fails where that is not possible.
pub(crate) fn run() -> Result<()> {
    Parts::find()?.run()
}

impl Parts {
    /// Finds what is needed, and fetches what is missing. The error says why it cannot be had.
    pub(crate) fn find() -> Result<Self> {
        if std::env::consts::ARCH != "x86_64" {
            bail!("the machine would be an x86-64, and this is none");
        }
        if !tool::is_installed(QEMU) {
            bail!("there is no {QEMU}");
        }
        let cache = apt::cache_folder(CACHE_NAME);
        let cached = apt::newest_in(&cache, |tree| Self::in_tree(tree).is_some());
        let tree = match cached {
            Some(version) => cache.join(version),
            None => packages()?.fetch(&cache)?,
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
            kernel: kernel.path(),
            shell: shells.into_iter().find(|file| file.is_file())?,
        })
    }

    /// Builds the tests, starts the machine and expects that all pass.
    pub(crate) fn run(&self) -> Result<()> {
        let metadata = Metadata::load()?;
        let folder = metadata.target_directory.join("cgroup2");
        fs::create_dir_all(&folder)
            .with_context(|| format!("failed to create {}", folder.display()))?;
        let machine = Machine {
            kernel: &self.kernel,
            initrd: folder.join("initrd"),
            console: folder.join("console.txt"),
        };
        let initrd = self.initrd(&test_program(&metadata)?)?;
        fs::write(&machine.initrd, initrd)
            .with_context(|| format!("failed to write {}", machine.initrd.display()))?;
        let accelerator = machine.accelerator();
        progress::step(&format!("running the tests in {QEMU} with {accelerator}"));
        let ended = machine.start(accelerator, "", TESTED_WITHIN);
        let told = machine.told()?;
        for line in told.lines() {
            progress::detail(line);
        }
        ended?;
        match have_passed(&told) {
            true => Ok(()),
            false => bail!(
                "not all tests passed on control groups of version 2; the lines above name them"
            ),
        }
    }

    /// All files of the machine.
    fn initrd(&self, tests: &Path) -> Result<Vec<u8>> {
        let mut initrd = Initrd::default();
        initrd.program("usr/bin/busybox", &read(&self.shell)?)?;
        initrd.program("host/jail-tests", &read(tests)?)?;
        let mut libraries = libraries(tests)?;
        for name in PROGRAMS {
            let program =
                tool::find(name).with_context(|| format!("there is no program {name}"))?;
            initrd.program(&format!("host/{name}"), &read(&program)?)?;
            libraries.extend(self::libraries(&program)?);
        }
        for library in &libraries {
            initrd.program(&place(library), &read(Path::new(library))?)?;
        }
        for (path, target) in LINKS {
            initrd.link(path, target)?;
        }
        initrd.program("init", include_bytes!("cgroup2/init"))?;
        initrd.file("etc/passwd", USERS.as_bytes())?;
        initrd.finish()
    }
}

/// A machine that has not started yet.
struct Machine<'a> {
    kernel: &'a Path,
    initrd: PathBuf,
    /// What came over its serial line.
    console: PathBuf,
}

impl Machine<'_> {
    /// What executes the machine's instructions: the processor, where it turns out to do so.
    fn accelerator(&self) -> &'static str {
        const EMULATED: &str = "tcg,thread=multi";
        if File::options()
            .read(true)
            .write(true)
            .open("/dev/kvm")
            .is_err()
        {
            return EMULATED;
        }
        let ended = self.start("kvm", "probe", PROBED_WITHIN);
        let has_started = self
            .told()
            .is_ok_and(|told| told.lines().any(|line| line == STARTED));
        if ended.is_ok() && has_started {
            return "kvm";
        }
        progress::detail("/dev/kvm is there but starts no machine, so the processor is emulated");
        EMULATED
    }

    /// Lets it run to its end, with a word for its first process.
    fn start(&self, accelerator: &str, word: &str, limit: Duration) -> Result<()> {
        let console = File::create(&self.console)
            .with_context(|| format!("failed to create {}", self.console.display()))?;
        // With a second processor, an emulated one has clocks that run late at times.
        Tool::new(QEMU)
            .args(["-machine", "q35", "-cpu", "max", "-smp", "1", "-m", "1024"])
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
            .arg(self.kernel)
            .arg("-initrd")
            .arg(&self.initrd)
            .arg("-append")
            .arg(format!("{COMMAND_LINE} -- {word}"))
            .output_to(console)?
            .run_within(limit)
    }

    /// What it said from its start on, without what its BIOS said.
    fn told(&self) -> Result<String> {
        let console = read(&self.console)?;
        let console = String::from_utf8_lossy(&console).replace('\r', "");
        let start = console.find(STARTED).unwrap_or(0);
        Ok(console[start..].to_owned())
    }
}

/// Whether the tests of each user passed, and there were some.
fn have_passed(told: &str) -> bool {
    let has = |wanted: &str| told.lines().any(|line| line == wanted);
    let are_none = |line: &str| line.starts_with("test result: ok. 0 passed");
    PASSED.into_iter().all(has) && !told.lines().any(are_none)
}

/// What apt offers of what is needed.
fn packages() -> Result<PackageSet> {
    apt::expect_programs()?;
    let (package, prefix) = KERNEL;
    let version = apt::candidate(package)?
        .with_context(|| format!("apt offers no {package}; Debian does"))?;
    let kernel = apt::dependency_starting_with(package, prefix)?;
    Ok(PackageSet {
        title: format!("Debian's kernel {version} (26 MB)"),
        version,
        packages: vec![kernel, SHELL.to_owned()],
    })
}

/// Builds the tests of jails, as `cargo xtask ci` does for all tests.
fn test_program(metadata: &Metadata) -> Result<PathBuf> {
    let told = Tool::cargo(&metadata.root)
        .args([
            "test",
            "--profile",
            "release",
            "--workspace",
            "--test",
            TESTS,
        ])
        .args(["--no-run", "--message-format", "json-render-diagnostics"])
        .read()?;
    program_in(&told).with_context(|| format!("cargo built no test program `{TESTS}`"))
}

/// The path of the test program in what cargo tells about each thing that it built.
fn program_in(told: &str) -> Option<PathBuf> {
    told.lines().find_map(|line| {
        let built: Value = serde_json::from_str(line).ok()?;
        let is_it = built["target"]["name"] == TESTS && built["target"]["kind"][0] == "test";
        let program = built["executable"].as_str().filter(|_| is_it)?;
        Some(PathBuf::from(program))
    })
}

/// Paths of the libraries that a program is linked to, and of what loads them.
fn libraries(program: &Path) -> Result<BTreeSet<String>> {
    Ok(libraries_in(&Tool::new("ldd").arg(program).read()?))
}

fn libraries_in(told: &str) -> BTreeSet<String> {
    let path = |line: &str| {
        let mut words = line.split_whitespace();
        words.find(|word| word.starts_with('/')).map(str::to_owned)
    };
    told.lines().filter_map(path).collect()
}

/// Where a library goes, in a machine whose `/lib` is a link to `/usr/lib`.
fn place(library: &str) -> String {
    let path = library.trim_start_matches('/');
    match path.starts_with("lib") {
        true => format!("usr/{path}"),
        false => path.to_owned(),
    }
}

fn read(file: &Path) -> Result<Vec<u8>> {
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
        assert_eq!(program_in(told), Some(PathBuf::from("/t/jail-2")));
        assert_eq!(program_in(""), None);
    }

    #[test]
    fn tests_have_passed_when_there_were_some_of_each_user() {
        let [root, user] = PASSED;
        let told = |tests: u32| {
            let result = format!("test result: ok. {tests} passed; 0 failed");
            format!("{STARTED}\n{result}\n{root}\n{result}\n{user}\n")
        };
        assert!(have_passed(&told(14)));
        assert!(!have_passed(&told(0)));
        assert!(!have_passed(
            &told(14).replace(root, "cgroup2: root ended with 1")
        ));
        assert!(!have_passed(""));
    }

    #[test]
    fn the_first_process_says_what_is_looked_for() {
        let init = include_str!("cgroup2/init");
        assert!(init.contains(&format!("echo \"{STARTED}\"")));
        for passed in PASSED {
            let user = passed.strip_suffix(" ended with 0").unwrap();
            let user = user.strip_prefix("cgroup2: ").unwrap();
            assert!(init.contains(&format!("\nas {user} {user}::\n")), "{user}");
        }
    }
}
