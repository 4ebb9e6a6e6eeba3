import { readFileSync, readdirSync } from 'node:fs';
import * as main from 'nestjs-gatekeeper';
import * as postgres from 'nestjs-gatekeeper/postgres';
import * as redis from 'nestjs-gatekeeper/redis';
import * as testing from 'nestjs-gatekeeper/testing';
import { type Table, cell, code } from './markdown.js';
import { ROOT, type DocumentedError, errorsIn } from './source.js';

const exported = new Set([main, postgres, redis, testing].flatMap((entry) => Object.keys(entry)));

/** The exported errors that a part of lib declares. @param isPart by the file's path below lib */
export function errorsTable(isPart: (file: string) => boolean): Table {
  const all = new Map(sources().flatMap((file) => errorsIn(file).map((each) => [each.name, each])));
  const rows = [...all.values()]
    .filter(({ name, file }) => exported.has(name) && isPart(file.slice('lib/'.length)))
    .map((error) => [code(error.name), codeOf(error, all), cell(error.text)]);
  return { head: ['error', 'code', 'it means'], rows };
}

/** That of its base class, unless it has its own. The base class of all has none. */
function codeOf({ code: own, base }: DocumentedError, all: ReadonlyMap<string, DocumentedError>): string {
  if (own !== undefined) return code(own);
  const parent = all.get(base);
  return parent ? codeOf(parent, all) : '';
}

function sources(): string[] {
  const files = readdirSync(`${ROOT}lib`, { recursive: true, encoding: 'utf8' }).toSorted();
  const declares = /^export (abstract )?class \w+Error extends /m;
  return files
    .filter((file) => file.endsWith('.ts') && declares.test(readFileSync(`${ROOT}lib/${file}`, 'utf8')))
    .map((file) => `lib/${file}`);
}
