import { strict as assert } from 'node:assert';
import { setTimeout as pause } from 'node:timers/promises';

/** An error class of the SPI. */
type ErrorClass = abstract new (...args: never[]) => Error;

/** Asserts that `call` rejects with an error of this class. */
export async function assertRejects(call: Promise<unknown>, expected: ErrorClass): Promise<void> {
  const error = await call.then(
    (answer) => assert.fail(`Expected a ${expected.name}, but the call answered ${String(answer)}`),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof expected, `Expected a ${expected.name}, but the call threw ${String(error)}`);
}

/**
 * Asserts that a call ends in time, whatever its outcome. So a call that hangs fails its own test, with a reason.
 *
 * @param within ms
 * @returns the answer of the call
 */
export async function assertEnds<T>(call: Promise<T>, within: number, what: string): Promise<T> {
  const ended = new AbortController();
  const late = pause(within, undefined, { signal: ended.signal }).then(() =>
    assert.fail(`Not within ${within} ms: ${what}`),
  );
  try {
    return await Promise.race([call, late]);
  } finally {
    ended.abort();
  }
}
