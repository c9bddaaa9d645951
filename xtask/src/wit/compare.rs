//! What a version of the contract may not do to those before it: a plugin that was built for one of them must go on.

use super::listing::{Listing, Version};

/// Why the contract cannot stay as it is.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) sentence: String,
    /// Only that there is no list of the present version yet.
    pub(super) is_unpublished: bool,
}

/// Everything that is wrong with `present`, beside what was published.
pub(super) fn faults(present: &Listing, published: &[Listing]) -> Vec<Fault> {
    let mut sentences = Vec::new();
    let same_major = |before: &&Listing| before.version().major() == present.version().major();
    for before in published.iter().filter(same_major) {
        if before.version() > present.version() {
            let (now, then) = (present.version(), before.version());
            sentences.push(format!(
                "wit/plugin is version {now}, and {then} is published"
            ));
        }
        kept(present, before, &mut sentences);
        addable(present, before, &mut sentences);
    }
    if let Some(newest) = published.iter().rfind(same_major) {
        marked(present, newest, &mut sentences);
    }
    let mut faults: Vec<_> = sentences
        .into_iter()
        .map(|sentence| Fault {
            sentence,
            is_unpublished: false,
        })
        .collect();
    if !published
        .iter()
        .any(|before| before.version() == present.version())
    {
        let version = present.version();
        faults.push(Fault {
            sentence: format!(
                "version {version} of wit/plugin has no list; run `cargo xtask wit publish`"
            ),
            is_unpublished: true,
        });
    }
    faults
}

/// Whatever was published is there, and is what it was.
fn kept(present: &Listing, before: &Listing, sentences: &mut Vec<String>) {
    let version = before.version();
    for (key, then) in before.all() {
        match present.get(key) {
            None => sentences.push(format!(
                "`{key}` is gone, which version {version} has published; plugins that use it would not load"
            )),
            Some(now) if now.definition != then.definition => sentences.push(format!(
                "`{key}` was changed, which version {version} has published: it was `{}` and is `{}`; add something beside it instead",
                then.definition, now.definition
            )),
            Some(_) => {}
        }
    }
}

/// What a plugin exports is not added to: plugins that are there do not have it.
fn addable(present: &Listing, before: &Listing, sentences: &mut Vec<String>) {
    let exported = before.exported();
    for (key, item) in added(present, before) {
        let Some((kind, name)) = key.split_once(' ') else {
            continue;
        };
        let owner = name.split('.').next().unwrap_or_default();
        let must_be_there = match kind {
            "func" => exported.contains(owner),
            "type" => exported.contains(owner) && item.definition == "resource",
            "exports" => before.get(&format!("world {owner}")).is_some(),
            _ => false,
        };
        if must_be_there {
            sentences.push(format!(
                "`{key}` is added to what plugins export, and those built for version {} do not have it; make it an interface and a world of its own",
                before.version()
            ));
        }
    }
}

/// Whatever was added since the newest published version says so.
fn marked(present: &Listing, newest: &Listing, sentences: &mut Vec<String>) {
    let (now, then) = (present.version(), newest.version());
    for (key, item) in added(present, newest) {
        if now == then {
            sentences.push(format!(
                "`{key}` is new, and {now} is published; raise the version of wit/plugin"
            ));
            continue;
        }
        let (kind, name) = key.split_once(' ').unwrap_or_default();
        let owner = name.split('.').next().unwrap_or_default();
        let is_inside = match kind {
            "func" | "type" => newest.get(&format!("interface {owner}")).is_none(),
            "imports" | "exports" => newest.get(&format!("world {owner}")).is_none(),
            _ => false,
        };
        let says: Option<&Version> = item.since.as_ref();
        // Methods go with their resource, and what is inside something new is as new as that.
        if !is_inside && says.is_none_or(|since| since <= then || since > now) {
            sentences.push(format!(
                "`{key}` was added after {then}; say so with @since(version = {now})"
            ));
        }
    }
}

fn added<'a>(
    present: &'a Listing,
    before: &'a Listing,
) -> impl Iterator<Item = (&'a String, &'a super::listing::Item)> {
    present.all().filter(|(key, _)| before.get(key).is_none())
}

#[cfg(test)]
mod tests;
