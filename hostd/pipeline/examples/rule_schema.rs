//! Writes the JSON Schema of rules to the given file: `cargo xtask docs` calls it.

use std::error::Error;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args_os().nth(1).ok_or("name the file")?;
    let schema = serde_json::to_string_pretty(&pipeline::rules::schema())?;
    fs::write(&path, schema + "\n")?;
    Ok(())
}
