//! What an archive would create, as a tree: here contradicting entries are found, and links are followed
//! before there is a file system that would follow them.

use std::collections::HashMap;
use std::rc::Rc;

use crate::Limits;
use crate::error::{ArchiveError, shown};
use crate::name::{Name, parts};

/// Links that one link may lead through: as many as Linux follows (`MAXSYMLINKS`).
const LINKS_FOLLOWED_MAX: usize = 40;

/// Steps that following all links of an archive may take. A large checkout needs some ten thousand.
const STEPS_MAX: u64 = 2_000_000;

/// Bytes of memory that an entry takes besides its name, here and where it is written.
const ENTRY_BYTES: u64 = 320;

/// How often a name is in memory: here, and where it is written.
const NAME_FACTOR: u64 = 2;

/// The number of a node.
pub(crate) type Id = usize;

/// The folder that contains everything.
pub(crate) const ROOT: Id = 0;

/// What a node is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Folder,
    File,
    /// A symbolic link, with its target.
    Link(Rc<str>),
}

#[derive(Debug)]
struct Node {
    parent: Id,
    name: Rc<str>,
    kind: Kind,
    children: HashMap<Rc<str>, Id>,
}

/// Everything that the entries so far would create.
#[derive(Debug)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    names_bytes: usize,
    entries_max: usize,
    names_bytes_max: usize,
}

impl Tree {
    pub(crate) fn new(limits: &Limits) -> Self {
        let root = Node {
            parent: ROOT,
            name: Rc::from(""),
            kind: Kind::Folder,
            children: HashMap::new(),
        };
        Self {
            nodes: vec![root],
            names_bytes: 0,
            entries_max: limits.entries_max,
            names_bytes_max: limits.names_bytes_max,
        }
    }

    /// Adds an entry, and the folders above it that no entry has named so far. A folder may be
    /// repeated.
    pub(crate) fn add(&mut self, name: Name<'_>, kind: Kind) -> Result<Id, ArchiveError> {
        let mut at = ROOT;
        let mut parts = name.parts().peekable();
        while let Some(part) = parts.next() {
            let is_last = parts.peek().is_none();
            let child = self.nodes[at].children.get(part).copied();
            at = match child {
                None if is_last => return self.push(at, part, kind),
                None => self.push(at, part, Kind::Folder)?,
                Some(child) if self.nodes[child].kind == Kind::Folder => child,
                Some(child) if is_last => {
                    return Err(ArchiveError::Duplicate {
                        entry: self.shown(child),
                    });
                }
                Some(child) => {
                    let rest: Vec<&str> = parts.collect();
                    let above = self.path(child);
                    return Err(ArchiveError::NotInFolder {
                        entry: shown(format!("{above}/{}", rest.join("/")).as_bytes()),
                        above: shown(above.as_bytes()),
                    });
                }
            };
        }
        // The node exists as a folder, or is the root.
        match kind {
            Kind::Folder => Ok(at),
            Kind::File | Kind::Link(_) if at == ROOT => Err(ArchiveError::NoName {
                entry: ".".to_owned(),
            }),
            Kind::File | Kind::Link(_) => Err(ArchiveError::Duplicate {
                entry: self.shown(at),
            }),
        }
    }

    fn push(&mut self, parent: Id, name: &str, kind: Kind) -> Result<Id, ArchiveError> {
        let id = self.nodes.len();
        // The root is not an entry.
        if id > self.entries_max {
            let max = self.entries_max;
            return Err(ArchiveError::TooManyEntries { max });
        }
        let target_bytes = match &kind {
            Kind::Link(target) => target.len(),
            Kind::Folder | Kind::File => 0,
        };
        self.names_bytes += name.len() + target_bytes;
        if self.names_bytes > self.names_bytes_max {
            let max = self.names_bytes_max;
            return Err(ArchiveError::NamesTooLarge { max });
        }
        let name: Rc<str> = Rc::from(name);
        self.nodes[parent].children.insert(name.clone(), id);
        self.nodes.push(Node {
            parent,
            name,
            kind,
            children: HashMap::new(),
        });
        Ok(id)
    }

    /// The file at `name`, if there is one so far.
    pub(crate) fn file(&self, name: Name<'_>) -> Option<Id> {
        let mut at = ROOT;
        for part in name.parts() {
            at = *self.nodes[at].children.get(part)?;
        }
        (self.nodes[at].kind == Kind::File).then_some(at)
    }

    /// The number of entries, including folders that are only part of a path.
    pub(crate) fn entries(&self) -> usize {
        self.nodes.len() - 1
    }

    /// Bytes of memory that reading the entries so far takes.
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.entries() as u64 * ENTRY_BYTES + self.names_bytes as u64 * NAME_FACTOR
    }

    pub(crate) fn parent(&self, id: Id) -> Id {
        self.nodes[id].parent
    }

    /// The last part of the path.
    pub(crate) fn name(&self, id: Id) -> &str {
        &self.nodes[id].name
    }

    /// The path below the root; `.` for the root.
    pub(crate) fn path(&self, id: Id) -> String {
        let mut names = Vec::new();
        let mut at = id;
        while at != ROOT {
            names.push(self.name(at));
            at = self.parent(at);
        }
        if names.is_empty() {
            names.push(".");
        }
        names.reverse();
        names.join("/")
    }

    fn shown(&self, id: Id) -> String {
        shown(self.path(id).as_bytes())
    }

    /// The symbolic links, with their targets.
    pub(crate) fn links(&self) -> impl Iterator<Item = (Id, &str)> {
        let links = self.nodes.iter().enumerate();
        links.filter_map(|(id, node)| match &node.kind {
            Kind::Link(target) => Some((id, &**target)),
            Kind::Folder | Kind::File => None,
        })
    }

    /// Follows every link, through other links too. A link to something inside that does not exist is
    /// allowed: a build may create it.
    pub(crate) fn check_links(&self) -> Result<(), ArchiveError> {
        let mut steps = 0;
        self.links()
            .try_for_each(|(id, target)| self.follow(id, target, &mut steps))
    }

    fn follow(&self, link: Id, target: &str, steps: &mut u64) -> Result<(), ArchiveError> {
        let mut ahead: Vec<&str> = parts(target).collect();
        ahead.reverse();
        let mut at = self.parent(link);
        // Parts of the path below the last one that the archive has.
        let mut beyond = 0_usize;
        let mut followed = 0;
        while let Some(part) = ahead.pop() {
            *steps += 1;
            if *steps > STEPS_MAX {
                return Err(ArchiveError::LinksTangled);
            }
            if part == ".." {
                if beyond > 0 {
                    beyond -= 1;
                } else if at == ROOT {
                    return Err(ArchiveError::LinkEscapes {
                        entry: self.shown(link),
                        target: shown(target.as_bytes()),
                    });
                } else {
                    at = self.parent(at);
                }
                continue;
            }
            let child = self.nodes[at].children.get(part);
            let Some(&child) = child.filter(|_| beyond == 0) else {
                beyond += 1;
                continue;
            };
            if let Kind::Link(further) = &self.nodes[child].kind {
                followed += 1;
                if followed > LINKS_FOLLOWED_MAX {
                    let entry = self.shown(link);
                    return Err(ArchiveError::LinkCircle { entry });
                }
                let before = ahead.len();
                ahead.extend(parts(further));
                ahead[before..].reverse();
            } else {
                at = child;
            }
        }
        Ok(())
    }
}
