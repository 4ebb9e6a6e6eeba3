import type { IncomingMessage } from 'node:http';
import { ProblemError } from './problem.error.js';
import { type ConsoleRequest, rawRequest } from './console-request.js';

/** Maximum nesting of lists and objects. No call needs more than three levels. */
const DEEPEST = 32;

/**
 * Maximum number of values: each costs time in every check, so a few hundred thousand would block the event loop. Data of a
 * task of the usual size have fewer, even if they are numbers of one digit.
 */
const MOST_VALUES = 33_000;
const [QUOTE, COMMA] = ['"'.charCodeAt(0), ','.charCodeAt(0)];

/**
 * Returns the JSON body of a request. If the application has no parser (`bodyParser: false`), the body is read here.
 * The limit applies in both cases. A missing body counts as an empty object.
 *
 * @param largest maximum size in bytes
 * @throws ProblemError if the body is too large, nests too deep, or can't be read
 */
export async function bodyOf(request: ConsoleRequest, largest: number): Promise<unknown> {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > largest) throw tooLarge(largest);
  // Fastify's parser turns the text "null" into null. That is a body, too, and not an empty object.
  if (request.body !== undefined) return measured(request, largest);
  const raw = rawRequest(request);
  return raw.readableEnded ? {} : shallow(parsed(await read(raw, largest)));
}

/** Checks the size of a parsed body. Without a Content-Length (chunked), only the parser's own limit has applied. */
function measured({ body, headers }: ConsoleRequest, largest: number): unknown {
  // The nesting is checked first, because JSON.stringify needs a stack as deep as the nesting.
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
  if (commasIn(text) > MOST_VALUES) throw tooMany();
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ProblemError('bad-request', `the body is not JSON: ${(cause as Error).message}`, {}, { cause });
  }
}

/** Counts the commas outside of texts. That is much faster than to parse and check the values. */
function commasIn(json: string): number {
  let count = 0;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === COMMA) count++;
    else if (code === QUOTE) at = endOfText(json, at);
  }
  return count;
}

/** Finds the closing quote of the text that begins at `from`. It has an even number of backslashes before it. */
function endOfText(json: string, from: number): number {
  for (let end = json.indexOf('"', from + 1); end !== -1; end = json.indexOf('"', end + 1)) {
    let first = end;
    while (json[first - 1] === '\\') first--;
    if ((end - first) % 2 === 0) return end;
  }
  return json.length;
}

/**
 * @throws ProblemError if the body nests too deep, because recursive code could overflow the stack, or has too many values:
 * then it is refused before all of them were seen
 */
function shallow(body: unknown): unknown {
  let level = [body];
  for (let depth = 0, count = 0; level.length > 0; depth++) {
    if (depth > DEEPEST) throw new ProblemError('bad-request', `the body nests more than ${DEEPEST} levels deep`);
    const next: unknown[] = [];
    for (const value of level) {
      if (typeof value !== 'object' || value === null) continue;
      const values: unknown[] = Array.isArray(value) ? value : Object.values(value);
      if ((count += values.length) > MOST_VALUES) throw tooMany();
      for (const each of values) next.push(each);
    }
    level = next;
  }
  return body;
}

function tooMany(): ProblemError {
  return new ProblemError('too-large', `the body has more than ${MOST_VALUES} values`);
}

function tooLarge(largest: number): ProblemError {
  return new ProblemError('too-large', `the body is larger than ${largest} bytes`);
}
