import { AsyncLocalStorage } from 'node:async_hooks';

/** Objects whose functions tests replace for a while. Not `process`: graceful-fs and signal-exit replace some of it, too. */
const WATCHED = {
  globalThis,
  'process.stdout': process.stdout,
  'process.stderr': process.stderr,
  console,
  performance,
  Date,
  Math,
  JSON,
  'Array.prototype': Array.prototype,
  'Object.prototype': Object.prototype,
  'Promise.prototype': Promise.prototype,
  'AsyncLocalStorage.prototype': AsyncLocalStorage.prototype,
};

/** Storages that were used since the last call of {@link disableStorages}. */
const used = new Set();
for (const name of ['run', 'enterWith']) {
  const original = AsyncLocalStorage.prototype[name];
  AsyncLocalStorage.prototype[name] = function (...args) {
    used.add(this);
    return original.apply(this, args);
  };
}

/** A storage that was used once makes every promise slower that the thread makes later. The next use enables it again. */
export function disableStorages() {
  for (const storage of used) storage.disable();
  used.clear();
}

let before = new Map();

/** Takes the present state for the one that each file has to leave behind. */
export function remember() {
  before = state();
}

/**
 * What has changed since the last call for all files that this thread runs later: a line for each. It is told once, and
 * becomes the state to leave behind. Not counted: new globals, because Node makes some when they are first used, and the
 * helpers of tslib, which each copy of it defines again.
 */
export function leftovers() {
  const now = state();
  const changed = [...new Set([...before.keys(), ...now.keys()])].filter(
    (key) => before.get(key) !== now.get(key) && !(key.startsWith('globalThis.') && !before.has(key)),
  );
  before = now;
  return changed.map((key) => `Left behind for the files that follow: ${key}`);
}

function state() {
  const listeners = process
    .eventNames()
    .map((name) => [`a listener of process for "${String(name)}"`, process.listenerCount(name)]);
  const environment = Object.entries(process.env).map(([name, value]) => [`process.env.${name}`, value]);
  const functions = Object.entries(WATCHED).flatMap(([name, object]) => functionsOf(name, object));
  return new Map([...listeners, ...environment, ...functions]);
}

function functionsOf(name, object) {
  return Object.entries(Object.getOwnPropertyDescriptors(object))
    .filter(([property, { value }]) => typeof value === 'function' && !property.startsWith('__'))
    .map(([property, { value }]) => [`${name}.${property}`, value]);
}
