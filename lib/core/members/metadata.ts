import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { NodeMetadata } from '../context/participant.js';
import { show } from '../decision/index.js';

/** Bytes of a node's metadata as JSON. Every node reads the metadata of all nodes at each heartbeat. */
const MOST_METADATA = 1024;

/** Whether a value is an object with fields, and no list. */
export const isObject = (value: unknown): value is NodeMetadata =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** zod type of the metadata that an application publishes. The result is a copy, which later changes don't affect. */
export const metadataSchema = z.unknown().transform((value, context): NodeMetadata => {
  const read = readMetadata(value);
  if (typeof read !== 'string') return read;
  context.addIssue({ code: 'custom', message: read });
  return z.NEVER;
});

/** @returns a sentence without the field's name if the value is no metadata */
function readMetadata(value: unknown): NodeMetadata | string {
  if (!isObject(value)) return `${show(value)} is not an object: give { address: 'http://10.0.0.7:3000' }`;
  const text = jsonOf(value);
  const copy = text === undefined ? undefined : (JSON.parse(text) as NodeMetadata);
  if (text === undefined || !isDeepStrictEqual(copy, { ...value })) {
    return 'has a value that JSON can not express: give only text, finite numbers, booleans, null, lists and plain objects';
  }
  const size = Buffer.byteLength(text);
  return size <= MOST_METADATA ? copy! : `takes ${size} bytes as JSON: give at most ${MOST_METADATA}`;
}

/** @returns undefined for a value in a circle, or with a BigInt */
function jsonOf(value: object): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined; // the caller says what is allowed
  }
}
