import type { IncomingMessage } from 'node:http';
import { ProblemError } from './problem.error.js';
import { type ConsoleRequest, rawRequest } from './console-request.js';

/**
 * The body of a request as JSON has it: what the application's parser made of it, or, where it has none (`bodyParser:
 * false`), read here. Bounded either way. No body counts as an empty object.
 *
 * @param largest bytes
 */
export async function bodyOf(request: ConsoleRequest, largest: number): Promise<unknown> {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > largest) throw tooLarge(largest);
  if (request.body !== undefined && request.body !== null) return measured(request, largest);
  const raw = rawRequest(request);
  return raw.readableEnded ? {} : parsed(await read(raw, largest));
}

/** Without a Content-Length (chunked) the parser read as much as it may itself. */
function measured({ body, headers }: ConsoleRequest, largest: number): unknown {
  const isMeasured = headers['content-length'] !== undefined && headers['content-encoding'] === undefined;
  if (!isMeasured && Buffer.byteLength(JSON.stringify(body)) > largest) throw tooLarge(largest);
  return body;
}

async function read(raw: IncomingMessage, largest: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of raw as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > largest) throw tooLarge(largest);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parsed(text: string): unknown {
  if (text === '') return {};
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ProblemError('bad-request', `the body is not JSON: ${(cause as Error).message}`, {}, { cause });
  }
}

function tooLarge(largest: number): ProblemError {
  return new ProblemError('too-large', `the body is larger than ${largest} bytes`);
}
