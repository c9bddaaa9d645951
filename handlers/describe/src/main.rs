//! `describe`: prints what the handlers' routes take and return, from `describe::all`.

use std::io::Write;

fn main() -> std::io::Result<()> {
    writeln!(std::io::stdout(), "{}", describe::all())
}
