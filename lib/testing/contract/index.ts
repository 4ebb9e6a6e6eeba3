export type { ClientsUnderTest } from './contract-clients.js';
export { describeStoreContract } from './store.contract.js';
export type { Outage, StoreContract, StoreLacks, StoreUnderTest, TaskClientsUnderTest } from './store-under-test.js';
export { type TaskStorageContract, describeTaskStorageContract } from './task-storage.contract.js';
export type { TestRunner } from './test-runner.js';
