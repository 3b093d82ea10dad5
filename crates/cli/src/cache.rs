//! Results of proofs, kept by content: in a folder between runs, in memory within one.
//!
//! Keeps: a cache that cannot be read or written costs time and nothing else; the folder holds no more than its limit once a run that
//! added to it has ended, and loses what was not used for longest.

use santoku_driver::Store;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Mutex;
use std::time::SystemTime;

/// The store of one run of the command.
#[derive(Default)]
pub struct Cache {
    folder: Option<PathBuf>,
    memory: Mutex<BTreeMap<String, String>>,
    added: AtomicBool,
}

/// How much there is.
#[derive(Clone, Copy, Default)]
pub struct Kept {
    pub results: u64,
    pub bytes: u64,
}

/// What is kept where nothing was said.
const LIMIT_BYTES: u64 = 2 << 30;
/// Of what is beyond the limit, so much more goes, so that the next run has room.
const ROOM: u64 = 10;
/// Beside the results: the limit as it was set.
const LIMIT_FILE: &str = "limit";

struct Entry {
    path: PathBuf,
    bytes: u64,
    used: SystemTime,
}

impl Cache {
    /// Nothing is kept between runs.
    pub fn in_memory() -> Cache {
        Cache::default()
    }

    /// `$XDG_CACHE_HOME/santoku`, `~/.cache/santoku`, or memory where there is neither.
    pub fn of_user() -> Cache {
        let base = std::env::var_os("XDG_CACHE_HOME").filter(|v| !v.is_empty()).map(PathBuf::from);
        let base = base.or_else(|| std::env::var_os("HOME").filter(|v| !v.is_empty()).map(|h| PathBuf::from(h).join(".cache")));
        Cache::at(base.map(|b| b.join("santoku")))
    }

    fn at(folder: Option<PathBuf>) -> Cache {
        Cache { folder, memory: Mutex::default(), added: AtomicBool::default() }
    }

    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    pub fn kept(&self) -> Kept {
        sum(&self.entries())
    }

    /// Bytes that may be kept.
    pub fn limit(&self) -> u64 {
        let said = self.folder.as_ref().and_then(|f| std::fs::read_to_string(f.join(LIMIT_FILE)).ok());
        said.and_then(|text| text.trim().parse().ok()).unwrap_or(LIMIT_BYTES)
    }

    /// Sets the limit and keeps it; gives what was removed.
    pub fn limit_to(&self, bytes: u64) -> std::io::Result<Kept> {
        self.write(LIMIT_FILE, &format!("{bytes}\n"))?;
        self.shrink(bytes, 0)
    }

    /// Removes all results; gives what was removed.
    pub fn clear(&self) -> std::io::Result<Kept> {
        self.shrink(0, 0)
    }

    /// Removes results, those not used for longest first, if there are more bytes than `limit`: until they are below it by `room`.
    fn shrink(&self, limit: u64, room: u64) -> std::io::Result<Kept> {
        let mut entries = self.entries();
        let mut left = sum(&entries).bytes;
        let mut gone = Kept::default();
        if left <= limit && limit > 0 {
            return Ok(gone);
        }
        entries.sort_by_key(|e| e.used);
        for entry in entries {
            if left <= limit - room && limit > 0 {
                break;
            }
            match std::fs::remove_file(&entry.path) {
                Ok(()) => gone = Kept { results: gone.results + 1, bytes: gone.bytes + entry.bytes },
                // Another run was quicker.
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
                Err(e) => return Err(e),
            }
            left -= entry.bytes;
        }
        Ok(gone)
    }

    fn entries(&self) -> Vec<Entry> {
        let files = self.folder.iter().flat_map(std::fs::read_dir).flatten().flatten().filter(|e| e.file_name() != LIMIT_FILE);
        let entry = |e: std::fs::DirEntry| {
            let meta = e.metadata().ok().filter(std::fs::Metadata::is_file)?;
            Some(Entry { path: e.path(), bytes: meta.len(), used: meta.modified().unwrap_or(SystemTime::UNIX_EPOCH) })
        };
        files.filter_map(entry).collect()
    }

    fn write(&self, key: &str, text: &str) -> std::io::Result<()> {
        let Some(folder) = &self.folder else { return Ok(()) };
        std::fs::create_dir_all(folder)?;
        let mut temp = tempfile::NamedTempFile::new_in(folder)?;
        temp.write_all(text.as_bytes())?;
        temp.persist(folder.join(key)).map_err(|e| e.error)?;
        Ok(())
    }

    /// The text of a file, which counts as used now.
    fn read(&self, key: &str) -> Option<String> {
        let path = self.folder.as_ref()?.join(key);
        let text = std::fs::read_to_string(&path).ok()?;
        // One that cannot be marked goes earlier, that is all.
        let _ = std::fs::File::options().append(true).open(&path).and_then(|f| f.set_modified(SystemTime::now()));
        Some(text)
    }
}

fn sum(entries: &[Entry]) -> Kept {
    Kept { results: entries.len() as u64, bytes: entries.iter().map(|e| e.bytes).sum() }
}

impl Store for Cache {
    fn get(&self, key: &str) -> Option<String> {
        let kept = self.memory.lock().ok()?.get(key).cloned();
        kept.or_else(|| self.read(key))
    }

    fn put(&self, key: &str, text: &str) {
        if let Ok(mut m) = self.memory.lock() {
            m.insert(key.to_string(), text.to_string());
        }
        self.added.store(true, Ordering::Relaxed);
        // A full or read-only disk only loses the result.
        let _ = self.write(key, text);
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        if self.folder.is_some() && *self.added.get_mut() {
            let limit = self.limit();
            let _ = self.shrink(limit, limit / ROOM);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(folder: &Path) -> Cache {
        Cache::at(Some(folder.to_path_buf()))
    }

    #[test]
    fn what_was_not_used_for_longest_goes_first() {
        let folder = tempfile::tempdir().unwrap();
        let one = cache(folder.path());
        let text = "x".repeat(100);
        for (age, key) in ["a", "b", "c", "d"].iter().enumerate() {
            one.put(key, &text);
            let file = std::fs::File::options().append(true).open(folder.path().join(key)).unwrap();
            file.set_modified(SystemTime::now() - std::time::Duration::from_secs(1000 - 100 * age as u64)).unwrap();
        }
        // Reading `a` from the folder makes it the youngest.
        assert_eq!(cache(folder.path()).get("a").as_deref(), Some(text.as_str()));
        let gone = cache(folder.path()).limit_to(250).unwrap();
        assert_eq!((gone.results, gone.bytes), (2, 200));
        assert!(["a", "d"].iter().all(|k| folder.path().join(k).is_file()));
        // The limit stays: the end of a run that adds keeps to it.
        drop(one);
        let later = cache(folder.path());
        later.put("e", &text);
        drop(later);
        let now = cache(folder.path());
        assert_eq!((now.limit(), now.kept().bytes), (250, 200));
        assert_eq!(now.clear().unwrap().results, 2);
        assert_eq!((now.kept().results, now.limit()), (0, 250));
    }
}
