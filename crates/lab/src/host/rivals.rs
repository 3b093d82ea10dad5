//! Peers as [`HostImpl`]s, with the adapters kept in `peers/<name>/`.

use super::HostImpl;
use crate::peers::{self, PeerError};
use std::path::Path;

/// The peers whose signatures are measured beside ours.
pub const SIGN: [&str; 3] = ["tweetnacl", "libsodium", "openssl"];
/// The peers whose ChaCha20 is measured beside ours.
pub const CHACHA20: [&str; 2] = ["libsodium", "openssl"];

/// Fetches peer `name` and puts it behind the bench by its adapter `peers/<name>/<adapter>.c`.
pub fn rival(root: &Path, name: &str, adapter: &str, compiler: &str, cflags: &[&str]) -> Result<HostImpl, PeerError> {
    let peer = peers::fetch(root, name)?;
    let path = peer.adapter_dir.join(format!("{adapter}.c"));
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

/// Our amalgamated C library behind TweetNaCl's adapter: same names, same semantics. `header` is the name of the header that
/// declares them, found beside `source`.
pub fn ours(name: &str, source: &Path, header: &str, root: &Path, compiler: &str, cflags: &[&str]) -> Result<HostImpl, PeerError> {
    let path = root.join("peers/tweetnacl/sign.c");
    let adapter = std::fs::read_to_string(&path).map_err(|source| PeerError::Io { path, source })?;
    Ok(HostImpl {
        name: name.to_string(),
        compiler: compiler.to_string(),
        cflags: cflags.iter().map(|f| f.to_string()).collect(),
        sources: vec![source.to_path_buf()],
        include_dirs: source.parent().map(Path::to_path_buf).into_iter().collect(),
        libs: Vec::new(),
        adapter: adapter.replace("\"tweetnacl.h\"", &format!("\"{header}\"")),
    })
}
