import { openOperator } from '../../lib/cli/session/open-operator.js';
import { Receiver } from '../operate/alerts/receiver.js';
import { call } from '../cli/command-line.js';
import { expectProblem } from './api.contract.js';
import { type Console, PLATFORMS, TOKENS, useConsoles } from './consoles.js';

describe.each(PLATFORMS)('alerts over HTTP on %s', (platform) => {
  const start = useConsoles();
  let receiver: Receiver;

  beforeEach(async () => {
    receiver = await Receiver.start();
  });

  afterEach(() => receiver[Symbol.asyncDispose]());

  const startWith = () => start({ platform, gatekeeper: { alerts: { webhooks: [receiver.webhook] } } });
  const test = ({ send }: Console, token: string = TOKENS.operate, body = {}) =>
    send('POST', '/api/alerts/test', body, { token });
  const command = ({ url }: Console) =>
    call(['alerts', 'test', '--url', url, '--token', TOKENS.operate], { open: openOperator, env: {} });

  it('are tested, and the answer says what the receiver answered', async () => {
    const console = await startWith();
    const { status, json } = await test(console);
    expect(status).toBe(200);
    expect(json).toEqual({
      results: [{ name: 'duty', at: expect.any(Number), took: expect.any(Number), status: 204 }],
    });
    expect(receiver.messages).toMatchObject([{ type: 'alerts.test', data: { node: console.gatekeeper.node } }]);
    expect((await console.get('/api/health')).json.alerts).toEqual([
      {
        name: 'duty',
        kinds: expect.arrayContaining(['run-failed']),
        waiting: 0,
        last: { ...json.results[0], name: undefined },
      },
    ]);
  });

  it('tell of a refusal without the body or the address', async () => {
    receiver.answer = (response) => response.writeHead(403).end('hidden-body');
    const { text, json } = await test(await startWith());
    expect(json.results).toMatchObject([{ status: 403, problem: 'answered 403' }]);
    expect(text).not.toMatch(/hidden|whsec_/);
  });

  it('are tested by operators, a few times at once, and never at an address of the caller', async () => {
    const console = await startWith();
    expectProblem(await test(console, TOKENS.view), 403, 'role-too-low');
    expectProblem(await test(console, TOKENS.operate, { url: receiver.url }), 400, 'invalid-options');
    for (let time = 0; time < 3; time += 1) expect((await test(console)).status).toBe(200);
    expectProblem(await test(console), 429, 'too-many-tests');
    expect(receiver.requests).toHaveLength(3);
  });

  it('have nothing to test without the option', async () => {
    const console = await start({ platform });
    expectProblem(await test(console), 404, 'no-alerts');
    expect(await command(console)).toMatchObject({ exitCode: 3, err: expect.stringContaining('option alerts') });
  });

  it('are tested from the command line, which ends with 1 if a receiver refuses', async () => {
    const console = await startWith();
    expect(await command(console)).toMatchObject({
      exitCode: 0,
      out: expect.stringMatching(/^RECEIVER {2}RESULT\nduty {6}accepted \(204\), \d+ ms\n$/),
    });
    receiver.answer = (response) => response.writeHead(500).end();
    expect(await command(console)).toMatchObject({ exitCode: 1, out: expect.stringContaining('answered 500') });
  });
});
