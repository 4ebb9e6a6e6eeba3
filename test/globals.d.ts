import type * as jestGlobals from '@jest/globals';

declare global {
  const afterAll: typeof jestGlobals.afterAll;
  const afterEach: typeof jestGlobals.afterEach;
  const beforeAll: typeof jestGlobals.beforeAll;
  const beforeEach: typeof jestGlobals.beforeEach;
  const describe: typeof jestGlobals.describe;
  const expect: typeof jestGlobals.expect;
  const it: typeof jestGlobals.it;
  const test: typeof jestGlobals.test;
  const jest: typeof jestGlobals.jest;
  namespace jest {
    type Spied<T extends (...args: never[]) => unknown> = jestGlobals.jest.Spied<T>;
  }
}
