//! Tells others how jobs stand: webhooks, which receive a signed message, and repositories, which mark a commit. What
//! plugins have to say goes to webhooks, too, and so do the requests that they make to others.
//!
//! ```text
//! job's transaction ─ notice ─> spread ─ deliveries, statuses ─> queue ─> post ─> settle
//!                      stored            stored                   ^  one receiver at a time   │ stored
//!                                                                 └────── again, later ───────┘
//! ```
//!
//! Whatever is owed is stored before it is sent, and leaves the store only when it has been accepted or is given up. So
//! whoever kills the process between any two steps loses nothing; a message may arrive twice, under the same id.

mod answer;
mod backoff;
mod badges;
mod commit_status;
mod deliver;
mod engine;
mod limits;
mod message;
mod outgoing;
mod post;
mod queue;
mod raise;
mod resolver;
mod service;
mod signature;
mod target;
mod tls;
mod url;
mod webhooks;

pub use badges::{BadgeError, NewBadge};
pub use limits::Limits;
pub use outgoing::{Incoming, Outgoing, Unanswered};
pub use raise::RaiseError;
pub use resolver::Check;
pub use service::{Notices, OpenError, Parts, check};
pub use target::repositories;
pub use tls::AuthorityError;
pub use webhooks::{Created, Edit, NewWebhook, WebhookError};
