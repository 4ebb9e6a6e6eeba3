import type { IncomingMessage } from 'node:http';
import { ProblemError } from './problem.error.js';
import { type ConsoleRequest, rawRequest } from './console-request.js';

/** The deepest nesting of lists and objects. No call needs more than three levels. */
const DEEPEST = 32;

/** More than any call sends: a large body is a few long texts, or some hundred entries of a journal. */
const MOST_VALUES = 10_000;
const [QUOTE, COMMA] = ['"'.charCodeAt(0), ','.charCodeAt(0)];

/**
 * The JSON body of a request, from the application's parser or, without one (`bodyParser: false`), read here. Limited in
 * both cases. A missing body counts as an empty object.
 *
 * @param largest bytes
 */
export async function bodyOf(request: ConsoleRequest, largest: number): Promise<unknown> {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > largest) throw tooLarge(largest);
  // Also null, which Fastify's parser makes of the text "null": it is no empty object.
  if (request.body !== undefined) return measured(request, largest);
  const raw = rawRequest(request);
  return raw.readableEnded ? {} : shallow(parsed(await read(raw, largest)));
}

/** Without a Content-Length (chunked) the parser read as much as it may itself. */
function measured({ body, headers }: ConsoleRequest, largest: number): unknown {
  // Before it is written as text again, which takes a stack as deep as it is nested.
  shallow(body);
  const isMeasured = headers['content-length'] !== undefined && headers['content-encoding'] === undefined;
  if (!isMeasured && Buffer.byteLength(JSON.stringify(body)) > largest) throw tooLarge(largest);
  return body;
}

async function read(raw: IncomingMessage, largest: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunksOf(raw)) {
    size += chunk.length;
    if (size > largest) throw tooLarge(largest);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** @throws ProblemError when the connection ends before the body does: the client's failure, not the node's */
async function* chunksOf(raw: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    yield* raw as AsyncIterable<Buffer>;
  } catch (cause) {
    throw new ProblemError('bad-request', 'the connection ended before the body did', {}, { cause });
  }
}

function parsed(text: string): unknown {
  if (text === '') return {};
  if (commasIn(text) > MOST_VALUES) throw new ProblemError('too-large', `the body has more than ${MOST_VALUES} values`);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ProblemError('bad-request', `the body is not JSON: ${(cause as Error).message}`, {}, { cause });
  }
}

/** Commas outside of texts: to count them takes a small part of the time that parsing and checking the values takes. */
function commasIn(json: string): number {
  let count = 0;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === COMMA) count++;
    else if (code === QUOTE) at = endOfText(json, at);
  }
  return count;
}

/** The closing quote of the text that begins at `from`: one with an even number of backslashes before it. */
function endOfText(json: string, from: number): number {
  for (let end = json.indexOf('"', from + 1); end !== -1; end = json.indexOf('"', end + 1)) {
    let first = end;
    while (json[first - 1] === '\\') first--;
    if ((end - first) % 2 === 0) return end;
  }
  return json.length;
}

/** @throws ProblemError when it nests too deep: what walks through it later has a stack that ends. */
function shallow(body: unknown): unknown {
  let level = [body];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DEEPEST) throw new ProblemError('bad-request', `the body nests more than ${DEEPEST} levels deep`);
    level = level.flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : []));
  }
  return body;
}

function tooLarge(largest: number): ProblemError {
  return new ProblemError('too-large', `the body is larger than ${largest} bytes`);
}
