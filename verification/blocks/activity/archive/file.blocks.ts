import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileHistoryArchive } from 'nestjs-gatekeeper';
import { threadCpu } from '../../../../test/console/longest-block.js';
import { numbered } from '../../../../test/operate/activity/archive/archived-run.js';

describe('a batch of 500 runs with long messages for a folder', () => {
  it('is written without a block of 20 ms', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'runs-'));
    try {
      const archive = fileHistoryArchive({ folder }).open({ group: 'default', acquirer: 'app1', instance: 'cafe' });
      const message = '"\n\u2028'.repeat(100);
      const batches = Array.from({ length: 8 }, (_, round) => numbered(500, { message }, 500 * round));
      const tries: number[] = [];
      // The CPU time of the whole batch is an upper limit of its longest piece. The least counts, because a busy machine
      // takes longer.
      for (const batch of batches) {
        const begin = threadCpu();
        await archive.append(batch);
        tries.push(threadCpu() - begin);
      }
      console.log(`whole batch: ${Math.min(...tries).toFixed(1)} ms`);
      expect(Math.min(...tries)).toBeLessThan(20);
      const [name] = await readdir(folder);
      expect((await stat(join(folder, name!))).size).toBeGreaterThan(8 * 500 * 500);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
