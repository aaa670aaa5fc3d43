// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the extension for VS Code with a small `vscode` in place of the editor's.
//
//   node editor_mock.js EXTENSION MPROF COMMANDS SOURCE...
//
// Shows the files SOURCE, and runs COMMANDS: show=FILE:TYPE chooses a profile and a
// value type, open=FILE shows one more file, and hide. Prints the decorations after
// each command, the choices that the user had, and the messages.

'use strict';

const fs = require('fs');
const Module = require('module');
const path = require('path');

const [, , extension, mprof, commands, ...sources] = process.argv;
let chosen = [], registered = {}, changed;

// Blanks that do not break a line become usual ones.
function print(text) {
  console.log(text.replace(/\u00a0/g, ' '));
}

class MarkdownString {
  constructor() { this.value = ''; }
  appendText(text) { this.value += text; }
  appendCodeblock(text) { this.value += '\n' + text; }
}

function editorOf(file) {
  const lines = fs.readFileSync(file, 'utf8').split('\n');
  const document = {
    uri: {scheme: 'file', fsPath: path.resolve(file)}, lineCount: lines.length,
    lineAt: line => ({range: {line, end: lines[line].length}})
  };
  return {document, decorations: [], setDecorations(type, options) {
    if (!type.after)
      throw new Error('unknown decoration');
    this.decorations = options;
  }};
}

const window = {
  visibleTextEditors: sources.map(editorOf),
  createTextEditorDecorationType: options => ({...options, dispose() {}}),
  onDidChangeVisibleTextEditors: call => { changed = call; return {dispose() {}}; },
  showQuickPick: async items => {
    console.log('choices:', items.map(i => i.label || i).join(' '));
    const wanted = chosen.shift();
    return items.find(i => (i.file || i) === wanted || (i.label || '').endsWith('...'));
  },
  showOpenDialog: async () => [{fsPath: 'none.pb.gz'}],
  showErrorMessage: text => console.log('error:', text),
  setStatusBarMessage: text => print('status: ' + text)
};
const vscode = {
  window, MarkdownString, ThemeColor: class {},
  workspace: {
    getConfiguration: () => ({get: name => ({path: mprof, arguments: []})[name]}),
    findFiles: async () => fs.readdirSync('.').filter(f => f.endsWith('.pb.gz')).map(f => ({fsPath: path.resolve(f)}))
  },
  commands: {registerCommand: (name, call) => { registered[name] = call; return {dispose() {}}; }}
};
const load = Module._load;
Module._load = (name, ...rest) => name === 'vscode' ? vscode : load(name, ...rest);

async function main() {
  const {activate} = require(path.resolve(extension));
  const {contributes} = require(path.join(path.dirname(path.resolve(extension)), 'package.json'));
  activate({subscriptions: []});
  for (const {command} of contributes.commands)
    if (!registered[command])
      throw new Error('there is no command ' + command);
  for (const text of commands.split(' ')) {
    const [name, argument] = text.split('=');
    console.log('#', text);
    if (name === 'open') {
      window.visibleTextEditors.push(editorOf(argument));
      changed(window.visibleTextEditors);
    } else {
      const [file, type] = (argument || '').split(':');
      chosen = [path.resolve(file), type];
      await registered['mprof.' + name]();
    }
    for (const {document, decorations} of window.visibleTextEditors)
      for (const {range, renderOptions, hoverMessage} of decorations)
        print(JSON.stringify({file: document.uri.fsPath, line: range.line + 1, column: range.end,
          text: renderOptions.after.contentText, hover: hoverMessage.value}));
  }
}

main();
