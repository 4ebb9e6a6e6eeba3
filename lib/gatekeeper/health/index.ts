export { type Health, HealthCheck, type Known, type StalePart } from './health-check.js';
export type { HealthFault, HealthFaultCode, HealthReport } from './health-report.js';
