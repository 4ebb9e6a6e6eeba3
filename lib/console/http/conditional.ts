import { createHash } from 'node:crypto';
import { systemClock } from '../../async/node-clock.js';
import { type Pieces, inSlices } from '../../async/slices.js';
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
  const tag = await inSlices(tagOf(essence), systemClock);
  response.header('ETag', tag);
  const known = request.headers['if-none-match']?.split(',').map((each) => each.trim());
  if (!known?.includes(tag)) return false;
  response.status(304);
  return true;
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
