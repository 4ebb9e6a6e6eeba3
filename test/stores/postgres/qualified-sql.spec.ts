import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../docs/snippets.js';

/** Folders whose files have SQL. */
const FOLDERS = ['lib/stores/postgres', 'lib/operate/activity/archive/postgres'];
/** A text is SQL if it has one of these words. */
const SQL =
  /\b(SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE|ALTER TABLE|VALUES|WHERE|RETURNING|LOCK TABLE|CASE WHEN|DEFAULT|COLLATE|pg_catalog)\b/;
/** Words before a parenthesis that are no functions, or that PostgreSQL's grammar itself resolves. */
const GRAMMAR = new Set(
  [
    'AND',
    'ANY',
    'ARRAY',
    'AS',
    'BY',
    'EXISTS',
    'FROM',
    'IN',
    'KEY',
    'OPERATOR',
    'OVER',
    'OR',
    'SELECT',
    'THEN',
    'VALUES',
    'WHERE',
    'WITH',
  ].concat(['coalesce', 'extract', 'CONFLICT', 'USING', 'NOT', 'IF']),
);

/** The texts of SQL in a source, with `_` for what is put in. */
function textsIn(source: string): string[] {
  const code = source.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gmu, '');
  const texts = [...code.matchAll(/`((?:[^`\\]|\\.)*)`|'((?:[^'\\\n]|\\.)*)'/gu)].map(
    ([, long, short]) => long ?? short!,
  );
  return texts.map(withoutExpressions).filter((text) => SQL.test(text));
}

/** Expressions in a template may have braces and templates. */
function withoutExpressions(text: string): string {
  return text.replaceAll(/\$\{(?:[^{}]|\{[^{}]*\})*\}/gu, '_');
}

/** What another user's functions, operators, types or collations could take the place of. */
function faultsOf(sql: string): string[] {
  const text = sql
    .replaceAll(/'[^']*'/gu, "''")
    .replaceAll(/OPERATOR\(pg_catalog\.[^)]+\)/gu, ' OPERATOR ')
    .replaceAll(/\$(?=\d)/gu, '');
  const calls = [...text.matchAll(/(pg_catalog\.)?("?\b[a-zA-Z_]\w*"?)\s*\(/gu)]
    .filter(([, schema, name]) => !schema && !GRAMMAR.has(name!) && !isNameWithColumns(text, name!))
    .map(([call]) => call);
  const casts = [...text.matchAll(/::\s*(?!pg_catalog\.)\S+/gu)].map(([cast]) => cast);
  const operators = [
    ...text
      .replaceAll(/\bSET\s+\w+\s*=|,\s*\w+\s*=(?!=)|\(\w+ = [\d.]+\)|\bcount\(\*\)|::/gu, ' ')
      .matchAll(/\w\s*([=<>|*+/%]+|->>?|-)\s*['\w(]/gu),
  ].map(([operator]) => operator);
  const words = [
    ...text.matchAll(/\b(?:IN\s*\(|LIKE\b|BETWEEN\b|SIMILAR\b)|\bJOIN\b|COLLATE (?!pg_catalog\.)\S+/gu),
  ].map(([word]) => word);
  const types = [...text.matchAll(/^\s*[a-z_]+ (text|bigint|integer|jsonb|timestamptz)\b/gmu)].map(([type]) => type);
  return [...calls, ...casts, ...operators, ...words, ...types];
}

/** The names of tables and aliases stand before lists of columns. */
function isNameWithColumns(text: string, name: string): boolean {
  return (
    new RegExp(
      `(?:INTO|AS|EXISTS|ON|TABLE|kept|each|given|near|found|wanted|removed|written|offered) ${name}\\s*\\(`,
      'u',
    ).test(text) ||
    name === '_' ||
    new RegExp(`\\b${name} AS \\(`, 'u').test(text)
  );
}

describe('the SQL of PostgreSQL stores and archives', () => {
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(folder, name)),
  );

  it.each(files)('names the schema of every function, operator, type and collation: %s', (file) => {
    const texts = textsIn(readFileSync(join(ROOT, file), 'utf8'));
    expect(texts.flatMap((text) => faultsOf(text).map((fault) => `${fault}   in   ${text}`))).toEqual([]);
  });

  it.each([
    ['SELECT now()', 1],
    ['SELECT text FROM _ WHERE key = $1', 1],
    ['SELECT (a -> b) WHERE x OPERATOR(pg_catalog.=) $1::text', 2],
    ['SELECT a * 1000', 1],
    ['SELECT a WHERE b IN (SELECT c)', 1],
    ['SELECT a FROM b JOIN c USING (d)', 1],
    ['SELECT pg_catalog.now() WHERE a OPERATOR(pg_catalog.=) $1::pg_catalog.text', 0],
    ['CREATE TABLE a (\n  b text COLLATE "C"\n)', 2],
  ])('is checked for: %s', (sql, count) => {
    expect(faultsOf(sql)).toHaveLength(count);
  });
});
