import { RE2JS } from 're2js';
import { until } from '../support/apps.js';
import { expectProblem } from './api.contract.js';
import { PLATFORMS, SETTINGS, SlowGuard, TOKENS, useConsoles, willHangUp } from './consoles.js';

const JOB = { name: 'job', duration: '10s' };
let count = 0;
/** Patterns that were not compiled before. */
const patterns = (many: number) => Array.from({ length: many }, () => `(a|[b-z]{1,9}){1,4}${(count++).toString(36)}`);

describe.each(PLATFORMS)('patterns of a request, on %s', (platform) => {
  const start = useConsoles();
  afterEach(() => void jest.restoreAllMocks());

  it.each([
    ['of a route that has none', 'POST', '/api/permits', () => ({ semaphore: 'job', names: patterns(100) })],
    ['of fields that the route has not', 'POST', '/api/preview', () => ({ names: patterns(100) })],
    ['that are too many', 'POST', '/api/maintenance', () => ({ window: 'w', names: patterns(100) })],
    ['of a text in place of a list', 'POST', '/api/pause', () => ({ names: patterns(100) })],
    ['beside one that is no text', 'POST', '/api/maintenance', () => ({ window: 'w', names: [...patterns(19), 1] })],
    ['within data', 'POST', '/api/tasks', () => ({ id: 'mail:1', to: patterns(1)[0], names: patterns(100) })],
    ['of a plan', 'POST', '/api/allocation/groups/g/plan', () => ({ to: { groupPattern: patterns(100) } })],
  ])('are not compiled: %s', async (_, method, path, body) => {
    const { send } = await start({ platform, gatekeeper: { definitions: [JOB] } });
    const compiled = jest.spyOn(RE2JS, 'compile');
    expectProblem(await send(method, path, body()), 400, 'invalid-options');
    expect(compiled).not.toHaveBeenCalled();
  });

  it.each([
    ['POST', '/api/semaphores', { name: 'new', duration: '1m', groupPattern: '(' }, 'groupPattern'],
    ['POST', '/api/semaphores', { name: 'new', duration: '1m', acquirerPattern: '(' }, 'acquirerPattern'],
    ['PATCH', '/api/semaphores/job', { groupPattern: '(' }, 'groupPattern'],
    ['POST', '/api/pause', { names: '(' }, 'names'],
    ['POST', '/api/resume', { names: '(' }, 'names'],
    ['POST', '/api/migrations', { names: '(', to: { groupPattern: 'a' } }, 'names'],
    ['POST', '/api/migrations', { to: { acquirerPattern: '(' } }, 'to.acquirerPattern'],
    ['POST', '/api/maintenance', { window: 'w', names: ['a', '('] }, 'names.1'],
    [
      'POST',
      '/api/permits',
      { semaphore: 'x', definition: { duration: '1m', groupPattern: '(' } },
      'definition.groupPattern',
    ],
    ['POST', '/api/tasks', { id: 'mail:1', to: { group: '(' } }, 'to.group'],
    ['POST', '/api/tasks', { id: 'mail:1', to: { acquirer: '(' } }, 'to.acquirer'],
  ])('are checked with their route: %s %s %j', async (method, path, body, field) => {
    const { send } = await start({ platform, gatekeeper: { definitions: [JOB] } });
    const answer = await send(method, path, body);
    expectProblem(answer, 400, 'invalid-options');
    expect(answer.json.faults).toEqual([expect.stringMatching(`^${field.replaceAll('.', String.raw`\.`)}: "\\(" `)]);
  });

  it('are checked beside other faults, in the order of the fields', async () => {
    const { send } = await start({ platform });
    const answer = await send('POST', '/api/migrations', { names: '(', limit: 0, to: { groupPattern: ')' }, x: 1 });
    const fields = (answer.json.faults as string[]).map((fault) => fault.split(':')[0]);
    expect(fields).toEqual(['names', 'to.groupPattern', 'limit', 'x']);
  });

  it('are compiled no further for a client that has gone', async () => {
    const guard = new SlowGuard();
    const console = await start({ platform, console: { ...SETTINGS, guards: [guard] } });
    const compiled = jest.spyOn(RE2JS, 'compile');
    const body = { window: 'w', names: patterns(20) };
    const quit = willHangUp(console, { method: 'POST', path: '/api/maintenance', token: TOKENS.operate, body });
    await until(() => guard.asked === 1);
    await quit();
    await until(() => guard.passed === 1);
    await console.app.close();
    expect(compiled.mock.calls.length).toBeLessThanOrEqual(1);
    expect(console.log.filter((line) => /^(error|warn) /.test(line))).toEqual([]);
  });
});
