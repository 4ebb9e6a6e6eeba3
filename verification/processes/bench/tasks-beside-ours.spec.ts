import { describeUnless } from '../../../test/support/unless.js';
import { type Results, bench, lack } from './short-run.js';

describeUnless(lack)('a short run of the tasks of the comparison', () => {
  it('measures ours on each server, and runs no lock', async () => {
    const systems = ['ours-redis', 'ours-postgres'];
    const { stdout } = await bench('--seconds', '0.02', '--parts', 'tasks', '--json', '--only', systems.join(','));
    const { tasks, speed, cases } = JSON.parse(stdout) as Results;
    expect(Object.keys(tasks)).toEqual(systems);
    expect([speed, cases]).toEqual([undefined, undefined]);
    for (const figures of Object.values(tasks)) {
      expect(Object.keys(figures).toSorted()).toEqual([
        'complete-1',
        'complete-16',
        'complete-4',
        'p50',
        'p99',
        'submit',
      ]);
      expect(Object.values(figures).filter((figure) => !(figure > 0))).toEqual([]);
      expect(figures['p99']).toBeGreaterThanOrEqual(figures['p50']!);
    }
  });
});
