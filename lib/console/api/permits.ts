import * as answers from './answers.js';
import * as requests from './requests.js';
import { type DocumentedRoute, route } from './route.js';

/** The calls that give permits to scripts and to programs in other languages. */
export const PERMIT_ROUTES = {
  take: route({
    operationId: 'takePermit',
    method: 'POST',
    path: 'api/permits',
    summary: 'Take a permit, or wait for one up to a minute; the same holder refreshes its permit',
    role: 'operate',
    isForPermits: true,
    writes: true,
    body: requests.takeBody,
    status: 201,
    answer: answers.permitSchema,
    problems: ['too-many-waits', 'too-many-names', 'unknown-semaphore', 'denied', 'permit-lost', 'closing'],
  }),
  refresh: route({
    operationId: 'refreshPermit',
    method: 'POST',
    path: 'api/permits/:id/refresh',
    summary: 'Refresh a permit; a permit that has ended stays lost',
    role: 'operate',
    isForPermits: true,
    writes: true,
    params: requests.permitParams,
    body: requests.refreshBody,
    answer: answers.permitSchema,
    problems: ['permit-lost', 'denied'],
  }),
  release: route({
    operationId: 'releasePermit',
    method: 'POST',
    path: 'api/permits/:id/release',
    summary: 'Release a permit',
    role: 'operate',
    isForPermits: true,
    writes: true,
    params: requests.permitParams,
    body: requests.releaseBody,
    answer: answers.releasedSchema,
  }),
} as const satisfies Record<string, DocumentedRoute>;
