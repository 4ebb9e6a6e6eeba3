/**
 * Counts the project's old words (identifiers) and its stilted ones (all text), per folder.
 * Usage: `npm run words`, with `-- --where` to list each place; `--check` prints failures only. Ends with 1 if an old
 * word is left or the budget of stilted words is exceeded.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import ts from 'typescript';
import { BUDGET, OLD_WORDS, STILTED } from './vocabulary.mjs';

const FOLDERS = ['lib', 'docs', 'test', 'bench', 'sample-app', 'examples'];
const isCheck = process.argv.includes('--check');
const showsPlaces = process.argv.includes('--where');

const places = sourceFiles().flatMap((file) => {
  const text = readFileSync(file, 'utf8');
  return [...oldWordsIn(file, text), ...stiltedIn(text)].map((found) => ({
    ...found,
    file,
    line: lineOf(text, found),
  }));
});
const old = places.filter(({ kind }) => kind === 'old');
const stilted = places.filter(({ kind }) => kind === 'stilted');

if (!isCheck) {
  print('Old words', namesOf(OLD_WORDS), old);
  print('Stilted words', namesOf(STILTED), stilted);
}
if (showsPlaces) for (const { file, line, word } of places) console.log(`${file}:${line}  ${word}`);

const failures = [
  ...old.map(oldWordLeft),
  ...(stilted.length > BUDGET
    ? [`${stilted.length} stilted words; the budget is ${BUDGET}: rewrite the new ones.`]
    : []),
];
if (!isCheck && stilted.length < BUDGET)
  console.log(`Lower BUDGET in tools/words/vocabulary.mjs to ${stilted.length}.`);
for (const failure of failures) console.error(failure);
process.exitCode = failures.length > 0 ? 1 : 0;

function namesOf(vocabulary) {
  return vocabulary.map(({ word }) => word);
}

function sourceFiles() {
  const all = FOLDERS.flatMap((folder) => readdirSync(folder, { recursive: true }).map((file) => join(folder, file)));
  return [...all.map((file) => file.split(sep).join('/')), 'README.md']
    .filter((file) => /\.([mc]?[jt]s|tsx|md)$/.test(file) && !/\/(dist|node_modules)\//.test(file))
    .toSorted();
}

function oldWordsIn(file, text) {
  if (file.endsWith('.md')) return [];
  return identifiersIn(file, text).flatMap(({ name, index }) =>
    OLD_WORDS.filter(({ pattern }) => pattern.test(name)).map((each) => ({ kind: 'old', word: each.word, index })),
  );
}

function stiltedIn(text) {
  return STILTED.flatMap(({ word, pattern }) =>
    [...text.matchAll(pattern)].map(({ index }) => ({ kind: 'stilted', word, index })),
  );
}

function identifiersIn(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest);
  const found = [];
  const visit = (node) => {
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) {
      found.push({ name: node.text.replace(/^#/, ''), index: node.getStart(source) });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function lineOf(text, { index }) {
  return text.slice(0, index).split('\n').length;
}

function oldWordLeft({ file, line, word }) {
  return `${file}:${line} says "${word}": the word is "${OLD_WORDS.find((each) => each.word === word).now}" now.`;
}

function print(title, words, found) {
  console.log(`${title}: ${found.length}`);
  const rows = [...new Set(found.map(({ file }) => folderOf(file)))].map((folder) => {
    const own = found.filter(({ file }) => folderOf(file) === folder);
    return [folder, { total: own.length, ...countsOf(words, own) }];
  });
  if (rows.length > 0) console.table(Object.fromEntries(rows));
}

function countsOf(words, found) {
  const used = words.filter((word) => found.some((each) => each.word === word));
  return Object.fromEntries(used.map((word) => [word, found.filter((each) => each.word === word).length]));
}

/** `lib/permits`, but `docs`: only the folders of lib are told apart. */
function folderOf(file) {
  const [top, folder, ...rest] = file.split('/');
  return top === 'lib' && rest.length > 0 ? `${top}/${folder}` : top;
}
