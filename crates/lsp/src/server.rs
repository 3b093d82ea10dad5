//! The conversation with the editor (Language Server Protocol 3.17, on standard input and output).

use crate::convert::{by_file, path_of, uri_of};
use crate::definition::definition;
use crate::document::{Document, Known};
use crate::hover::hover;
use crate::items::Texts;
use crate::lens::lenses;
use crate::positions::Columns;
use crate::symbols::symbols;
use crate::work::{Done, Job, What, Work};
use crate::world::World;
use crossbeam_channel::select;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{DidChangeTextDocument, DidCloseTextDocument, DidOpenTextDocument, DidSaveTextDocument, Notification as _, PublishDiagnostics, ShowMessage};
use lsp_types::request::{CodeLensRefresh, CodeLensRequest, DocumentSymbolRequest, Formatting, GotoDefinition, HoverRequest, Request as _};
use lsp_types::{
    CodeLensOptions, CodeLensParams, DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams, DidSaveTextDocumentParams, DocumentFormattingParams,
    DocumentSymbolParams, GotoDefinitionParams, Hover, HoverContents, HoverParams, HoverProviderCapability, InitializeParams, MarkupContent, MarkupKind, MessageType, OneOf,
    PublishDiagnosticsParams, SaveOptions, ServerCapabilities, ShowMessageParams, TextDocumentPositionParams, TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions,
    TextDocumentSyncSaveOptions, TextEdit, Uri,
};
use santoku_driver::{open_obligations, vacuous, Failure};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::sync::Arc;

/// Speaks with the editor until it says goodbye.
///
/// # Errors
/// The editor does not keep to the protocol, or no thread can be started.
pub fn serve(world: Arc<dyn World>) -> Result<(), String> {
    let (connection, threads) = Connection::stdio();
    let done = converse(&connection, world).map_err(|e| e.to_string());
    drop(connection);
    threads.join().map_err(|e| e.to_string())?;
    done
}

/// [`serve`] on any connection.
pub fn converse(connection: &Connection, world: Arc<dyn World>) -> Result<(), Box<dyn Error + Sync + Send>> {
    let (id, params) = connection.initialize_start()?;
    let params: InitializeParams = serde_json::from_value(params)?;
    let columns = Columns::of(params.capabilities.general.as_ref().and_then(|g| g.position_encodings.as_deref()));
    let refresh = params.capabilities.workspace.as_ref().and_then(|w| w.code_lens.as_ref()).and_then(|c| c.refresh_support).unwrap_or(false);
    let about = serde_json::json!({ "capabilities": capabilities(columns), "serverInfo": { "name": "santoku", "version": env!("CARGO_PKG_VERSION") } });
    connection.initialize_finish(id, about)?;
    let work = Work::start(&world)?;
    let mut server = Server { connection, work, world, columns, refresh, asked: 0, documents: BTreeMap::new(), told: BTreeMap::new() };
    loop {
        select! {
            recv(connection.receiver) -> message => match message {
                Ok(Message::Request(request)) => {
                    if connection.handle_shutdown(&request)? {
                        return Ok(());
                    }
                    server.request(request)?;
                }
                Ok(Message::Notification(n)) => server.notification(n)?,
                Ok(Message::Response(_)) => {}
                Err(_) => return Ok(()),
            },
            recv(server.work.done) -> done => match done {
                Ok(done) => server.done(done)?,
                Err(_) => return Err("the working threads are gone".into()),
            },
        }
    }
}

fn capabilities(columns: Columns) -> ServerCapabilities {
    ServerCapabilities {
        position_encoding: Some(columns.kind()),
        text_document_sync: Some(TextDocumentSyncCapability::Options(TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::FULL),
            save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions { include_text: Some(false) })),
            ..TextDocumentSyncOptions::default()
        })),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        document_formatting_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        code_lens_provider: Some(CodeLensOptions { resolve_provider: Some(false) }),
        ..ServerCapabilities::default()
    }
}

type Sent = Result<(), Box<dyn Error + Sync + Send>>;

struct Server<'c> {
    connection: &'c Connection,
    work: Work,
    world: Arc<dyn World>,
    columns: Columns,
    /// The editor asks for lenses again when told to.
    refresh: bool,
    /// Requests of ours so far.
    asked: i32,
    documents: BTreeMap<String, Document>,
    /// Files that were told messages of a document's program.
    told: BTreeMap<String, BTreeSet<String>>,
}

