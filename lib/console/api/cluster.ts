import { systemClock } from '../../core/async/node-clock.js';
import { inSlices } from '../../core/async/slices.js';
import { staleOf } from '../../core/context/stale.js';
import { TASK_PREFIX } from '../../core/decision/index.js';
import type { HealthFault, NodeOverview } from '../../gatekeeper/index.js';
import { newestFirst } from '../../operate/activity/newest-first.js';
import { FAULT_TITLES } from '../../operate/insight/fault-titles.js';
import { withHeldPermits } from '../../operate/insight/node-overview.js';
import * as answers from './answers.js';
import { overviewFor } from './caller.js';
import { healthSchema } from '../../operate/insight/health-answers.js';
import { operation } from './operation.js';
import * as requests from './requests.js';

/** Shows the health of the answering node, the living nodes, and the audit log. */
export const CLUSTER_OPERATIONS = {
  /** For people, alerts and `curl --fail`. */
  health: operation({
    operationId: 'getHealth',
    method: 'GET',
    path: 'api/health',
    summary: 'Whether permits are granted through this node, and all faults with their start',
    role: 'view',
    answer: healthSchema,
    other: { status: 503, description: 'The same, while nothing is granted.', applies: ({ grants }) => !grants },
    run: async ({ health }, _input, { sees }) => {
      const found = await health.check({ nodes: true, warnings: sees ?? true });
      return sees ? { ...found, faults: found.faults.map(withoutNames) } : found;
    },
  }),
  nodes: operation({
    operationId: 'listNodes',
    method: 'GET',
    path: 'api/nodes',
    summary: 'The living nodes and the permits that they hold',
    role: 'view',
    answer: answers.nodesSchema,
    run: async (parts, _input, caller) => {
      const { now, nodes, semaphores, ...read } = await overviewFor(caller, parts);
      const all = await inSlices(withHeldPermits(nodes, semaphores), systemClock);
      const { sees } = caller;
      return { now, nodes: sees ? all.map((node) => seenOf(node, sees)) : all, ...staleOf(read) };
    },
  }),
  audit: operation({
    operationId: 'listChanges',
    method: 'GET',
    path: 'api/audit',
    summary: 'Changes with their authors, newest first',
    role: 'view',
    isHeavy: true,
    query: requests.entriesQuery,
    answer: answers.auditSchema,
    run: async ({ audit }, { query }, { sees }) => ({
      entries: await newestFirst(query, (limit) => audit.read(limit), sees),
    }),
  }),
};

/** The part of a node that a limited caller may see. Leaves out jobs whose semaphore is known only at a call. */
function seenOf(node: NodeOverview, sees: (name: string) => boolean): NodeOverview {
  const holds = node.holds.filter(({ semaphore }) => sees(semaphore));
  const jobs = node.jobs.filter(({ semaphore }) => semaphore !== undefined && sees(semaphore));
  const { tasks, ...others } = node;
  const types = tasks?.filter(({ type }) => sees(TASK_PREFIX + type)) ?? [];
  return {
    ...others,
    holds,
    jobs,
    ...(types.length > 0 && { tasks: types }),
  };
}

/** The sentences of some faults may name definitions, jobs, scopes or groups, which a limited caller may not see. */
function withoutNames(fault: HealthFault): HealthFault {
  if (!WITH_NAMES.has(fault.code)) return fault;
  return {
    ...fault,
    sentence: `${FAULT_TITLES[fault.code]}: use a token for all names, or see the log, for the reason`,
  };
}

const WITH_NAMES: ReadonlySet<HealthFault['code']> = new Set([
  'semaphores-removed',
  'code-not-followed',
  'archive-failing',
  'run-archive-failing',
  'no-leader',
  'resources-unowned',
  'other-application',
  'allocation-failing',
]);
