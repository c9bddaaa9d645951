//! Writes the page of rules into the given document: `cargo xtask docs` calls it.

use std::error::Error;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args_os().nth(1).ok_or("name the document")?;
    fs::write(&path, emi::rules_page())?;
    Ok(())
}
