/**
 * Spans and metrics through OpenTelemetry. Needs the package `@opentelemetry/api`.
 *
 * @module nestjs-gatekeeper/opentelemetry
 */

export { openTelemetry, type OpenTelemetryOptions } from './open-telemetry.js';
