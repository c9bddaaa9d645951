//! The guest's own stack, as text for the log.

use std::fmt::Write;

use wasmtime::WasmBacktrace;

/// Longest function name shown; generic names can be enormous.
const NAME_CHARS_MAX: usize = 160;

/// One `function+0xoffset` per line, innermost first. None when no guest was on the stack.
pub(crate) fn render(error: &wasmtime::Error) -> Option<String> {
    let trace = error.downcast_ref::<WasmBacktrace>()?;
    let mut text = String::new();
    for frame in trace.frames() {
        if !text.is_empty() {
            text.push('\n');
        }
        match frame.func_name() {
            Some(name) => {
                // The alternate form omits the hash.
                let name = format!("{:#}", rustc_demangle::demangle(name));
                text.extend(name.chars().take(NAME_CHARS_MAX));
            }
            None => put(&mut text, format_args!("function {}", frame.func_index())),
        }
        if let Some(offset) = frame.func_offset() {
            put(&mut text, format_args!("+{offset:#x}"));
        }
    }
    (!text.is_empty()).then_some(text)
}

fn put(text: &mut String, part: std::fmt::Arguments<'_>) {
    text.write_fmt(part)
        .expect("writing to a String never fails");
}
