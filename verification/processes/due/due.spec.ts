import { describeOnRedis } from '../../needs/redis.js';
import { DueRun } from './due-run.js';
import { openStore } from './cli.js';

/** On a busy machine times are longer than those that `npm run due` measures on a quiet one. */
const BUSY = 3;

describeOnRedis('processes on Redis', () => {
  it('begin delayed tasks in time, although the one that sweeps is killed, and then another one', async () => {
    await using server = await openStore('redis');
    await using run = new DueRun(server.store);
    await run.start(4);
    // So many that one stall of a busy machine, which delays all tasks of that time, is less than a twentieth of them.
    const { p50, p95, max } = await run.delays(900, 60, true);
    expect(p50).toBeLessThanOrEqual(BUSY * 50);
    expect(p95).toBeLessThanOrEqual(BUSY * 100);
    expect(max).toBeLessThanOrEqual(10_000);
  }, 60_000);

  it('take over the attempts of those that are killed', async () => {
    await using server = await openStore('redis');
    await using run = new DueRun(server.store);
    await run.start(4);
    const { count, p50, bound } = await run.takeovers(4, 2500);
    expect(count).toBeGreaterThan(0);
    expect(p50).toBeLessThanOrEqual(bound);
  }, 60_000);
});
