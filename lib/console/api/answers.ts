import { z } from 'zod';
import type {
  AuditEntry,
  DefinitionState,
  Explanation,
  HistoryEntry,
  HolderState,
  NodeCard,
  MigrationPlan,
  BulkResult,
  NodeIdentity,
  RunEntry,
  SemaphoreOverview,
} from '../../gatekeeper/index.js';
import type { SemaphoreDefinition, StoredPermit } from '../../semaphores/index.js';
import type { StoreHealth } from '../../stores/index.js';
import { ROLES, type Role } from './roles.js';

/**
 * What calls are answered with. Each schema is held against the type of what the gatekeeper gives: where the two part,
 * this file doesn't compile.
 */

const whole = z.int();
const time = whole.meta({ description: 'ms since the epoch, cluster time' });
const list = <T>(schema: z.ZodType<T>) => z.array(schema);

export const nodeIdentitySchema: z.ZodType<NodeIdentity> = z.object({
  group: z.string(),
  acquirer: z.string(),
  instance: z.string(),
});

export const definitionSchema: z.ZodType<SemaphoreDefinition> = z.object({
  name: z.string(),
  groupPattern: z.string(),
  acquirerPattern: z.string(),
  permits: whole,
  duration: whole.meta({ description: 'ms' }),
});

const changeShape = { by: z.string(), at: time, reason: z.string().optional() };

export const changeSchema = z.object({
  id: z.string(),
  kind: z.enum(['define', 'edit', 'pause', 'resume', 'migrate', 'reset', 'remove']),
  ...changeShape,
});

export const definitionStateShape = {
  definition: definitionSchema,
  revision: whole,
  change: changeSchema.optional(),
  pause: z.object({ ...changeShape, groupPattern: z.string() }).optional(),
  code: definitionSchema.optional(),
  isOverridden: z.boolean(),
};

export const definitionStateSchema: z.ZodType<DefinitionState> = z.object(definitionStateShape);

const permitShape = {
  id: z.string(),
  slot: whole,
  token: whole.meta({ description: 'grows with every new grant: give it to the resource that you guard' }),
  instance: z.string(),
  holder: z.string(),
  acquirer: z.string(),
  group: z.string(),
  grantedAt: time,
  expiresAt: time,
  duration: whole,
};

export const storedPermitSchema: z.ZodType<StoredPermit> = z.object(permitShape);

export const holderSchema: z.ZodType<HolderState> = z.object({
  ...permitShape,
  remaining: z.number().meta({ description: 'ms; negative when it is over but not yet dropped' }),
  isMine: z.boolean(),
});

const semaphoreShape = {
  ...z.object(definitionStateShape).partial().shape,
  name: z.string(),
  revision: whole,
  holders: list(holderSchema),
  free: whole,
  isForThisNode: z.boolean(),
  problem: z.string().optional(),
};

const taskShape = {
  task: z.string(),
  semaphore: z.string().optional(),
  schedule: z
    .object({
      kind: z.enum(['cron', 'interval', 'timeout']),
      expression: z.string(),
      next: whole.optional(),
      interval: whole.optional(),
    })
    .optional(),
};

const happened = { semaphore: z.string(), task: z.string(), node: nodeIdentitySchema, at: time };
const skipReason = z.enum([
  'no-definition',
  'group',
  'acquirer',
  'paused',
  'no-permit',
  'recovering',
  'permit-lost',
  'unavailable',
  'no-quorum',
  'corrupt-record',
  'newer-record',
  'closing',
  'overlap',
]);

export const runSchema: z.ZodType<RunEntry> = z.object({
  ...happened,
  kind: z.literal('run'),
  took: z.number(),
  outcome: z.enum(['ok', 'failed', 'lost']),
  message: z.string().optional(),
  token: whole.optional(),
  slot: whole.optional(),
});

const skipSchema = z.object({
  ...happened,
  kind: z.literal('skip'),
  reason: skipReason,
  before: z.object({ reason: skipReason, count: whole }).optional(),
});

export const historyEntrySchema: z.ZodType<HistoryEntry> = z.union([runSchema, skipSchema]);

export const auditEntrySchema: z.ZodType<AuditEntry> = z.object({
  at: time,
  action: z.enum([...changeSchema.shape.kind.options, 'revoke', 'restore']),
  semaphore: z.string(),
  by: z.string(),
  reason: z.string().optional(),
  node: nodeIdentitySchema,
  revision: whole.optional(),
  from: definitionSchema.optional(),
  to: definitionSchema.optional(),
  permit: storedPermitSchema.optional(),
});

export const semaphoreOverviewSchema: z.ZodType<SemaphoreOverview> = z.object({
  ...semaphoreShape,
  tasks: list(z.object({ ...taskShape, nodes: whole })),
  next: time.optional(),
  lastRun: runSchema.optional(),
  warnings: list(z.object({ code: z.enum(['not-run', 'runs-too-long', 'no-node']), sentence: z.string() })),
});

