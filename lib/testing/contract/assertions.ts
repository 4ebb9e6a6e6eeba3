import { strict as assert } from 'node:assert';

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

/** @returns `method`, which a store has unless its author declared a lack */
export function present<T>(method: T | undefined, name: string): T {
  assert.ok(
    method !== undefined,
    `The store has no ${name}: implement it, or declare lacks: { ${name}: 'the reason' }`,
  );
  return method;
}
