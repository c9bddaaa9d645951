//! Patterns of paths: `*` and `?` within one name, `**` for any folders. Three symbols, without regular
//! expressions underneath, so that a stranger's pattern takes time in proportion to its length.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error};
use serde::{Serialize, Serializer};

use crate::limits::PATH_CHARS_MAX;

/// Characters that other pattern languages use, and that may get a meaning here one day.
const RESERVED: [char; 6] = ['[', ']', '{', '}', '\\', '!'];

/// A pattern of paths relative to a folder, such as `build/*.elf` or `**/report.xml`. One that matches a folder
/// stands for everything below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// `**`: any number of folders, including none.
    Folders,
    Name(Vec<char>),
}

/// Why a text is not a pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// It names nothing.
    #[error("the pattern is empty; `**` stands for every file")]
    Empty,
    /// It is too long.
    #[error("the pattern is over {PATH_CHARS_MAX} characters; use a shorter one")]
    TooLong,
    /// It has control characters.
    #[error("the pattern has control characters; write it as one line of plain text")]
    NotPlain,
    /// It leads out of the folder.
    #[error("the pattern leads out of the folder; use a relative path without `..`")]
    Escapes,
    /// Two stars are part of a name.
    #[error("`**` stands alone between slashes, as in `**/*.elf`")]
    StarsInName,
    /// A character that is reserved.
    #[error("`{0}` has no meaning in a pattern; use `*`, `**` and `?`")]
    Reserved(char),
}

impl Pattern {
    /// Reads a pattern; a leading `./` and a trailing `/` make no difference.
    ///
    /// # Errors
    /// It is not a pattern, and the message says what to write instead.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        if text.chars().count() > PATH_CHARS_MAX {
            return Err(PatternError::TooLong);
        }
        if text.chars().any(|c| c.is_ascii_control()) {
            return Err(PatternError::NotPlain);
        }
        if let Some(reserved) = text.chars().find(|c| RESERVED.contains(c)) {
            return Err(PatternError::Reserved(reserved));
        }
        if text.starts_with('/') || text.split('/').any(|part| part == "..") {
            return Err(PatternError::Escapes);
        }
        let names = text.split('/').filter(|part| !["", "."].contains(part));
        let parts = names.map(|part| match part {
            "**" => Ok(Part::Folders),
            _ if part.contains("**") => Err(PatternError::StarsInName),
            _ => Ok(Part::Name(part.chars().collect())),
        });
        let parts: Vec<Part> = parts.collect::<Result<_, _>>()?;
        if parts.is_empty() {
            return Err(PatternError::Empty);
        }
        Ok(Self {
            text: text.to_owned(),
            parts,
        })
    }

    /// Whether `path`, or a folder that it is in, matches.
    pub fn matches(&self, path: &str) -> bool {
        self.runs_through(path, false)
    }

    /// Whether `path` itself matches, from its begin to its end.
    pub fn matches_whole(&self, path: &str) -> bool {
        self.runs_through(path, true)
    }

    fn runs_through(&self, path: &str, is_whole: bool) -> bool {
        // Which parts of the pattern may come next.
        let mut next = vec![false; self.parts.len() + 1];
        next[0] = true;
        self.skip_folders(&mut next);
        for name in path.split('/') {
            let name: Vec<char> = name.chars().collect();
            let mut after = vec![false; next.len()];
            for (at, part) in self.parts.iter().enumerate().filter(|(at, _)| next[*at]) {
                match part {
                    Part::Folders => after[at] = true,
                    Part::Name(pattern) if fits(pattern, &name) => after[at + 1] = true,
                    Part::Name(_) => {}
                }
            }
            next = after;
            self.skip_folders(&mut next);
            if next[self.parts.len()] && !is_whole {
                return true;
            }
        }
        next[self.parts.len()]
    }

    /// `**` may also stand for no folder at all.
    fn skip_folders(&self, next: &mut [bool]) {
        for (at, part) in self.parts.iter().enumerate() {
            if next[at] && *part == Part::Folders {
                next[at + 1] = true;
            }
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for Pattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl JsonSchema for Pattern {
    fn schema_name() -> Cow<'static, str> {
        "Pattern".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        // Relative, without `..`, not only of dots and slashes; `**` between slashes; no reserved sign.
        let pattern = r"^(?!/)(?!(.*/)?\.\.(/|$))(?!(\.?/)*\.?$)(?!.*([^/]\*\*|\*\*[^/]))[^\x00-\x1f\x7f\\\[\]{}!]+$";
        json_schema!({
            "type": "string",
            "description": "A pattern of paths below the job's folder, with `*`, `**` and `?`.",
            "minLength": 1,
            "maxLength": PATH_CHARS_MAX,
            "pattern": pattern,
        })
    }
}

/// Whether one name fits. It returns to the last star only, since what stands before it fits already.
fn fits(pattern: &[char], name: &[char]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut star = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                p += 1;
                star = Some((p, n));
            }
            Some(c) if *c == '?' || *c == name[n] => {
                p += 1;
                n += 1;
            }
            _ => {
                let Some((behind, taken)) = star else {
                    return false;
                };
                star = Some((behind, taken + 1));
                (p, n) = (behind, taken + 1);
            }
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}
