//! Makes a component of the core module that a compiler made.

use std::path::Path;

use anyhow::{Context, bail};
use wasi_preview1_component_adapter_provider as adapter;
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// How every component begins, where a core module has another version.
const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";

/// A component of `module`, which imports what the module calls and no more. `wit` has the world that it was written for;
/// modules that were made with bindings in Rust carry it already.
///
/// # Errors
/// It is no core module, or does not fit the world.
pub(crate) fn of_module(mut module: Vec<u8>, wit: Option<&Path>) -> anyhow::Result<Vec<u8>> {
    if module.starts_with(COMPONENT) {
        bail!("make a component of it: it is one already");
    }
    if let Some(wit) = wit {
        embed(&mut module, wit).with_context(|| format!("read the world in {}", wit.display()))?;
    }
    let encoder = ComponentEncoder::default().validate(true);
    let encoder = encoder.module(&module).context("read the core module")?;
    let mut encoder = encoder
        .adapter(
            adapter::WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME,
            adapter::WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER,
        )
        .context("add the adapter for WASI 0.1")?;
    let encoded = encoder.encode();
    encoded.with_context(|| match wit {
        Some(wit) => format!("fit the module to the world in {}", wit.display()),
        None => "fit the module to its world; if it carries none, name one with --wit".to_owned(),
    })
}

/// Put the only world of a folder beside the module's code.
fn embed(module: &mut Vec<u8>, wit: &Path) -> anyhow::Result<()> {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_path(wit)?;
    let world = resolve.select_world(&[package], None)?;
    embed_component_metadata(module, &resolve, world, StringEncoding::UTF8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_module_or_has_no_world_is_refused() {
        let error = of_module(COMPONENT.to_vec(), None).unwrap_err();
        assert!(format!("{error:#}").contains("is one already"));
        let error = of_module(b"#!/bin/sh".to_vec(), None).unwrap_err();
        assert!(format!("{error:#}").contains("read the core module"));
        let empty = b"\0asm\x01\0\0\0".to_vec();
        let nowhere = Path::new("no/such/folder");
        let error = of_module(empty.clone(), Some(nowhere)).unwrap_err();
        assert!(format!("{error:#}").contains("read the world in no/such/folder"));
        let dir = tempfile::tempdir().unwrap();
        let world = "package local:x; world w { export f: func(); }";
        std::fs::write(dir.path().join("x.wit"), world).unwrap();
        let error = of_module(empty, Some(dir.path())).unwrap_err();
        assert!(format!("{error:#}").contains("fit the module to the world in"));
    }
}
