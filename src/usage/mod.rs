//! Who used what: from a called name to the skill that was meant, one event into the ledger, and events
//! that wait for their skill to appear.

mod candidate;
mod link;
mod record;
mod resolve;
mod spool;
mod typed;

pub use candidate::add_candidate;
pub use link::{Linked, link_waiting};
pub use record::{
    LineSink, Recorded, Recording, each_line, find_meant, new_event_id, parse_line, record,
    record_all, rehearse,
};
pub use resolve::{Call, Meant, Resolver, Roots};
pub use spool::{A_LITTLE, absorb, is_waiting, keep_for_later, pending, refused};
pub use typed::{HOOK_ID, add_typed};