impl Server<'_> {
    fn notification(&mut self, n: Notification) -> Sent {
        match n.method.as_str() {
            DidOpenTextDocument::METHOD => {
                let p: DidOpenTextDocumentParams = serde_json::from_value(n.params)?;
                if let Some(path) = path_of(&p.text_document.uri) {
                    self.documents.insert(path.clone(), Document::new(path.clone(), p.text_document.version, p.text_document.text));
                    self.look(&path, true);
                }
            }
            DidChangeTextDocument::METHOD => {
                let p: DidChangeTextDocumentParams = serde_json::from_value(n.params)?;
                let path = path_of(&p.text_document.uri);
                // Texts come whole.
                if let (Some(path), Some(change)) = (path, p.content_changes.into_iter().last()) {
                    if let Some(doc) = self.documents.get_mut(&path) {
                        doc.change(p.text_document.version, change.text);
                        self.look(&path, false);
                    }
                }
            }
            DidSaveTextDocument::METHOD => {
                let p: DidSaveTextDocumentParams = serde_json::from_value(n.params)?;
                // Others may import what was saved.
                let all: Vec<String> = self.documents.keys().cloned().collect();
                let saved = path_of(&p.text_document.uri);
                all.iter().for_each(|path| self.look(path, Some(path) == saved.as_ref()));
            }
            DidCloseTextDocument::METHOD => {
                let p: DidCloseTextDocumentParams = serde_json::from_value(n.params)?;
                if let Some(path) = path_of(&p.text_document.uri) {
                    self.documents.remove(&path);
                    self.publish(&path, BTreeMap::new())?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn open(&self) -> BTreeMap<String, String> {
        self.documents.iter().map(|(path, doc)| (path.clone(), doc.text.clone())).collect()
    }

    /// Has a document checked, and proved if asked to.
    fn look(&mut self, path: &str, prove: bool) {
        let open = Arc::new(self.open());
        let Some(doc) = self.documents.get_mut(path) else { return };
        let job = Job { path: path.to_string(), version: doc.version, open };
        if prove {
            doc.proving = true;
            self.work.prove(job.clone());
        }
        self.work.check(job);
    }

    /// Takes what was found, if the text is still the same.
    fn done(&mut self, done: Done) -> Sent {
        let Some(doc) = self.documents.get_mut(&done.path).filter(|d| d.version == done.version) else { return Ok(()) };
        if doc.known.version != done.version {
            doc.known = Known { version: done.version, ..Known::default() };
        }
        match done.what {
            What::Checked(checked) => {
                doc.known.checked = Some(checked);
                doc.known.refused = None;
            }
            What::Ranges(program) => doc.known.ranges = Some(program),
            What::Proved(report) => {
                doc.known.report = Some(report);
                doc.proving = false;
            }
            What::Refused(Failure::Internal { stage, message }) => {
                doc.proving = false;
                return self.say(&format!("internal error in pass {stage}: {message}; please report this with the program that caused it"));
            }
            What::Refused(failure) => {
                doc.known = Known { version: done.version, refused: Some(failure), ..Known::default() };
                doc.proving = false;
            }
        }
        self.tell(&done.path)?;
        if self.refresh {
            self.asked += 1;
            let id = RequestId::from(self.asked);
            self.connection.sender.send(Message::Request(Request { id, method: CodeLensRefresh::METHOD.into(), params: Value::Null }))?;
        }
        Ok(())
    }

    /// Publishes everything that there is to say of a document's program.
    fn tell(&mut self, path: &str) -> Sent {
        let Some(doc) = self.documents.get(path) else { return Ok(()) };
        let known = &doc.known;
        let mut all = BTreeMap::new();
        if let Some(Failure::Refused { sources, diagnostics }) = &known.refused {
            all = by_file(diagnostics, sources, path, self.columns);
        }
        if let Some(checked) = &known.checked {
            let mut messages = checked.warnings.clone();
            if let Some(report) = &known.report {
                messages.extend(vacuous(checked, report, false));
                messages.extend(open_obligations(checked, report));
            }
            all = by_file(&messages, &checked.sources, path, self.columns);
        }
        self.publish(path, all)
    }

    /// Tells each file its messages, and those that had some before that there are none.
    fn publish(&mut self, path: &str, mut all: BTreeMap<String, Vec<lsp_types::Diagnostic>>) -> Sent {
        let before = self.told.remove(path).unwrap_or_default();
        for file in before.into_iter().chain([path.to_string()]) {
            all.entry(file).or_default();
        }
        self.told.insert(path.to_string(), all.iter().filter(|(_, m)| !m.is_empty()).map(|(file, _)| file.clone()).collect());
        for (file, diagnostics) in all {
            if let Some(uri) = uri_of(&file) {
                self.notify::<PublishDiagnostics>(PublishDiagnosticsParams { uri, diagnostics, version: None })?;
            }
        }
        Ok(())
    }

    fn say(&self, text: &str) -> Sent {
        self.notify::<ShowMessage>(ShowMessageParams { typ: MessageType::ERROR, message: text.into() })
    }

    fn notify<N: lsp_types::notification::Notification>(&self, params: N::Params) -> Sent {
        self.connection.sender.send(Message::Notification(Notification { method: N::METHOD.into(), params: serde_json::to_value(params)? }))?;
        Ok(())
    }

    fn request(&self, request: Request) -> Sent {
        let response = match self.answer(&request) {
            Ok(Some(result)) => Response::new_ok(request.id, result),
            Ok(None) => Response::new_err(request.id, ErrorCode::MethodNotFound as i32, format!("`{}` is not served", request.method)),
            Err(e) => Response::new_err(request.id, ErrorCode::InvalidParams as i32, e.to_string()),
        };
        self.connection.sender.send(Message::Response(response))?;
        Ok(())
    }

    /// The result of a request; `None`: it is not known. A document that is not open has no answers.
    fn answer(&self, request: &Request) -> Result<Option<Value>, serde_json::Error> {
        let params = request.params.clone();
        let found = match request.method.as_str() {
            HoverRequest::METHOD => {
                let p: HoverParams = serde_json::from_value(params)?;
                serde_json::to_value(self.at(&p.text_document_position_params, |doc, offset, texts| self.hover(doc, offset, texts)))?
            }
            GotoDefinition::METHOD => {
                let p: GotoDefinitionParams = serde_json::from_value(params)?;
                serde_json::to_value(self.at(&p.text_document_position_params, |doc, offset, texts| definition(doc, offset, texts, self.columns)))?
            }
            Formatting::METHOD => {
                let p: DocumentFormattingParams = serde_json::from_value(params)?;
                serde_json::to_value(self.document(&p.text_document.uri).and_then(|doc| self.format(doc)))?
            }
            DocumentSymbolRequest::METHOD => {
                let p: DocumentSymbolParams = serde_json::from_value(params)?;
                serde_json::to_value(self.document(&p.text_document.uri).map(|doc| symbols(doc, self.columns)))?
            }
            CodeLensRequest::METHOD => {
                let p: CodeLensParams = serde_json::from_value(params)?;
                serde_json::to_value(self.document(&p.text_document.uri).map(|doc| lenses(doc, self.columns)))?
            }
            _ => return Ok(None),
        };
        Ok(Some(found))
    }

    fn document(&self, uri: &Uri) -> Option<&Document> {
        self.documents.get(&path_of(uri)?)
    }

    fn at<T>(&self, p: &TextDocumentPositionParams, ask: impl FnOnce(&Document, u32, &Texts) -> Option<T>) -> Option<T> {
        let doc = self.document(&p.text_document.uri)?;
        let open = self.open();
        ask(doc, self.columns.offset(&doc.text, p.position), &Texts { world: &*self.world, open: &open })
    }

    fn hover(&self, doc: &Document, offset: u32, texts: &Texts) -> Option<Hover> {
        let (value, start, end) = hover(doc, offset, texts)?;
        let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value });
        Some(Hover { contents, range: Some(self.columns.range(&doc.text, start, end)) })
    }

    /// The text as the formatter writes it; one with errors stays as it is.
    fn format(&self, doc: &Document) -> Option<Vec<TextEdit>> {
        let new_text = santoku_syntax::format(santoku_diag::FileId(0), &doc.text).ok()?;
        let whole = self.columns.range(&doc.text, 0, doc.text.len() as u32);
        Some(if new_text == doc.text { vec![] } else { vec![TextEdit { range: whole, new_text }] })
    }
}
