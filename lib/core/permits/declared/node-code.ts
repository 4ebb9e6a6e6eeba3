import { createHash } from 'node:crypto';
import { type CodeDefinition, FINGERPRINT_LENGTH, type SemaphoreDefinition } from '../../decision/index.js';

/**
 * The definitions in a node's code, as its registry entry announces them: one text of pairs. A pair is a hash of the name
 * and the fingerprint, both of {@link FINGERPRINT_LENGTH} characters. Names themselves would fill the registry's texts.
 */
const PAIR = 2 * FINGERPRINT_LENGTH;

/**
 * Maximum number of announced definitions of a node: 200,000 characters. The texts of the registry keep the code of two
 * versions besides the entries of their nodes. More definitions are not announced, and so don't follow the code.
 */
export const MOST_ANNOUNCED = 10_000;

/** Matches the text of at most {@link MOST_ANNOUNCED} definitions. */
export const CODE_TEXT = new RegExp(`^(?:[\\w-]{${PAIR}}){0,${MOST_ANNOUNCED}}$`);

/** @param definitions of this node's code */
export function encodeCode(definitions: Iterable<CodeDefinition>): string {
  const pairs: string[] = [];
  for (const { definition, fingerprint } of definitions) {
    if (pairs.length === MOST_ANNOUNCED) break;
    pairs.push(nameHash(definition.name) + fingerprint);
  }
  return pairs.join('');
}

/**
 * @param text that {@link CODE_TEXT} matches
 * @returns the fingerprint of each definition, by the hash of its name
 */
export function fingerprintsIn(text: string): ReadonlyMap<string, string> {
  const fingerprints = new Map<string, string>();
  for (let at = 0; at < text.length; at += PAIR) {
    fingerprints.set(text.slice(at, at + FINGERPRINT_LENGTH), text.slice(at + FINGERPRINT_LENGTH, at + PAIR));
  }
  return fingerprints;
}

/**
 * @param text that {@link CODE_TEXT} matches
 * @returns the fingerprint of each name; undefined for a name that the code does not define
 */
export function decodeCode(text: string): (name: string) => string | undefined {
  const fingerprints = fingerprintsIn(text);
  return (name) => fingerprints.get(nameHash(name));
}

/** The hash that stands for a name in an announcement. */
export function nameHash(name: string): string {
  return shortHash(name);
}

/** Maximum number of announced names that a node has used without a definition. */
const MOST_USED = 500;

/** Matches the text of at most {@link MOST_USED} names. */
export const USED_TEXT = new RegExp(`^(?:[\\w-]{${FINGERPRINT_LENGTH}}){0,${MOST_USED}}$`);

/** @param names that this node has used without a definition in its code: only their hashes are announced */
export function encodeUsed(names: Iterable<string>): string {
  const hashes: string[] = [];
  for (const name of names) {
    if (hashes.length === MOST_USED) break;
    hashes.push(nameHash(name));
  }
  return hashes.join('');
}

/** @param text that {@link USED_TEXT} matches @returns whether the node has used a name */
export function decodeUsed(text: string): (name: string) => boolean {
  const hashes = new Set<string>();
  for (let at = 0; at < text.length; at += FINGERPRINT_LENGTH) hashes.add(text.slice(at, at + FINGERPRINT_LENGTH));
  return (name) => hashes.size > 0 && hashes.has(nameHash(name));
}

/** Made once per object: code's definitions stay the same objects as long as a node lives. */
const made = new WeakMap<SemaphoreDefinition, CodeDefinition>();

/** Adds the fingerprint. It covers the name, too: two nodes with equal definitions have equal fingerprints. */
export function codeDefinition(definition: SemaphoreDefinition): CodeDefinition {
  const known = made.get(definition);
  if (known) return known;
  const { name, groupPattern, acquirerPattern, permits, duration } = definition;
  const fingerprint = shortHash(JSON.stringify([name, groupPattern, acquirerPattern, permits, duration]));
  const withFingerprint = { definition, fingerprint };
  made.set(definition, withFingerprint);
  return withFingerprint;
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, FINGERPRINT_LENGTH);
}
