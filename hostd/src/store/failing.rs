//! A disk for tests that fails after a number of operations and forgets what was not synced.
