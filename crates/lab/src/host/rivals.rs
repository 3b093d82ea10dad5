//! Peers as [`HostImpl`]s, with the adapters kept in `peers/<name>/`.

use crate::peers::{self, PeerError};
use super::job::HostImpl;
use std::path::Path;

/// Fetches peer `name` and puts it behind the bench by its adapter, a file of `peers/<name>/`.
pub fn rival(root: &Path, name: &str, adapter: &str, compiler: &str, cflags: &[&str]) -> Result<HostImpl, PeerError> {
    let peer = peers::fetch(root, name)?;
    let path = peer.adapter_dir.join(adapter);
    let adapter = std::fs::read_to_string(&path).map_err(|source| PeerError::Io { path, source })?;
    Ok(HostImpl {
        name: name.to_string(),
        compiler: compiler.to_string(),
        cflags: peer.cflags.iter().cloned().chain(cflags.iter().map(|f| f.to_string())).collect(),
        sources: peer.sources,
        include_dirs: peer.include_dirs,
        libs: peer.libs,
        adapter,
    })
}
