//! The rest of WASI: there, so that components load, but every function ends the call.

use wasmtime::component::types::{ComponentInstance, ComponentItem};
use wasmtime::component::{Component, Linker, LinkerInstance, ResourceType, Val};

use crate::cli::{TerminalInput, TerminalOutput};
use crate::lines::Output;
use crate::poll::Pollable;
use crate::streams::{Error, Input};

/// The version under which `wit/virtual.wit` grants interfaces; the linker finds it for all 0.2.x.
const GRANTED: &str = "0.2.0";

/// Versions that are there at all.
const TRACK: &str = "0.2.";

/// Interfaces of `wit/virtual.wit`.
const INTERFACES: [&str; 20] = [
    "wasi:io/error",
    "wasi:io/poll",
    "wasi:io/streams",
    "wasi:clocks/wall-clock",
    "wasi:clocks/monotonic-clock",
    "wasi:random/random",
    "wasi:random/insecure",
    "wasi:random/insecure-seed",
    "wasi:cli/environment",
    "wasi:cli/exit",
    "wasi:cli/stdin",
    "wasi:cli/stdout",
    "wasi:cli/stderr",
    "wasi:cli/terminal-input",
    "wasi:cli/terminal-output",
    "wasi:cli/terminal-stdin",
    "wasi:cli/terminal-stdout",
    "wasi:cli/terminal-stderr",
    "wasi:http/types",
    "wasi:http/outgoing-handler",
];

/// Every language's library asks at its start which folders there are: none.
const PREOPENS: (&str, &str) = ("wasi:filesystem/preopens", "get-directories");

/// A function of WASI that no guest is given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not granted: {interface}#{function}")]
pub struct NotGranted {
    /// Without its version.
    pub interface: String,
    /// `descriptor.read`, for instance.
    pub function: String,
}

/// What all resources of the rest are. None is ever made.
enum Denied {}

/// An interface below `wasi:` that a component imports.
struct Import<'c> {
    /// With its version.
    name: &'c str,
    interface: &'c str,
    instance: ComponentInstance,
}

impl Import<'_> {
    fn is_granted(&self) -> bool {
        INTERFACES.contains(&self.interface)
    }
}

pub(crate) fn link<T: 'static>(
    linker: &mut Linker<T>,
    component: &Component,
) -> wasmtime::Result<()> {
    let engine = linker.engine().clone();
    let component = component.component_type();
    let imports: Vec<Import<'_>> = component
        .imports(&engine)
        .filter_map(|(name, item)| {
            let (interface, version) = name.split_once('@')?;
            let ComponentItem::ComponentInstance(instance) = item.ty else {
                return None;
            };
            let is_ours = interface.starts_with("wasi:") && version.starts_with(TRACK);
            is_ours.then_some(Import {
                name,
                interface,
                instance,
            })
        })
        .collect();
    // A denied interface can use a granted one's resource, under any name: it must be the same type.
    let mut shared: Vec<(ResourceType, ResourceType)> = Vec::new();
    for import in imports.iter().filter(|import| import.is_granted()) {
        for (name, item) in import.instance.exports(&engine) {
            if let (ComponentItem::Resource(theirs), Some(ours)) = (item.ty, granted(name)) {
                shared.push((theirs, ours));
            }
        }
    }
    for import in &imports {
        let interface = import.interface;
        let granted = format!("{interface}@{GRANTED}");
        let name = if import.is_granted() {
            &granted
        } else {
            import.name
        };
        let mut definitions = linker.instance(name)?;
        for (name, item) in import.instance.exports(&engine) {
            match item.ty {
                ComponentItem::ComponentFunc(_) if import.is_granted() => {
                    // Fails for what is granted; what a later version added is not.
                    let _defined = deny(&mut definitions, interface, name);
                }
                ComponentItem::ComponentFunc(_) => deny(&mut definitions, interface, name)?,
                ComponentItem::Resource(theirs) if !import.is_granted() => {
                    let same = shared.iter().find(|(shared, _)| *shared == theirs);
                    let ours = same.map_or(ResourceType::host::<Denied>(), |(_, ours)| *ours);
                    definitions.resource(name, ours, |_, _| Ok(()))?;
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// The resources of granted interfaces.
fn granted(name: &str) -> Option<ResourceType> {
    match name {
        "error" => Some(ResourceType::host::<Error>()),
        "pollable" => Some(ResourceType::host::<Pollable>()),
        "input-stream" => Some(ResourceType::host::<Input>()),
        "output-stream" => Some(ResourceType::host::<Output>()),
        "terminal-input" => Some(ResourceType::host::<TerminalInput>()),
        "terminal-output" => Some(ResourceType::host::<TerminalOutput>()),
        _ => None,
    }
}

fn deny<T: 'static>(
    definitions: &mut LinkerInstance<'_, T>,
    interface: &str,
    function: &str,
) -> wasmtime::Result<()> {
    if (interface, function) == PREOPENS {
        return definitions.func_new(function, |_, _, _, results| {
            results.fill(Val::List(Vec::new()));
            Ok(())
        });
    }
    let plain = function.rsplit(']').next().unwrap_or(function);
    let refusal = NotGranted {
        interface: interface.to_owned(),
        function: plain.to_owned(),
    };
    definitions.func_new(function, move |_, _, _, _| Err(refusal.clone().into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_what_the_contract_grants() {
        let contract = include_str!("../wit/virtual.wit");
        let imports = contract
            .lines()
            .filter_map(|line| line.trim().strip_prefix("import "));
        let imports: Vec<&str> = imports
            .filter_map(|import| import.strip_suffix("@0.2.0;"))
            .collect();
        assert_eq!(imports, INTERFACES);
    }
}
