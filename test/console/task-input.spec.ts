import { UnknownOutcomeError } from 'nestjs-gatekeeper';
import { partsOf } from '../../lib/gatekeeper/parts.js';
import { until } from '../support/apps.js';
import { expectProblem } from './api.contract.js';
import { changesByHand } from './changes-by-hand.js';
import { type Console, PLATFORMS, useConsoles } from './consoles.js';

const MAIL = { id: 'mail:order-7', data: { to: 'ada' } };
const at = (id: string, verb?: string) => `/api/tasks/${encodeURIComponent(id)}${verb === undefined ? '' : `/${verb}`}`;
const submit = ({ send }: Console, body: object = MAIL) => send('POST', '/api/tasks', body);

describe.each(PLATFORMS)('tasks over HTTP on %s', (platform) => {
  const start = useConsoles();
  const boot = () => start({ platform });

  async function submitted() {
    const console = await boot();
    await submit(console);
    return {
      ...console,
      task: MAIL,
      call: (verb: string, body: object) => console.send('POST', at(MAIL.id, verb), body),
    };
  }

  it('with a key that is a line separator have an id that each call can name', async () => {
    const console = await boot();
    const { json } = await submit(console, { ...MAIL, unique: { key: '\u2028' } });
    const { id } = json;
    expect([id, (await console.get(at(id))).status]).toEqual([id, 200]);
  });

  it.each(['a\u0000b', 'a\nb', 'a\ud800'])('are for no process of the name %j', async (instance) => {
    const refused = await submit(await boot(), { ...MAIL, to: { instance } });
    expectProblem(refused, 400, 'invalid-options');
    expect(refused.json.faults[0]).toMatch(/^to\.instance/);
  });

  it('are in the audit log also if the answer of the store to a cancel or a retry was lost', async () => {
    const { task, call, get, gatekeeper } = await submitted();
    const { tasks } = partsOf(gatekeeper);
    const lost = () => Promise.reject(new UnknownOutcomeError('no answer'));
    Object.assign(tasks, { cancel: lost, retry: lost });
    expectProblem(await call('cancel', { reason: 'wrong' }), 503, 'unknown-outcome');
    expectProblem(await call('retry', {}), 503, 'unknown-outcome');
    const audit = async () => changesByHand((await get('/api/audit?semaphore=task:mail')).json.entries);
    await until(async () => (await audit()).length === 2);
    expect(await audit()).toMatchObject([
      { action: 'retry-task', by: 'dora', task: task.id, outcome: 'unknown' },
      { action: 'cancel-task', by: 'dora', reason: 'wrong', task: task.id, outcome: 'unknown' },
    ]);
  });
});