export const storeHealthSchema: z.ZodType<StoreHealth> = z.object({
  connected: z.boolean(),
  members: whole,
  quorum: whole,
  problem: z.string().optional(),
});

export const clockSchema: z.ZodType<Explanation['clock']> = z.object({
  offset: z.number().optional(),
  errorBound: z.number().optional(),
  spread: z.number(),
  members: whole,
  suspect: z.string().optional(),
});

export const explanationSchema: z.ZodType<Explanation> = z.object({
  semaphore: z.string(),
  outcome: z.enum(['granted', 'refreshed', 'denied']),
  reason: skipReason.exclude(['overlap']).optional(),
  sentence: z.string(),
  definition: definitionSchema.optional(),
  revision: whole.optional(),
  holders: list(storedPermitSchema),
  node: nodeIdentitySchema,
  clock: clockSchema,
  store: storeHealthSchema,
});

/** A permit that a node holds, for the list of nodes. */
export interface HeldPermit {
  readonly semaphore: string;
  readonly slot: number;
  readonly token: number;
  readonly expiresAt: number;
}

/** A node that lives, and what it holds. */
export type NodeOverview = NodeCard & { readonly holds: readonly HeldPermit[] };

export const nodeOverviewSchema: z.ZodType<NodeOverview> = z.object({
  group: z.string(),
  acquirer: z.string(),
  instance: z.string(),
  host: z.string(),
  pid: whole,
  version: z.string().optional(),
  startedAt: time,
  at: time,
  heartbeat: whole,
  clock: z.object({ offset: z.number().optional(), suspect: z.string().optional() }),
  tasks: list(z.object(taskShape)),
  holds: list(z.object({ semaphore: z.string(), slot: whole, token: whole, expiresAt: time })),
});

/** Who asks, of which node. */
export interface SessionAnswer {
  readonly user: string;
  readonly role: Role;
  readonly readOnly: boolean;
  /** "production": shown so that nobody mistakes it for another. */
  readonly environment?: string;
  readonly node: NodeIdentity;
  readonly store: StoreHealth;
  readonly clock: Explanation['clock'];
}

export const sessionSchema: z.ZodType<SessionAnswer> = z.object({
  user: z.string(),
  role: z.enum(ROLES),
  readOnly: z.boolean(),
  environment: z.string().optional(),
  node: nodeIdentitySchema,
  store: storeHealthSchema,
  clock: clockSchema,
});

export const semaphoresSchema = z.object({ now: time, semaphores: list(semaphoreOverviewSchema) });

export const semaphoreSchema = z.object({
  now: time,
  semaphore: semaphoreOverviewSchema,
  explanation: explanationSchema,
  runs: list(historyEntrySchema),
  audit: list(auditEntrySchema),
});

export const nodesSchema = z.object({ now: time, nodes: list(nodeOverviewSchema) });
export const historySchema = z.object({ entries: list(historyEntrySchema) });
export const auditSchema = z.object({ entries: list(auditEntrySchema) });
const patternsSchema = z.object({ groupPattern: z.string(), acquirerPattern: z.string() });

export const migrationSchema: z.ZodType<MigrationPlan> = z.object({
  steps: list(
    z.object({
      name: z.string(),
      revision: whole,
      from: patternsSchema,
      to: patternsSchema,
      moving: list(holderSchema).meta({ description: 'who holds a permit and will get none any more' }),
      candidates: list(nodeIdentitySchema).meta({ description: 'the living nodes that will be let through' }),
      outcome: z.enum(['planned', 'migrated', 'failed']),
      error: z.string().optional(),
    }),
  ),
  remaining: whole.meta({ description: 'how many the limit left for the next call' }),
});

export const bulkSchema: z.ZodType<BulkResult> = z.object({
  done: list(z.string()),
  failed: list(z.object({ name: z.string(), error: z.string() })),
  remaining: whole,
});

/** What a definition that nobody has made yet would let through. */
export interface Preview {
  /** What is wrong with it. */
  readonly faults: readonly string[];
  /** The living nodes. */
  readonly nodes: readonly PreviewedNode[];
}

export interface PreviewedNode extends NodeIdentity {
  readonly matches: boolean;
  /** The first pattern that keeps it out. */
  readonly mismatch?: 'group' | 'acquirer';
}

export const previewSchema: z.ZodType<Preview> = z.object({
  faults: list(z.string()),
  nodes: list(
    z.object({
      group: z.string(),
      acquirer: z.string(),
      instance: z.string(),
      matches: z.boolean(),
      mismatch: z.enum(['group', 'acquirer']).optional(),
    }),
  ),
});

export const removedSchema = z.object({ removed: z.boolean() });
export const revokedSchema = z.object({ revoked: z.boolean() });
export const releasedSchema = z.object({ released: z.boolean() });

export type SemaphoresAnswer = z.output<typeof semaphoresSchema>;
export type SemaphoreAnswer = z.output<typeof semaphoreSchema>;
export type NodesAnswer = z.output<typeof nodesSchema>;
export type HistoryAnswer = z.output<typeof historySchema>;
export type AuditAnswer = z.output<typeof auditSchema>;
