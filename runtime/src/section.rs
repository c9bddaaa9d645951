//! A component's custom sections.

use wasmparser::{Parser, Payload};

/// The bytes of a component's custom section; none if it has no such section, or is not a
/// component.
#[must_use]
pub fn custom_section<'c>(component: &'c [u8], name: &str) -> Option<&'c [u8]> {
    let sections = Parser::new(0).parse_all(component).map_while(Result::ok);
    let mut sections = sections.filter_map(|payload| match payload {
        Payload::CustomSection(section) => Some(section),
        _ => None,
    });
    let found = sections.find(|section| section.name() == name)?;
    Some(found.data())
}

#[cfg(test)]
mod tests {
    use super::custom_section;

    #[test]
    fn sections_are_found_by_name() {
        // Magic, version and layer of a component, then a custom section: id, length, name, data.
        let component = b"\0asm\x0d\0\x01\0\0\x06\x03a:b{}";
        assert_eq!(custom_section(component, "a:b"), Some(&b"{}"[..]));
        assert_eq!(custom_section(component, "a:c"), None);
        for end in 0..component.len() {
            assert_eq!(custom_section(&component[..end], "a:b"), None);
        }
    }
}
