// Starts `santoku lsp` and speaks with it; everything that is shown comes from there.
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = () => {
  const settings = workspace.getConfiguration("santoku");
  const target = settings.get("target");
  const args = target ? ["lsp", "--target", target] : ["lsp"];
  client = new LanguageClient("santoku", "Santoku", { command: settings.get("path"), args }, { documentSelector: [{ scheme: "file", language: "santoku" }] });
  return client.start();
};

exports.deactivate = () => client?.stop();
