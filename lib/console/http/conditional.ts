import { createHash } from 'node:crypto';
import type { ConsoleRequest, ConsoleResponse } from './console-request.js';

/**
 * Whether the client has the answer already, and is told so (304). The tag is a weak one: `essence` says when an answer
 * is another for whoever looks at it, which an answer whose times run on always is to the letter.
 */
export function isKnownToClient(request: ConsoleRequest, response: ConsoleResponse, essence: string): boolean {
  const tag = `W/"${createHash('sha256').update(essence).digest('base64url').slice(0, 22)}"`;
  response.header('ETag', tag);
  const known = request.headers['if-none-match']?.split(',').map((each) => each.trim());
  if (!known?.includes(tag)) return false;
  response.status(304);
  return true;
}
