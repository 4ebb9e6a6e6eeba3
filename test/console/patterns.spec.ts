import { useConsoles } from './consoles.js';
import { LONG, hostileRounds } from './hostile-requests.js';

const start = useConsoles();

it('answers hostile patterns that are sent to the API, whatever they are', async () => {
  const definitions = [LONG, 'job'].map((name) => ({ name, duration: '10s' }));
  const console = await start({ gatekeeper: { acquirer: LONG, group: LONG, heartbeat: '1s', definitions } });
  const seen = new Map<number, number>();
  for (const round of hostileRounds()) {
    for (const { pattern, send } of round) {
      const { status } = await send(console, pattern);
      seen.set(status, (seen.get(status) ?? 0) + 1);
    }
    await console.send('DELETE', '/api/semaphores/new', {});
  }
  expect(seen.get(200)! + seen.get(201)!).toBeGreaterThan(100);
  expect(seen.get(400)!).toBeGreaterThan(100);
  expect([...seen.keys()].filter((status) => status >= 500)).toEqual([]);
});
