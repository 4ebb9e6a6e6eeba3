import { z } from 'zod';
import { onlyFields } from '../../core/decision/index.js';
import { ALERT_OPERATIONS } from './alerts.js';
import { ALLOCATION_OPERATIONS } from './allocation.js';
import { sessionSchema } from './answers.js';
import { BULK_OPERATIONS } from './bulk.js';
import { CLUSTER_OPERATIONS } from './cluster.js';
import { DEFINITION_OPERATIONS } from './definitions.js';
import { LEADER_OPERATIONS } from './leaders.js';
import { MAINTENANCE_OPERATIONS } from './maintenance.js';
import { type DocumentedRoute, type Operation, type Route, route } from './operation.js';
import { PERMIT_OPERATIONS } from './permits.js';
import { RUN_NOW_OPERATIONS } from './run-now.js';
import { RUN_OPERATIONS } from './runs.js';
import { SEMAPHORE_OPERATIONS } from './semaphores.js';
import { TASK_OVERVIEW_OPERATIONS } from './task-overview.js';
import { WORKER_OPERATIONS } from './task-workers.js';
import { TASK_OPERATIONS } from './tasks.js';

/** The catalogue: everything that people and programs may ask of a node, by name. */
export const OPERATIONS = {
  ...CLUSTER_OPERATIONS,
  ...SEMAPHORE_OPERATIONS,
  ...DEFINITION_OPERATIONS,
  ...BULK_OPERATIONS,
  ...RUN_NOW_OPERATIONS,
  ...RUN_OPERATIONS,
  ...MAINTENANCE_OPERATIONS,
  ...ALERT_OPERATIONS,
  ...LEADER_OPERATIONS,
  ...ALLOCATION_OPERATIONS,
  ...TASK_OPERATIONS,
  ...WORKER_OPERATIONS,
  ...TASK_OVERVIEW_OPERATIONS,
  ...PERMIT_OPERATIONS,
} as const satisfies Record<string, Operation>;

/** Calls that make sense over HTTP only: the console answers them itself. */
export const HTTP_ROUTES = {
  session: route({
    operationId: 'getSession',
    method: 'GET',
    path: 'api/session',
    summary: 'The visitor and the answering node',
    role: 'view',
    isForPermits: true,
    answer: sessionSchema,
  }),
  events: route({
    operationId: 'streamEvents',
    method: 'GET',
    path: 'api/events',
    summary: 'A stream of changes (text/event-stream)',
    role: 'view',
    mediaType: 'text/event-stream',
    answer: z.string(),
    problems: ['too-many-streams'],
  }),
  openapi: route({
    operationId: 'getDocument',
    method: 'GET',
    path: 'api/openapi.json',
    summary: 'The OpenAPI document of these calls',
    isConditional: true,
    answer: z.looseObject({ openapi: z.string() }).meta({ id: 'OpenApiDocument' }),
  }),
} as const satisfies Record<string, DocumentedRoute>;

/**
 * How a page signs in and out. The document leaves this out, because a program sends its token with each call. The sign-out needs
 * no valid session: it takes away also one that this node does not know.
 */
export const SIGN_IN_ROUTES = {
  signIn: route({
    method: 'POST',
    path: 'api/session',
    summary: 'Sign in: send a token, and get a cookie that stands for it',
    role: 'view',
    isForPermits: true,
    body: onlyFields({}),
    answer: z.object({ user: z.string() }),
  }),
  signOut: route({
    method: 'DELETE',
    path: 'api/session',
    summary: 'Sign out: take the cookie away',
    answer: z.object({ ended: z.literal(true) }),
  }),
} as const satisfies Record<string, Route>;

/** All calls of the API that its document describes. */
export const ROUTES = { ...OPERATIONS, ...HTTP_ROUTES } as const satisfies Record<string, DocumentedRoute>;
