//! Renews the tables of keys in the given document about rules: `cargo xtask docs` calls it.

use std::error::Error;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args_os().nth(1).ok_or("name the document")?;
    let document = fs::read_to_string(&path)?;
    fs::write(&path, pipeline::reference::renewed_rules(&document))?;
    Ok(())
}
