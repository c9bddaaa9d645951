//! Lists come in pages.

use guest::{like, members};

/// Entries of a page when the caller does not say.
pub(crate) const LIMIT_DEFAULT: u32 = 50;

/// Most entries of a page.
pub(crate) const LIMIT_MAX: u32 = 200;

members! {
    #[derive(Debug, PartialEq)]
    pub(crate) struct Page {
        /// `next` of the page before; anything else is refused.
        pub(crate) cursor: Option<String> = optional(like::cursor()),
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
        assert_eq!(
            read("limit=200&cursor=01JGZ5V9T3N8W2K4Q7R6D1M0XC")
                .unwrap()
                .limit,
            200
        );
        for (query, field) in [
            ("limit=0", "limit"),
            ("limit=201", "limit"),
            ("cursor=", "cursor"),
            ("cursor=c", "cursor"),
            ("page=2", "page"),
        ] {
            let error = read(query).unwrap_err();
            assert_eq!((error.status, error.fields[0].field.as_str()), (400, field));
        }
    }
}
