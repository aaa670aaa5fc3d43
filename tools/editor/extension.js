// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An extension of VS Code that shows the values of a profile at the end of the
// source lines, with the largest stacks through a line as its hover. The values
// are those of mprof list and mprof traces.

'use strict';

const childProcess = require('child_process');
const fs = require('fs');
const path = require('path');
const vm = require('vm');
const vscode = require('vscode');

// The numbers have the form of the page of mprof html, whose script is no module.
const {counted, quantity, share} = vm.runInNewContext(
    fs.readFileSync(path.join(__dirname, 'format.js'), 'utf8') + '\n({counted, quantity, share})');

const HOVER_STACKS = 3, HOVER_FRAMES = 20, MOST_STACKS = 2000, MOST_FILES = 200;

let shown = null; // the profile that is shown
let decoration = null;

// --- reading a profile

// Runs mprof, and returns the object that it prints. Throws its message.
function mprof(command, file, args) {
  const settings = vscode.workspace.getConfiguration('mprof');
  const more = command === 'info' ? [] : settings.get('arguments') || [];
  const all = [command, '--format=json', ...args, ...more, file];
  return new Promise((resolve, reject) => {
    childProcess.execFile(settings.get('path') || 'mprof', all, {maxBuffer: 2 ** 30},
        (error, out, message) => {
          if (error)
            reject(new Error(message.trim() || error.message));
          else
            resolve(JSON.parse(out));
        });
  });
}

// Returns the value types that have values, the default first.
async function typesOf(file) {
  const {values} = await mprof('info', file, []);
  return values.filter(v => v.sum).sort((a, b) => b.is_default - a.is_default).map(v => v.type);
}

// Returns {type, unit, total, files}. files: a map from paths to maps from line
// numbers to {value, cum, stacks}, with the largest stacks first.
async function load(file, type) {
  const sample = type ? ['--sample=' + type] : [];
  const list = await mprof('list', file, ['-n', '0', ...sample]);
  const traces = await mprof('traces', file, ['-n', String(MOST_STACKS), ...sample]);
  const files = new Map();
  for (const f of list.functions) {
    if (!f.file)
      continue;
    const lines = files.get(f.file) || new Map();
    files.set(f.file, lines);
    for (const {line, value, with_callees: cum} of f.lines) {
      const row = lines.get(line) || {value: 0, cum: 0, stacks: []};
      row.value += value;
      row.cum += cum;
      lines.set(line, row);
    }
  }
  for (const stack of traces.stacks) {
    const seen = new Set();
    for (const {file: name, line} of stack.frames) {
      const lines = files.get(name), row = lines && lines.get(line);
      if (row && !seen.has(row) && row.stacks.length < HOVER_STACKS)
        row.stacks.push(stack);
      seen.add(row);
    }
  }
  return {type: list.type, unit: list.unit, total: list.total, files};
}

// --- files

// Returns the number of equal parts at the end of two paths.
function commonEnd(a, b) {
  const x = a.split('/').reverse(), y = b.split('/').reverse();
  let n = 0;
  while (n < x.length && n < y.length && x[n] === y[n])
    n++;
  return n;
}

// Returns the lines of the file that the editor shows. A profile may come from
// another directory or machine. Then the end of the path decides: its directory
// must be the same, or no other file of the profile has the name.
function linesOf(profile, name) {
  let real = name;
  try {
    real = fs.realpathSync(name);
  } catch (error) { // the file is not on a disk
  }
  if (profile.files.has(name) || profile.files.has(real))
    return profile.files.get(name) || profile.files.get(real);
  const same = [...profile.files.keys()].filter(f => commonEnd(f, real) > 0);
  same.sort((a, b) => commonEnd(b, real) - commonEnd(a, real));
  const best = same.length ? commonEnd(same[0], real) : 0;
  const isClear = same.length === 1 || (best > 1 && commonEnd(same[1], real) < best);
  return isClear ? profile.files.get(same[0]) : null;
}

