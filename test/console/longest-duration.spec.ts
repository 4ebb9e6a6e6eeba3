import { expectProblem } from './api.contract.js';
import { type Console, PLATFORMS, TOKENS, useConsoles } from './consoles.js';

const YEAR = 365 * 24 * 60 * 60 * 1000;

describe.each(PLATFORMS)('the duration that a call over HTTP asks for, on %s', (platform) => {
  const start = useConsoles();
  const boot = () => start({ platform, gatekeeper: { definitions: [{ name: 'job', duration: '5s' }] } });
  const take = ({ send }: Console, body: object, token: string = TOKENS.operate) =>
    send('POST', '/api/permits', { semaphore: 'job', holder: 'h', ...body }, { token });
  const refresh = ({ send }: Console, id: string, body: object, token: string = TOKENS.operate) =>
    send('POST', `/api/permits/${id}/refresh`, { semaphore: 'job', ...body }, { token });

  it('is no longer than the definition says, with the role operate', async () => {
    const console = await boot();
    for (const body of [{ duration: '365d' }, { duration: 5001 }, { duration: '365d', wait: 5000 }]) {
      const refused = await take(console, body);
      expectProblem(refused, 400, 'invalid-options');
      expect(refused.json.faults).toEqual([
        expect.stringMatching(/^duration: \d+ ms is longer than the 5000 ms of the definition/),
      ]);
    }
    const { json } = await take(console, { duration: 5000 });
    expectProblem(await take(console, { duration: YEAR }), 400, 'invalid-options');
    expectProblem(await refresh(console, json.id, { token: json.token, duration: YEAR }), 400, 'invalid-options');
    const { semaphores } = await console.gatekeeper.state();
    expect(semaphores[0]!.holders[0]!.remaining).toBeLessThanOrEqual(5000);
  });

  it('is any that the role define asks for', async () => {
    const console = await boot();
    const { json } = await take(console, { duration: '1h' }, TOKENS.define);
    expect(json.remaining).toBeGreaterThan(3_500_000);
    const refreshed = await refresh(console, json.id, { token: json.token, duration: '2h' }, TOKENS.define);
    expect(refreshed.json.remaining).toBeGreaterThan(7_100_000);
  });

  it('may be an ISO 8601 duration, but not one in months or years', async () => {
    const console = await boot();
    expect((await take(console, { duration: 'PT4S', wait: 'PT0S' })).json.remaining).toBeLessThanOrEqual(4000);
    const refused = await take(console, { duration: 'P1M', wait: 'PT1H' });
    expectProblem(refused, 400, 'invalid-options');
    expect(refused.json.faults).toEqual([
      'duration: "P1M" has years or months, and these differ in length: give days ("P30D")',
      'wait: "PT1H" is more than 60000 ms',
    ]);
  });

  it('becomes the shorter one of a definition that was edited while the permit was held', async () => {
    const console = await boot();
    const { json } = await take(console, { duration: 5000 });
    await console.gatekeeper.definitions.edit('job', { duration: '2s' });
    const refreshed = await refresh(console, json.id, { token: json.token, duration: 5000 });
    expect(refreshed.status).toBe(200);
    expectProblem(await refresh(console, json.id, { token: json.token, duration: 5001 }), 400, 'invalid-options');
  });
});
