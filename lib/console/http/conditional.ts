import { createHash } from 'node:crypto';
import { systemClock } from '../../async/node-clock.js';
import { type Pieces, inSlices } from '../../async/slices.js';
import type { ConsoleRequest, ConsoleResponse } from './console-request.js';

/**
 * Whether the client has the answer already; then the status is 304. The tag is weak: it covers what the user sees,
 * without running times.
 *
 * @param essence what the user sees, part by part; hashed in slices, since a list may have thousands
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
    // JSON has no line breaks of its own: they keep the parts apart.
    hash.update(`${JSON.stringify(part)}\n`);
    yield 1;
  }
  return `W/"${hash.digest('base64url').slice(0, 22)}"`;
}
