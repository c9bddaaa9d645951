//! `cargo xtask tables`: Arrow and Parquet files are written, read back, and opened by pyarrow.
//!
//! Apart from the other tests: the packages that write such files take a minute to compile, and pyarrow is large.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::metadata::Metadata;
use crate::progress;
use crate::tool::Tool;

/// What opens the files.
const PYARROW: &str = "pyarrow==26.0.1";

/// Where it is installed, below the target folder.
const FOLDER: &str = "tables";

/// Written last, so that half an environment is made again.
const STAMP: &str = "installed.txt";

/// Names the Python to the tests.
const PYTHON: &str = "TABLES_PYTHON";

pub(crate) fn run() -> Result<()> {
    let metadata = Metadata::load()?;
    let python = install(&metadata.target_directory.join(FOLDER))?;
    progress::step("testing tables");
    Tool::cargo(&metadata.root)
        .args(["test", "--release", "--package", "tables"])
        .args(["--features", "formats"])
        .env(PYTHON, python)
        .run()
}

/// The Python that has pyarrow.
fn install(folder: &Path) -> Result<PathBuf> {
    let python = folder.join("bin/python3");
    let stamp = folder.join(STAMP);
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == PYARROW) {
        return Ok(python);
    }
    progress::step(&format!("installing {PYARROW}"));
    Tool::new("python3")
        .args(["-m", "venv", "--clear"])
        .arg(folder)
        .advice("Debian and Ubuntu have the module in the package python3-venv")
        .read()?;
    Tool::new(&python)
        .args(["-m", "pip", "--quiet", "--disable-pip-version-check"])
        .args(["install", "--only-binary", ":all:", PYARROW])
        .advice("the first run needs the Python package index; later ones do not")
        .read()?;
    fs::write(&stamp, PYARROW).with_context(|| format!("failed to write {}", stamp.display()))?;
    Ok(python)
}
