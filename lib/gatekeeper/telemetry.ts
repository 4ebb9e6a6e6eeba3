import type { Observable } from 'rxjs';
import type { GatekeeperEvent } from '../core/context/events.js';
import type { Instrumentation } from '../core/context/instrumentation.js';
import type { NodeIdentity } from '../core/context/node-identity.js';
import type { Health } from '../operate/insight/index.js';

/** A node, as telemetry sees it. Nothing here asks the store. */
export interface ObservedNode {
  readonly node: NodeIdentity;
  /** ms of the node's monotonic clock. */
  monotonic(): number;
  /** Completes when the node closes. */
  readonly events: Observable<GatekeeperEvent>;
  /** Whether code defines the semaphore, or the package does: there are only a few such names. */
  isDeclared(semaphore: string): boolean;
  /**
   * Whether a node of the cluster handles tasks of this type, as far as this node knows, or code of this node submits or limits
   * them. Programs may name any other type.
   */
  isHandled(type: string): boolean;
  /** Numbers of the permits that this process holds, by semaphore. */
  held(): ReadonlyMap<string, number>;
  health(): Health;
  /** The scopes in which this node takes part, and whether it leads them. */
  leading(): ReadonlyMap<string, boolean>;
  /** Numbers of the resources that this node owns, by allocation group. */
  owned(): ReadonlyMap<string, number>;
}

/** Telemetry of one node. */
export interface Telemetry extends Instrumentation {
  /** The node starts. Calls before that must not fail. */
  observe(node: ObservedNode): void;
  /** The node has closed. Idempotent. */
  close(): void;
}

/** Value of the option `telemetry`: `openTelemetry()` of `nestjs-gatekeeper/opentelemetry`. */
export interface TelemetryDefinition {
  /** Makes the telemetry of one node, which then calls it. */
  open(): Telemetry;
}
