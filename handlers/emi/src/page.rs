//! Lists come in pages.

use guest::{members, text};

/// Entries of a page when the caller does not say.
const LIMIT_DEFAULT: u32 = 50;

/// Most entries of a page.
const LIMIT_MAX: u32 = 200;

/// Longest cursor, in characters.
const CURSOR_CHARS_MAX: usize = 128;

members! {
    #[derive(Debug, PartialEq)]
    pub(crate) struct Page {
        /// `next` of the page before; anything else is refused.
        pub(crate) cursor: Option<String> = optional(text(1..=CURSOR_CHARS_MAX)),
        /// Entries of a page.
        pub(crate) limit: u32 = or(guest::integer(1..=LIMIT_MAX), LIMIT_DEFAULT),
    }
}

#[cfg(test)]
mod tests {
    use guest::testing::get;

    use super::Page;

    #[test]
    fn bounds() {
        let read = |query: &str| get(&[], query).query().unwrap().read::<Page>();
        let first = Page {
            cursor: None,
            limit: 50,
        };
        assert_eq!(read("").unwrap(), first);
        assert_eq!(read("limit=200&cursor=c").unwrap().limit, 200);
        for (query, field) in [
            ("limit=0", "limit"),
            ("limit=201", "limit"),
            ("cursor=", "cursor"),
            ("page=2", "page"),
        ] {
            let error = read(query).unwrap_err();
            assert_eq!((error.status, error.fields[0].field.as_str()), (400, field));
        }
    }
}
