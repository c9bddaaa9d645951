//! Argon2 in memory that is kept between hashes.

use argon2::password_hash::Error;
use argon2::password_hash::phc::{Output, ParamsString, PasswordHash, Salt};
use argon2::{ARGON2ID_IDENT, Algorithm, Argon2, Block, Params, Version};

use base::id;

/// Random bytes of a salt, as the PHC string format recommends.
const SALT_LEN: usize = 16;

/// Minimum allocation in blocks of 1 KiB, though only those in use are ever touched. The C library
/// maps pieces of more than 32 MiB from the system and returns them when they are freed; smaller
/// ones it keeps.
const BLOCKS_MIN: usize = 33 << 10;

/// The salt used when there is no hash to compare with.
const NOBODYS_SALT: [u8; SALT_LEN] = [0; SALT_LEN];

/// The blocks in which a hash is computed. Empty until the first hash.
#[derive(Default)]
pub(super) struct Memory(Vec<Block>);

impl Memory {
    /// A new hash with its own salt, in PHC form.
    pub(super) fn hash(&mut self, password: &str) -> Result<String, Error> {
        let mut salt = [0; SALT_LEN];
        id::fill_random(&mut salt);
        let params = Params::DEFAULT;
        let output = self.compute(Argon2::default(), &params, password, &salt, None)?;
        let hash = PasswordHash {
            algorithm: ARGON2ID_IDENT,
            version: Some(Version::default().into()),
            params: ParamsString::try_from(&params)?,
            salt: Some(Salt::new(&salt)?),
            hash: Some(output),
        };
        Ok(hash.to_string())
    }

    /// Whether `password` has `hash`, whatever its parameters. Without a hash it takes as long as
    /// with one of ours and is false.
    pub(super) fn matches(&mut self, password: &str, hash: Option<&str>) -> bool {
        let parsed = hash.and_then(|text| PasswordHash::new(text).ok());
        let Some(parsed) = parsed else {
            let params = Params::DEFAULT;
            let _ = self.compute(Argon2::default(), &params, password, &NOBODYS_SALT, None);
            return false;
        };
        self.verify(password, &parsed).unwrap_or(false)
    }

    fn verify(&mut self, password: &str, stored: &PasswordHash) -> Result<bool, Error> {
        let (Some(salt), Some(wanted)) = (&stored.salt, &stored.hash) else {
            return Ok(false);
        };
        let algorithm = Algorithm::try_from(stored.algorithm.as_str())?;
        let version = stored.version.map(Version::try_from).transpose()?;
        let params = Params::try_from(stored)?;
        let argon = Argon2::new(algorithm, version.unwrap_or_default(), params.clone());
        let output = self.compute(argon, &params, password, salt, Some(wanted.len()))?;
        // Constant time.
        Ok(output == *wanted)
    }

    fn compute(
        &mut self,
        argon: Argon2<'_>,
        params: &Params,
        password: &str,
        salt: &[u8],
        output_len: Option<usize>,
    ) -> Result<Output, Error> {
        let blocks = params.block_count();
        if self.0.len() < blocks {
            self.0 = Vec::with_capacity(blocks.max(BLOCKS_MIN));
            self.0.resize(blocks, Block::new());
        }
        let mut output = [0; Output::MAX_LENGTH];
        let len = output_len.unwrap_or(Params::DEFAULT_OUTPUT_LEN);
        let output = output.get_mut(..len).ok_or(Error::OutputSize)?;
        argon.hash_password_into_with_memory(password.as_bytes(), salt, output, &mut self.0)?;
        Ok(Output::new(output)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Else the time that an answer takes would tell whether the login exists.
    #[test]
    fn nobodys_password_takes_the_same_work() {
        let (mut with, mut without) = (Memory::default(), Memory::default());
        let hash = with.hash("correct horse").unwrap();
        assert!(with.matches("correct horse", Some(&hash)));
        assert!(!without.matches("correct horse", None));
        let is_used = |block: &Block| block.as_ref().iter().any(|word| *word != 0);
        for memory in [with, without] {
            assert_eq!(memory.0.len(), Params::DEFAULT.block_count());
            assert!(memory.0.iter().all(is_used));
            assert!(memory.0.capacity() >= BLOCKS_MIN);
        }
    }
}
