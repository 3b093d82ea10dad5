//! Results of proofs, kept by content: in a folder between runs, in memory within one.
//!
//! Keeps: a cache that cannot be read or written costs time and nothing else.

use santoku_driver::Store;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Mutex;

/// The store of one run of the command.
#[derive(Default)]
pub struct Cache {
    folder: Option<PathBuf>,
    memory: Mutex<BTreeMap<String, String>>,
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
        Cache { folder: base.map(|b| b.join("santoku")), memory: Mutex::default() }
    }

    fn write(&self, key: &str, text: &str) -> std::io::Result<()> {
        let Some(folder) = &self.folder else { return Ok(()) };
        std::fs::create_dir_all(folder)?;
        let mut temp = tempfile::NamedTempFile::new_in(folder)?;
        temp.write_all(text.as_bytes())?;
        temp.persist(folder.join(key)).map_err(|e| e.error)?;
        Ok(())
    }
}

impl Store for Cache {
    fn get(&self, key: &str) -> Option<String> {
        let kept = self.memory.lock().ok()?.get(key).cloned();
        kept.or_else(|| std::fs::read_to_string(self.folder.as_ref()?.join(key)).ok())
    }

    fn put(&self, key: &str, text: &str) {
        if let Ok(mut m) = self.memory.lock() {
            m.insert(key.to_string(), text.to_string());
        }
        // A full or read-only disk only loses the result.
        let _ = self.write(key, text);
    }
}
