//! Go to definition.

use crate::convert::uri_of;
use crate::document::Document;
use crate::items::{find, Texts};
use crate::names;
use crate::positions::Columns;
use lsp_types::Location;

/// Where the name at a byte of a document is defined: in the function around it, in its module, or in the module it is imported from.
pub fn definition(doc: &Document, offset: u32, texts: &Texts, columns: Columns) -> Option<Location> {
    let name = names::at(&doc.text, offset)?;
    let local = if name.module.is_none() { names::binding(&doc.tree, name.name, name.end) } else { None };
    if let Some(ident) = local {
        return Some(Location { uri: uri_of(&doc.path)?, range: columns.range(&doc.text, ident.span.start, ident.span.end) });
    }
    let found = find(texts, &doc.path, &doc.text, &doc.tree, &name)?;
    let shown = if found.path.starts_with('/') { found.path.clone() } else { texts.world.on_disk(&found.path)?.display().to_string() };
    Some(Location { uri: uri_of(&shown)?, range: columns.range(&found.text, found.name.0, found.name.1) })
}
