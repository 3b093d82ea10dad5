//! The outline of a document.

use crate::document::Document;
use crate::items::name_of;
use crate::positions::Columns;
use lsp_types::{DocumentSymbol, SymbolKind};
use santoku_syntax::ast::{Item, ItemKind};

pub fn symbols(doc: &Document, columns: Columns) -> Vec<DocumentSymbol> {
    doc.tree.items.iter().filter_map(|i| symbol(i, doc, columns)).collect()
}

#[allow(deprecated)] // a field that has to be set
fn symbol(item: &Item, doc: &Document, columns: Columns) -> Option<DocumentSymbol> {
    let kind = match &item.kind {
        ItemKind::Const { .. } | ItemKind::Table { .. } | ItemKind::Perm { .. } => SymbolKind::CONSTANT,
        ItemKind::Type { .. } | ItemKind::Struct { .. } => SymbolKind::STRUCT,
        ItemKind::Interface(_) => SymbolKind::INTERFACE,
        ItemKind::Test { .. } => SymbolKind::EVENT,
        _ => SymbolKind::FUNCTION,
    };
    let (name, at) = match (&item.kind, name_of(item)) {
        (ItemKind::Test { name, .. }, _) => (format!("test \"{name}\""), item.span),
        (_, Some(ident)) => (ident.name.clone(), ident.span),
        _ => return None,
    };
    let whole = item.span.to(at);
    Some(DocumentSymbol {
        name,
        detail: None,
        kind,
        tags: None,
        deprecated: None,
        range: columns.range(&doc.text, whole.start, whole.end),
        selection_range: columns.range(&doc.text, at.start, at.end),
        children: None,
    })
}
