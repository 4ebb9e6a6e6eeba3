import type { IncomingMessage } from 'node:http';
import { ProblemError } from '../api/problem.error.js';
import { type ConsoleRequest, rawRequest } from './console-request.js';
import { isWatched, problemOfJson, refusalOf, tooLarge } from './incoming-bodies.js';
import { DEEPEST, JsonScan, MOST_VALUES } from './json-scan.js';

/**
 * Returns the JSON body of a request. If the application has no parser (`bodyParser: false`), the body is read here.
 * The limit applies in both cases. A missing body counts as an empty object.
 *
 * @param largest maximum size in bytes
 * @throws ProblemError if the body is too large, nests too deep, or can't be read
 */
export async function bodyOf(request: ConsoleRequest, largest: number): Promise<unknown> {
  const raw = rawRequest(request);
  expectAccepted(raw);
  // Fastify's parser turns the text "null" into null. That is a body, too, and not an empty object.
  if (request.body !== undefined) return isWatched(raw) ? request.body : measured(request.body, largest);
  return raw.readableEnded ? {} : parsed(await read(raw, largest));
}

/** @throws ProblemError if the body was refused while it arrived: the application has got only its begin */
function expectAccepted(raw: IncomingMessage): void {
  const refusal = refusalOf(raw);
  if (refusal) throw refusal;
}

/** Checks a body that came without a server, such as by Fastify's `inject`. */
function measured(body: unknown, largest: number): unknown {
  // The nesting is checked first, because JSON.stringify needs a stack as deep as the nesting.
  shallow(body);
  if (Buffer.byteLength(JSON.stringify(body)) > largest) throw tooLarge(largest);
  return body;
}

async function read(raw: IncomingMessage, largest: number): Promise<string> {
  const chunks: Buffer[] = [];
  const scan = new JsonScan();
  let size = 0;
  for await (const chunk of chunksOf(raw)) {
    size += chunk.length;
    if (size > largest) throw tooLarge(largest);
    const problem = isWatched(raw) ? undefined : problemOfJson(scan.add(chunk));
    if (problem) throw problem;
    chunks.push(chunk);
  }
  expectAccepted(raw);
  return Buffer.concat(chunks).toString('utf8');
}

/** @throws ProblemError if the connection ends before the body does: that is no failure of the node */
async function* chunksOf(raw: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    yield* raw as AsyncIterable<Buffer>;
  } catch (cause) {
    throw new ProblemError('bad-request', 'the connection ended before the body did', {}, { cause });
  }
}

function parsed(text: string): unknown {
  if (text === '') return {};
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ProblemError('bad-request', `the body is not JSON: ${(cause as Error).message}`, {}, { cause });
  }
}

/**
 * @throws ProblemError if the body nests too deep, because recursive code could overflow the stack, or has too many values:
 * then it is refused before all of them were seen
 */
function shallow(body: unknown): unknown {
  let level = [body];
  for (let depth = 0, count = 0; level.length > 0; depth++) {
    if (depth > DEEPEST) throw problemOfJson('too deep')!;
    const next: unknown[] = [];
    for (const value of level) {
      if (typeof value !== 'object' || value === null) continue;
      const values: unknown[] = Array.isArray(value) ? value : Object.values(value);
      if ((count += values.length) > MOST_VALUES) throw problemOfJson('too many values')!;
      for (const each of values) next.push(each);
    }
    level = next;
  }
  return body;
}
