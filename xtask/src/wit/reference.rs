//! The reference page of the contract, written from the comments in `wit/plugin/`.

use std::fmt::Write as _;

use wit_parser::{Docs, Function, Interface, Stability, Type, TypeDefKind, World, WorldItem};

use super::{Contract, words};

/// Where the page is.
pub(crate) const PAGE: &str = "docs/plugin-reference.md";

/// The interface of types that others use.
const TYPES: &str = "types";

/// The page.
pub(crate) fn page(contract: &Contract) -> String {
    let resolve = &contract.resolve;
    let package = &resolve.packages[contract.package];
    let mut page = format!(
        "# Contract with plugins: reference\n\n<!-- Written by `cargo xtask docs` from the comments in wit/plugin. -->\n\n\
         The package `{}`. [Plugins](plugins.md) says how to use it, and `hostd plugin wit` writes its sources.\n\n## Worlds\n",
        package.name
    );
    for id in package.worlds.values() {
        world(contract, &resolve.worlds[*id], &mut page);
    }
    let interfaces: Vec<_> = package
        .interfaces
        .values()
        .map(|id| &resolve.interfaces[*id])
        .collect();
    let is_exported = |interface: &Interface| {
        package.worlds.values().any(|id| {
            let exports = &resolve.worlds[*id].exports;
            exports
                .values()
                .any(|item| named(contract, item) == interface.name.as_deref())
        })
    };
    let (exported, offered): (Vec<&Interface>, Vec<&Interface>) = interfaces
        .into_iter()
        .partition(|interface| is_exported(interface));
    for (title, interfaces) in [
        ("What a plugin exports", exported),
        ("What the host offers", offered),
    ] {
        let _ = write!(page, "\n## {title}\n");
        for one in interfaces {
            interface(contract, one, &mut page);
        }
    }
    page
}

/// Interfaces that the host offers and of which no import says what they need.
pub(crate) fn without_rights(contract: &Contract) -> Vec<String> {
    let mut names: Vec<&str> = imports(contract)
        .filter_map(|item| named(contract, item))
        .filter(|name| *name != TYPES && rights(contract, name).is_none())
        .collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().map(str::to_owned).collect()
}

/// What a plugin must have been granted for an interface: the comment of its import in one of the worlds.
fn rights(contract: &Contract, name: &str) -> Option<String> {
    let mut said = imports(contract).filter_map(|item| match item {
        WorldItem::Interface { docs, .. } if named(contract, item) == Some(name) => {
            Some(text(docs))
        }
        _ => None,
    });
    said.find(|text| !text.is_empty())
}

fn imports(contract: &Contract) -> impl Iterator<Item = &WorldItem> {
    let resolve = &contract.resolve;
    let worlds = resolve.packages[contract.package].worlds.values();
    worlds.flat_map(|id| resolve.worlds[*id].imports.values())
}

fn named<'a>(contract: &'a Contract, item: &WorldItem) -> Option<&'a str> {
    match item {
        WorldItem::Interface { id, .. } => contract.resolve.interfaces[*id].name.as_deref(),
        WorldItem::Function(_) | WorldItem::Type { .. } => None,
    }
}

fn listed<'a>(contract: &Contract, items: impl Iterator<Item = &'a WorldItem>) -> String {
    let names = items.filter_map(|item| named(contract, item).map(str::to_owned));
    let names: Vec<_> = names.map(|name| format!("[`{name}`](#{name})")).collect();
    match names.is_empty() {
        true => "nothing".to_owned(),
        false => names.join(", "),
    }
}

fn world(contract: &Contract, world: &World, page: &mut String) {
    let imports = listed(contract, world.imports.values());
    let exports = listed(contract, world.exports.values());
    let _ = write!(
        page,
        "\n### World `{}`\n\n{}{}\n\nExports {exports}. Imports {imports}.\n",
        world.name,
        text(&world.docs),
        since(&world.stability)
    );
}

fn interface(contract: &Contract, interface: &Interface, page: &mut String) {
    let name = interface.name.as_deref().unwrap_or_default();
    let _ = write!(page, "\n### {name}\n");
    paragraph(&text(&interface.docs), page);
    paragraph(since(&interface.stability).trim(), page);
    if let Some(rights) = rights(contract, name) {
        paragraph(&format!("Must be granted: {}", lower(&rights)), page);
    }
    for (own, id) in &interface.types {
        let definition = &contract.resolve.types[*id];
        if !matches!(definition.kind, TypeDefKind::Type(_)) {
            let kind = kind(&definition.kind);
            let _ = write!(page, "\n#### {name}: {kind} `{own}`\n");
            paragraph(
                &(text(&definition.docs) + &since(&definition.stability)),
                page,
            );
            members(contract, &definition.kind, page);
            for function in functions(interface).filter(|f| f.kind.resource() == Some(*id)) {
                function_of(contract, function, page);
            }
        }
    }
    let free: Vec<_> = functions(interface)
        .filter(|f| f.kind.resource().is_none())
        .collect();
    if !free.is_empty() {
        let _ = write!(page, "\n#### {name}: functions\n");
    }
    for function in free {
        function_of(contract, function, page);
    }
}

