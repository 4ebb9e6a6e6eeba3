import * as kit from '../../lib/testing/contract/index.js';
import { describeUnless } from '../support/unless.js';

/** Jest's functions, as the contracts of `nestjs-gatekeeper/testing` want them. */
export const runner: kit.TestRunner = { describe, it, before: beforeAll, after: afterAll };

type WithoutRunner<T> = Omit<T, 'runner'> & {
  /** Why the store can't be prepared here. */
  readonly missing?: string | undefined;
};

/** The store's contract, skipped where a tool is missing. */
export function describeStoreContract({ missing, ...contract }: WithoutRunner<kit.StoreContract>): void {
  const tests = () => kit.describeStoreContract({ runner, ...contract });
  if (missing === undefined) tests();
  else describeUnless(missing)(contract.name, tests);
}
