//! Why an endpoint cannot be described.

use std::{error, fmt, io};

/// Why an endpoint cannot be described. Fits "failed to …".
pub enum OperationError {
    /// A query is the members of a struct.
    Query {
        /// The type's name.
        of: &'static str,
    },
    /// A query's member is read from one text.
    Member {
        /// The type's name.
        of: &'static str,
        member: String,
    },
    /// The contract has schemas inline, so that none refers to itself.
    Endless {
        /// The type's name.
        of: &'static str,
    },
    /// Every endpoint answers something.
    NoReply,
    /// Cargo gives a folder to build scripts alone.
    NoFolder,
    /// The folder cannot be written to.
    Write(io::Error),
}

impl fmt::Display for OperationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Query { of } => {
                write!(
                    f,
                    "describe a query by {of}, which is no struct with members"
                )
            }
            Self::Member { of, member } => write!(
                f,
                "describe a query by {of}: {member} is no text, number, boolean or word of an enum"
            ),
            Self::Endless { of } => write!(f, "describe {of}, which contains itself"),
            Self::NoReply => f.write_str("describe an endpoint without its answer"),
            Self::NoFolder => f.write_str("write an operation: OUT_DIR is not set"),
            Self::Write(error) => write!(f, "write an operation: {error}"),
        }
    }
}

/// As for people, since a build script that ends with an error prints this.
impl fmt::Debug for OperationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "failed to {self}")
    }
}

impl error::Error for OperationError {}
