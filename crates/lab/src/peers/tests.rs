use super::*;

fn root() -> PathBuf {
    find_root(Path::new(env!("CARGO_MANIFEST_DIR"))).expect("tests run inside the repository")
}

/// A copy of one peer's description under a fresh root, with `from` replaced by `to`.
fn altered(name: &str, from: &str, to: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("scratch folder");
    let text = read(&root().join("peers").join(name).join("peer.toml")).expect("peer.toml");
    assert!(text.contains(from), "nothing to alter");
    make_dir(&dir.path().join("peers").join(name)).expect("folder");
    write(&dir.path().join("peers").join(name).join("peer.toml"), &text.replace(from, to)).expect("copy");
    dir
}

#[test]
fn every_peer_arrives_and_matches_its_pins() {
    let names = names(&root());
    assert!(names.len() >= 3, "{names:?}");
    for name in names {
        let peer = fetch(&root(), &name).expect("peer");
        let files: Vec<_> = peer.sources.iter().chain(&peer.libs).chain(&peer.data).collect();
        assert!(!files.is_empty() && files.iter().all(|f| f.is_file()), "{name}: {files:?}");
    }
}

#[test]
fn a_wrong_hash_is_refused() {
    for (from, to) in [("d5f361e6", "00000000"), ("f749a24f", "00000000")] {
        let dir = altered("tweetnacl", from, to);
        let err = fetch(dir.path(), "tweetnacl").expect_err("hash altered");
        assert!(matches!(err, PeerError::Checksum { .. }), "{err}");
    }
}

#[test]
fn a_version_nobody_has_is_reported_with_the_way_out() {
    let dir = altered("tweetnacl", "version = \"0.1.5\"", "version = \"99.1.5\"");
    let err = fetch(dir.path(), "tweetnacl").expect_err("no such version");
    assert!(matches!(err, PeerError::Obtain { .. }), "{err}");
    assert!(err.to_string().contains("Check the network"), "{err}");
}

#[test]
fn an_unknown_peer_names_the_known_ones() {
    let err = fetch(&root(), "nacl2").expect_err("no such peer");
    assert!(err.to_string().contains("libsecp256k1, libsodium, nacl-vectors, openssl, tweetnacl"), "{err}");
}

#[test]
fn an_edit_that_does_not_apply_is_refused() {
    let dir = altered("tweetnacl", "find = \"void modL", "find = \"void nosuch");
    let err = fetch(dir.path(), "tweetnacl").expect_err("edit altered");
    assert!(err.to_string().contains("exactly once"), "{err}");
}

#[test]
fn a_file_used_without_a_hash_is_refused() {
    let dir = altered("tweetnacl", "\"src/tweetnacl.c\" = ", "\"src/other.c\" = ");
    let err = load(dir.path(), "tweetnacl").expect_err("hash missing");
    assert!(matches!(err, PeerError::Spec { .. }), "{err}");
}
