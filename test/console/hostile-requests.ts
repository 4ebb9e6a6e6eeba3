import fc from 'fast-check';
import { patterns } from '../support/hostile-patterns.js';
import { type Answer, type Console, TOKENS } from './consoles.js';

/** Requests of the fuzz. `SEED=1 npx jest test/console/patterns` sends others. */
const RUNS = 150;
const SEED = Number(process.env.SEED ?? 20_261_122);
/** As long as names may be, of the one character that hostile patterns repeat. */
export const LONG = 'x'.repeat(200);
const ATTACK = 'x{0,1000}'.repeat(455);

/** Each is near to a limit, or would have been before there was one. */
const COSTLY = [
  ATTACK,
  'x{0,1000}x{0,1000}',
  '(?:x?x?x?){200}',
  `${'.?'.repeat(499)}`,
  `${'.*'.repeat(300)}y`,
  '((x{0,30}){0,30}){0,30}',
  '\\pL'.repeat(1300),
  `[${'\\pL'.repeat(1300)}]`,
  '\\pL|'.repeat(1000),
  '(?i)[B-\\x{10ffff}]'.repeat(200),
  '(?i)\\pL+\\PL*'.repeat(7),
  `${'('.repeat(2000)}x${')'.repeat(2000)}`,
  `${'(?:'.repeat(99)}x${')?'.repeat(99)}`,
  Array.from({ length: 400 }, (_, index) => `host${index * 7919}`).join('|'),
  'x'.repeat(4096),
  'x|'.repeat(2047),
  '|'.repeat(4096),
  '('.repeat(4096),
  '[[:'.repeat(1365),
];

interface Request {
  readonly path: string;
  readonly method: string;
  readonly body: (pattern: string) => object;
  readonly token: string;
}

const REQUESTS: readonly Request[] = [
  {
    path: '/api/preview',
    method: 'POST',
    token: TOKENS.view,
    body: (pattern) => ({ name: 'x', groupPattern: pattern, acquirerPattern: pattern, permits: 1, duration: '1m' }),
  },
  { path: '/api/pause', method: 'POST', token: TOKENS.operate, body: (names) => ({ names }) },
  {
    path: '/api/migrations',
    method: 'POST',
    token: TOKENS.define,
    body: (pattern) => ({ names: pattern, group: LONG, to: { groupPattern: pattern, acquirerPattern: pattern } }),
  },
  {
    path: '/api/semaphores',
    method: 'POST',
    token: TOKENS.define,
    body: (pattern) => ({ name: 'new', groupPattern: pattern, acquirerPattern: pattern, duration: '1m' }),
  },
  {
    path: `/api/semaphores/${LONG}`,
    method: 'PATCH',
    token: TOKENS.define,
    body: (pattern) => ({ groupPattern: pattern, acquirerPattern: pattern }),
  },
];

/** Requests of other users while those patterns are stored. */
const LOOKS = ['/api/semaphores', `/api/semaphores/${LONG}`, `/api/explain/${LONG}`, '/api/nodes'];

/** A request with a hostile pattern, or one of another user while it is stored. */
export interface HostileRequest {
  readonly what: string;
  readonly pattern: string;
  /** @param tried another pattern in place of its own: what is compiled once is kept */
  readonly send: (console: Console, tried: string) => Promise<Answer>;
}

/** In rounds of one pattern; each may leave a semaphore "new" behind, which the caller removes. */
export function* hostileRounds(): Generator<readonly HostileRequest[]> {
  const sent = [...COSTLY, ...fc.sample(patterns, { numRuns: RUNS, seed: SEED })];
  for (const [index, pattern] of sent.entries()) {
    const requests = index < COSTLY.length ? REQUESTS : [REQUESTS[index % REQUESTS.length]!];
    const look = LOOKS[index % LOOKS.length]!;
    yield [
      ...requests.map(({ method, path, body, token }) => ({
        what: `${method} ${path}`,
        pattern,
        send: (console: Console, tried: string) => console.send(method, path, body(tried), { token }),
      })),
      { what: `GET ${look}`, pattern, send: (console) => console.get(look) },
    ];
  }
}
