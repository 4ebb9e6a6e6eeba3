import type { TaskOperator } from '../operator.js';
import type { RestClient } from './rest-client.js';

/** Tasks over the console's HTTP API. */
export function restTasks(client: RestClient): TaskOperator {
  return {
    types: () => client.ask(['task-types']),
    list: (query, from) => client.ask(['tasks'], { query: { ...query, from } }),
    find: (id) => client.ask(['tasks', id]),
    submit: (body) => client.ask(['tasks'], { method: 'POST', body }),
    cancel: (id, { reason }) => client.ask(['tasks', id, 'cancel'], { method: 'POST', body: { reason } }),
    cancelGroup: (id, { reason }) => client.ask(['task-groups', id, 'cancel'], { method: 'POST', body: { reason } }),
    release: (id, { reason }) => client.ask(['tasks', id, 'release'], { method: 'POST', body: { reason } }),
    retry: (id, { reason }) => client.ask(['tasks', id, 'retry'], { method: 'POST', body: { reason } }),
  };
}
