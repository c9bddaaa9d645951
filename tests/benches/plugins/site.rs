//! A server for one part, and what all parts ask of it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;
use tests::package;
use tests::server::binary;
use tests::{Kept, Operator, Server};

/// Callers ask as often as they can.
const CONFIG: &str = "[http]\nrate_per_s = 0\n";
const PLUGINS: &str = "[plugins]\ninstances_max = 256\n";

/// Where packages are installed from.
const DROP: &str = "drop";

/// A server with a demo device.
pub(crate) struct Site {
    pub(crate) server: Server,
    pub(crate) operator: Operator,
    dir: TempDir,
}

impl Site {
    pub(crate) fn start() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let drop = dir.path().join(DROP);
        std::fs::create_dir(&drop).unwrap();
        let folder = format!("folder = \"{}\"\n", drop.display());
        Self::on(
            dir,
            &binary().unwrap(),
            &format!("{CONFIG}{PLUGINS}{folder}"),
        )
    }

    /// Of another build, which may know nothing of plugins.
    pub(crate) fn of(program: &Path) -> Self {
        Self::on(tempfile::tempdir().unwrap(), program, CONFIG)
    }

    fn on(dir: TempDir, program: &Path, config_text: &str) -> Self {
        let config = dir.path().join("hostd.toml");
        std::fs::write(&config, config_text).unwrap();
        let with = ["--config", config.to_str().unwrap()];
        let server = Server::demo_of(program, dir.path(), &with).unwrap();
        Self {
            operator: Operator::on(&dir.path().join("data")),
            server,
            dir,
        }
    }

    /// A connection with the key of the demo.
    pub(crate) fn kept(&self) -> Kept {
        Kept::open(&self.server.url, &format!("ApiKey {}", self.server.api_key)).unwrap()
    }

    /// A folder for a package of this name.
    pub(crate) fn folder(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Where a packed plugin of this name is put to be installed.
    pub(crate) fn dropped(&self, name: &str) -> PathBuf {
        self.dir.path().join(DROP).join(name)
    }

    /// Install a package and grant all that it wants.
    pub(crate) fn install(&self, id: &str, package: &Path) {
        self.operator.install(package).unwrap();
        self.operator.approve(id).unwrap();
    }

    /// The plugin that does what its caller says, under another id and with these limits.
    pub(crate) fn install_obedient(&self, id: &str, limits: &str) {
        let component = package::component("guests/plugin.wasm").unwrap();
        let folder = self.folder(id);
        let tables = format!(
            "[wants]\ninterfaces = [\"devices\"]\nscopes = [\"bench:control\"]\npublic = true\n[limits]\n{limits}\n"
        );
        package::write(&folder, &component, (id, "1.0.0"), &tables).unwrap();
        self.install(id, &folder);
    }

    /// A line of `/proc/…/status` of the server, in KiB.
    pub(crate) fn status_kib(&self, name: &str) -> u64 {
        let path = format!("/proc/{}/status", self.server.pid());
        let status = std::fs::read_to_string(path).unwrap();
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    /// Entries of a folder of `/proc/…` of the server, such as its open files.
    pub(crate) fn entries(&self, of: &str) -> usize {
        let path = format!("/proc/{}/{of}", self.server.pid());
        std::fs::read_dir(path).unwrap().count()
    }
}

pub(crate) fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

pub(crate) fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
