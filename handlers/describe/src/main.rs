//! `describe`: prints what the handlers' routes take and give, as `describe::all` has it.

use std::io::Write;

fn main() -> std::io::Result<()> {
    writeln!(std::io::stdout(), "{}", describe::all())
}