// --- decorations

function lineText(profile, row) {
  const own = row.value ? quantity(row.value, profile.unit) : '';
  if (row.cum === row.value)
    return own;
  return (own ? own + ', ' : '') + quantity(row.cum, profile.unit) + ' with callees';
}

function hoverOf(profile, row) {
  const hover = new vscode.MarkdownString();
  const texts = row.stacks.map(stack => {
    const lines = stack.frames.slice(0, HOVER_FRAMES).map(f =>
      '  ' + f.function + (f.file ? `  ${path.basename(f.file)}:${f.line}` : '') +
          (f.via ? `  via ${f.via}` : ''));
    const more = stack.frames.length - lines.length;
    return [quantity(stack.value, profile.unit), ...lines, ...(more ? [`  and ${more} more`] : [])].join('\n');
  });
  hover.appendText(`${profile.type}: ${lineText(profile, row)}, ` +
      `${share(row.cum, profile.total)} of the profile`);
  if (texts.length)
    hover.appendCodeblock(texts.join('\n\n'), 'text');
  return hover;
}

function decorate(editor) {
  if (!shown || editor.document.uri.scheme !== 'file')
    return;
  const rows = linesOf(shown, editor.document.uri.fsPath) || new Map();
  const options = [];
  for (const [line, row] of rows) {
    const contentText = lineText(shown, row);
    if (line < 1 || line > editor.document.lineCount || !contentText)
      continue;
    const {range} = editor.document.lineAt(line - 1);
    options.push({range, hoverMessage: hoverOf(shown, row), renderOptions: {after: {contentText}}});
  }
  editor.setDecorations(decoration, options);
}

function hide() {
  shown = null;
  for (const editor of decoration ? vscode.window.visibleTextEditors : [])
    editor.setDecorations(decoration, []);
}

// --- commands

// Returns the path of the profile that the user chooses, or undefined.
async function chooseFile() {
  const found = await vscode.workspace.findFiles('**/*.pb.gz', null, MOST_FILES);
  const time = uri => fs.statSync(uri.fsPath, {throwIfNoEntry: false})?.mtimeMs || 0;
  const items = found.sort((a, b) => time(b) - time(a)).map(uri => (
    {label: path.basename(uri.fsPath), description: path.dirname(uri.fsPath), file: uri.fsPath}));
  const other = {label: 'Another file...'};
  const item = items.length ?
    await vscode.window.showQuickPick([...items, other], {placeHolder: 'Profile, the newest first'}) : other;
  if (item !== other)
    return item && item.file;
  const uris = await vscode.window.showOpenDialog({title: 'Profile', filters: {Profiles: ['gz', 'pb']}});
  return uris && uris[0].fsPath;
}

async function show() {
  const file = await chooseFile();
  if (!file)
    return;
  try {
    const types = await typesOf(file);
    const type = types.length > 1 ?
      await vscode.window.showQuickPick(types, {placeHolder: 'Values'}) : types[0];
    if (types.length > 1 && !type)
      return;
    hide();
    shown = await load(file, type);
  } catch (error) {
    vscode.window.showErrorMessage('MProf: ' + error.message);
    return;
  }
  vscode.window.visibleTextEditors.forEach(decorate);
  vscode.window.setStatusBarMessage(`MProf: ${shown.type} ${quantity(shown.total, shown.unit)} in ` +
      counted(shown.files.size, 'file'), 10000);
}

function activate(context) {
  decoration = vscode.window.createTextEditorDecorationType({
    after: {margin: '0 0 0 3em', color: new vscode.ThemeColor('editorCodeLens.foreground')}
  });
  context.subscriptions.push(decoration,
      vscode.commands.registerCommand('mprof.show', show),
      vscode.commands.registerCommand('mprof.hide', hide),
      vscode.window.onDidChangeVisibleTextEditors(editors => editors.forEach(decorate)));
}

module.exports = {activate, deactivate: hide};
