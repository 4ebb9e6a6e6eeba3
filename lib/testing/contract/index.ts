export { describeStoreContract } from './store.contract.js';
export type { Outage, StoreContract, StoreLacks, StoreUnderTest } from './store-under-test.js';
export type { TestRunner } from './test-runner.js';
