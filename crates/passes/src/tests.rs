//! Tests of the passes: each alone, all together, and broken ones that must be caught.

mod again;
mod alone;
mod broken;
mod generated;
mod pages;
mod pipeline;
mod samples;
mod perms;
mod tables;
mod wrong;
