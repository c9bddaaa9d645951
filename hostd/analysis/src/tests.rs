//! The service with a runner that does what a test says.
