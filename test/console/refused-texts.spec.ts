import { REFUSED } from '../support/hostile-texts.js';
import { expectProblem } from './api.contract.js';
import { useConsoles } from './consoles.js';

/** Every call that sets a text, by the field that the refusal names. */
const CALLS: readonly (readonly [field: string, method: string, path: string, body: (text: string) => object])[] = [
  ['name', 'POST', 'semaphores', (name) => ({ name, duration: 10_000 })],
  ['groupPattern', 'POST', 'semaphores', (groupPattern) => ({ name: 'a', duration: 10_000, groupPattern })],
  ['acquirerPattern', 'PATCH', 'semaphores/job', (acquirerPattern) => ({ acquirerPattern })],
  ['reason', 'PATCH', 'semaphores/job', (reason) => ({ permits: 2, reason })],
  ['reason', 'POST', 'semaphores/job/pause', (reason) => ({ reason })],
  ['reason', 'DELETE', 'semaphores/job', (reason) => ({ reason })],
  ['reason', 'POST', 'pause', (reason) => ({ reason })],
  ['names', 'POST', 'pause', (names) => ({ names })],
  ['to.groupPattern', 'POST', 'migrations', (groupPattern) => ({ to: { groupPattern } })],
  ['group', 'POST', 'migrations', (group) => ({ group, to: { groupPattern: 'a' } })],
  ['semaphore', 'POST', 'permits', (semaphore) => ({ semaphore })],
  ['holder', 'POST', 'permits', (holder) => ({ semaphore: 'job', holder })],
  ['acquirer', 'POST', 'permits', (acquirer) => ({ semaphore: 'job', acquirer })],
  ['group', 'POST', 'permits', (group) => ({ semaphore: 'job', group })],
];

describe('a text that would break a line, a terminal or a table', () => {
  const start = useConsoles();

  it('is refused by every call that sets one, with its field and escaped', async () => {
    const { send, get } = await start();
    await send('POST', '/api/semaphores', { name: 'job', duration: 10_000 });
    for (const [, character] of REFUSED) {
      for (const [field, method, path, body] of CALLS) {
        const answer = await send(method, `/api/${path}`, body(`a${character}b`));
        expectProblem(answer, 400, 'invalid-options');
        expect(answer.json.faults).toEqual([expect.stringMatching(new RegExp(`^${field}: "a\\\\.+b" has `))]);
        expect(answer.json.detail).not.toMatch(/[\p{Cc}\p{Cs}]/u);
      }
    }
    expect((await get('/api/semaphores/job')).json.semaphore.revision).toBe(1);
  });
});
