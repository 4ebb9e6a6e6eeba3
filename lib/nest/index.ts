export { AllocatedResources } from './allocated-resources.decorator.js';
export { AllocationExplorer } from './allocation.explorer.js';
export { AllocationService } from './allocation.service.js';
export {
  ClusterSingleton,
  type ClusterSingletonMetadata,
  type ClusterSingletonOptions,
  type SemaphoreName,
} from './cluster-singleton.decorator.js';
export type { UnstableName } from './class-names.js';
export type {
  DecoratorFor,
  GuardDecorator,
  GuardFault,
  GuardedMethodMustBeAsync,
  SkippedCallResolvesToUndefined,
} from './method-decorator.js';
export { NoGatekeeperError, type RunsJobs, guardWith } from './guarded-call.js';
export { type GatekeeperHealthDetails, GatekeeperHealthIndicator } from './gatekeeper-health.indicator.js';
export { DecoratedMethods } from './decorated-methods.js';
export { GuardedMethodsExplorer } from './guarded-methods.explorer.js';
export type { GuardedMethod } from './guarded-methods.check.js';
export type { ScheduleMetadata } from './scheduler.js';
export { ClusterCron, type ClusterCronOptions } from './cluster-cron.decorator.js';
export { ClusterService, type LeadOptions } from './cluster.service.js';
export { LeaderOnly, OnLeadershipGained, OnLeadershipLost } from './leader-only.decorator.js';
export { LeadershipExplorer } from './leadership.explorer.js';
export { FiringsModule } from './firings.js';
export { FirstToBootModule, LifecycleModule } from './lifecycle.module.js';
export { GroupFinishedHandler, InvalidTaskHandler, TaskHandler } from './task-handler.decorator.js';
export { TasksExplorer } from './tasks.explorer.js';
export { TasksService } from './tasks.service.js';
