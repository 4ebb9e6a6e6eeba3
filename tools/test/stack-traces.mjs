import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BUILD } from './compile.mjs';

/**
 * Lets stack traces of this thread name the sources. Node can do the same (`process.setSourceMapsEnabled`), but reads the
 * map of each module as soon as it is loaded, and keeps it: 300 MB for all tests. This reads a map for a stack only.
 */
export function nameSources() {
  Error.prepareStackTrace = (error, sites) => [headOf(error), ...sites.map(lineOf)].join('\n    at ');
}

/** A compiled file in the text of a call site: `file:///…/.build/lib/index.js:12:5`. */
const PLACE = /file:\/\/[^\s()]+?\.js(?:\?\d+)?:\d+:\d+/;
const PARTS = /^(.+?\.js)(?:\?\d+)?:(\d+):(\d+)$/;

function headOf(error) {
  try {
    return Error.prototype.toString.call(error);
  } catch {
    return 'Error';
  }
}

function lineOf(site) {
  return String(site).replace(PLACE, (place) => sourceOf(place) ?? place);
}

function sourceOf(place) {
  const [, href, line, column] = PARTS.exec(place);
  const path = fileURLToPath(href);
  if (!path.startsWith(BUILD)) return undefined;
  const { originalSource, originalLine, originalColumn } = mapOf(path)?.findEntry(line - 1, column - 1) ?? {};
  if (originalSource === undefined) return undefined;
  return `${resolve(dirname(path), originalSource)}:${originalLine + 1}:${originalColumn + 1}`;
}

/** Some: an error that is thrown a thousand times needs the same maps each time. */
const MOST_MAPS = 50;
const maps = new Map();

function mapOf(path) {
  if (!maps.has(path)) {
    if (maps.size === MOST_MAPS) maps.clear();
    maps.set(path, readMap(path));
  }
  return maps.get(path);
}

function readMap(path) {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${path}.map`, 'utf8')));
  } catch {
    // A stack without sources is better than an error in place of the error.
    return undefined;
  }
}
