import { createHash } from 'node:crypto';
import { systemClock } from '../../core/async/node-clock.js';
import { type Pieces, inSlices } from '../../core/async/slices.js';
import type { ConsoleRequest, ConsoleResponse } from './console-request.js';

/**
 * Checks whether the client already has the answer, and sets the status 304 if so. The ETag is weak: it stands for the
 * data that the user sees, without running countdowns.
 *
 * @param essence the data that the user sees, part by part. They are hashed in slices, because a list may have
 *   thousands of entries
 */
export async function isKnownToClient(
  request: ConsoleRequest,
  response: ConsoleResponse,
  essence: Iterable<unknown>,
): Promise<boolean> {
  return isTagKnown(request, response, await inSlices(tagOf(essence), systemClock));
}

/**
 * Sets the ETag of an answer, and the status 304 if the client already has the answer. A proxy that compresses answers makes a
 * tag weak, so only what follows `W/` counts.
 */
export function isTagKnown(request: ConsoleRequest, response: ConsoleResponse, tag: string): boolean {
  response.header('ETag', tag);
  const known = request.headers['if-none-match']?.split(',').map(opaqueTag);
  if (!known?.includes(opaqueTag(tag))) return false;
  response.status(304);
  return true;
}

function opaqueTag(tag: string): string {
  return tag.trim().replace(/^W\//, '');
}

/** The strong ETag of bytes that never change. */
export function tagOfBytes(...parts: readonly Uint8Array[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return `"${hash.digest('base64url').slice(0, 22)}"`;
}

function* tagOf(essence: Iterable<unknown>): Pieces<string> {
  const hash = createHash('sha256');
  for (const part of essence) {
    // A line break separates the parts, because this JSON contains none.
    hash.update(`${JSON.stringify(part)}\n`);
    yield 1;
  }
  return `W/"${hash.digest('base64url').slice(0, 22)}"`;
}
