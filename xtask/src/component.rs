//! Turns a guest's core module into a component, and lists what a component imports.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail};
use wasm_encoder::{ComponentSection, CustomSection};
use wit_component::ComponentEncoder;
use wit_parser::decoding::{DecodedWasm, decode};

/// Wraps a core module that carries its WIT world in a custom section. Only what the code really
/// calls becomes an import, however large that world is: this is what keeps a guest's authority
/// small although all guests share one set of bindings.
pub(crate) fn encode(module: &[u8]) -> Result<Vec<u8>> {
    ComponentEncoder::default()
        .validate(true)
        .module(module)
        .context("failed to read the guest's core module")?
        .encode()
        .context("failed to make a component of the guest's core module")
}

/// Puts bytes beside a component's code, as its custom section `name`.
pub(crate) fn attach(component: &mut Vec<u8>, name: &str, data: &[u8]) {
    let (name, data) = (name.into(), data.into());
    CustomSection { name, data }.append_to_component(component);
}

/// The names of everything a component imports, such as `hostd:host/log@0.1.0`.
pub(crate) fn imports(component: &[u8]) -> Result<BTreeSet<String>> {
    let decoded = decode(component).context("failed to read a component")?;
    let DecodedWasm::Component(resolve, world) = decoded else {
        bail!("this is an encoded WIT package, not a component");
    };
    let imports = &resolve.worlds[world].imports;
    Ok(imports
        .keys()
        .map(|key| resolve.name_world_key(key))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_without_a_world_becomes_a_component_without_imports() {
        // The smallest core module: magic and version.
        let component = encode(b"\0asm\x01\0\0\0").unwrap();
        assert!(imports(&component).unwrap().is_empty());
    }

    #[test]
    fn what_is_attached_leaves_the_component_as_it_is() {
        let mut component = encode(b"\0asm\x01\0\0\0").unwrap();
        let before = component.len();
        attach(&mut component, "a:b", b"{}");
        assert!(component[before..].ends_with(b"\x03a:b{}"));
        assert!(imports(&component).unwrap().is_empty());
    }

    #[test]
    fn bytes_that_are_no_module_are_an_error() {
        assert!(encode(b"not a module").is_err());
        assert!(imports(b"not a component").is_err());
        let component = encode(b"\0asm\x01\0\0\0").unwrap();
        for end in 0..component.len() {
            // Truncated anywhere, a component is read as far as possible or refused; it never
            // panics.
            let _ = imports(&component[..end]);
        }
    }
}