fn functions(interface: &Interface) -> impl Iterator<Item = &Function> {
    interface.functions.values()
}

fn function_of(contract: &Contract, function: &Function, page: &mut String) {
    let signature = words::signature(&contract.resolve, function);
    let way = if function.kind.resource().is_some() && !is_method(function) {
        signature.replacen("func", "static func", 1)
    } else {
        signature
    };
    let _ = write!(page, "\n```wit\n{}: {way}\n```\n", function.item_name());
    paragraph(&(text(&function.docs) + &since(&function.stability)), page);
}

fn is_method(function: &Function) -> bool {
    function
        .params
        .first()
        .is_some_and(|param| param.name == "self")
}

fn kind(kind: &TypeDefKind) -> &'static str {
    match kind {
        TypeDefKind::Record(_) => "record",
        TypeDefKind::Resource => "resource",
        TypeDefKind::Variant(_) => "variant",
        TypeDefKind::Enum(_) => "enum",
        TypeDefKind::Flags(_) => "flags",
        _ => "type",
    }
}

/// Fields and cases, a line each.
fn members(contract: &Contract, kind: &TypeDefKind, page: &mut String) {
    let used = |kind: &Type| words::used(&contract.resolve, kind);
    let rows: Vec<(String, String, &Docs)> = match kind {
        TypeDefKind::Record(record) => {
            let fields = record.fields.iter();
            fields
                .map(|f| (f.name.clone(), used(&f.ty), &f.docs))
                .collect()
        }
        TypeDefKind::Variant(variant) => {
            let cases = variant.cases.iter();
            let kind = |kind: &Option<Type>| kind.as_ref().map(used).unwrap_or_default();
            cases
                .map(|c| (c.name.clone(), kind(&c.ty), &c.docs))
                .collect()
        }
        TypeDefKind::Enum(cases) => {
            let cases = cases.cases.iter();
            cases
                .map(|c| (c.name.clone(), String::new(), &c.docs))
                .collect()
        }
        TypeDefKind::Flags(flags) => {
            let flags = flags.flags.iter();
            flags
                .map(|f| (f.name.clone(), String::new(), &f.docs))
                .collect()
        }
        _ => Vec::new(),
    };
    if rows.is_empty() {
        return;
    }
    page.push_str("\n| | | |\n|---|---|---|\n");
    for (name, kind, docs) in rows {
        let docs = text(docs).replace('\n', " ").replace('|', "\\|");
        let kind = if kind.is_empty() {
            kind
        } else {
            format!("`{kind}`")
        };
        let row = format!("| `{name}` | {kind} | {docs} |");
        let _ = writeln!(page, "{row}");
    }
}

/// With a small first letter, as after a colon.
fn lower(sentence: &str) -> String {
    let mut letters = sentence.chars();
    let first = letters.next().map(|letter| letter.to_ascii_lowercase());
    first.into_iter().chain(letters).collect()
}

fn paragraph(text: &str, page: &mut String) {
    if !text.is_empty() {
        let _ = write!(page, "\n{text}\n");
    }
}

fn text(docs: &Docs) -> String {
    docs.contents
        .as_deref()
        .unwrap_or_default()
        .trim()
        .to_owned()
}

/// A sentence to append.
fn since(stability: &Stability) -> String {
    match stability {
        Stability::Stable { since, .. } => format!(" Since {since}."),
        Stability::Unknown | Stability::Unstable { .. } => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTRACT: &str = "
        package hostd:plugin@1.1.0;
        /// Rails.
        interface power {
            /// One of them.
            record rail {
                /// Its | number.
                id: u8,
                on: bool,
            }
            resource device {
                /// ULID.
                id: func() -> string;
                create: static func() -> result<device, string>;
            }
            /// All.
            @since(version = 1.1.0)
            rails: func(device: string) -> list<rail>;
        }
        interface silent { f: func(); }
        interface http { handle: func() -> string; }
        /// Answers.
        world handler {
            /// The device.
            import power;
            import silent;
            export http;
        }
    ";

    #[test]
    fn everything_is_on_the_page_with_its_comment() {
        let page = page(&Contract::parse(CONTRACT));
        for text in [
            "The package `hostd:plugin@1.1.0`.",
            "### World `handler`\n\nAnswers.\n\nExports [`http`](#http). Imports [`power`](#power), [`silent`](#silent).",
            "### power\n\nRails.\n\nMust be granted: the device.\n",
            "#### power: record `rail`\n\nOne of them.\n",
            "| `id` | `u8` | Its \\| number. |\n| `on` | `bool` |  |\n",
            "```wit\nid: func() -> string\n```\n\nULID.\n",
            "create: static func() -> result<device, string>\n",
            "```wit\nrails: func(device: string) -> list<rail>\n```\n\nAll. Since 1.1.0.\n",
        ] {
            assert!(page.contains(text), "{text}\n---\n{page}");
        }
        let exports = page.find("## What a plugin exports").unwrap();
        let offers = page.find("## What the host offers").unwrap();
        assert!((exports..offers).contains(&page.find("### http").unwrap()));
    }

    #[test]
    fn an_interface_that_does_not_say_what_it_needs_is_found() {
        assert_eq!(without_rights(&Contract::parse(CONTRACT)), ["silent"]);
    }
}
