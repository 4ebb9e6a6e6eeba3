export { GatekeeperModule } from './gatekeeper.module.js';
export type { GatekeeperModuleExtras } from './gatekeeper.module-definition.js';
export {
  type AcquireOptions,
  AcquireTimeoutError,
  type AcquireWaitOptions,
  type DefinitionState,
  type Definitions,
  EditConflictError,
  type Explanation,
  Gatekeeper,
  type GatekeeperEvent,
  type GatekeeperLogger,
  type GatekeeperOptions,
  GatekeeperService,
  type GatekeeperState,
  type HolderState,
  type LossReason,
  NoCurrentPermitError,
  type NodeIdentity,
  type Permit,
  PermitLostError,
  type RunOptions,
  type RunPermit,
  type RunResult,
  type Semaphore,
  type SemaphoreState,
  type SkipReason,
  type Skipped,
  UnknownSemaphoreError,
  currentPermit,
  parseGatekeeperOptions,
} from './gatekeeper/index.js';
export {
  ClusterSingleton,
  type ClusterSingletonOptions,
  type GuardedMethod,
  GuardedMethodsExplorer,
  NoGatekeeperError,
  type SemaphoreName,
  guardWith,
} from './scheduling/index.js';
export {
  CorruptRecordError,
  type DenialReason,
  GatekeeperError,
  InvalidOptionsError,
  NewerRecordError,
  type SemaphoreDefinition,
  type SemaphoreDefinitionInput,
  type StoredPermit,
} from './semaphores/index.js';
export {
  type ClockReading,
  NoQuorumError,
  type RecordChange,
  type RecordStore,
  type StoreDefinition,
  type StoreHealth,
  StoreUnavailableError,
  UnknownOutcomeError,
} from './stores/index.js';
export * from './stores/hazelcast/index.js';
export * from './stores/memory/index.js';
