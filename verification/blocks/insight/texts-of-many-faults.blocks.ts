import { decodeCards } from '../../../lib/operate/activity/node-info.js';
import { threadCpu } from '../../../test/console/longest-block.js';
import { CARD } from '../../../test/operate/insight/card.js';

/** @returns ms of CPU time that the longest piece takes: the least of several tries, since a busy machine takes longer */
function longestPieceOf(text: string): number {
  const tries = Array.from({ length: 8 }, () => {
    const ends = [threadCpu()];
    for (const _ of decodeCards(text)) ends.push(threadCpu());
    ends.push(threadCpu());
    return Math.max(...ends.slice(1).map((end, index) => end - ends[index]!));
  });
  return Math.min(...tries);
}

describe('a card with countless times of a job', () => {
  it('is left out without a block of 20 ms', () => {
    const recent = Array.from({ length: 500_000 }, () => 1);
    const jobs = [{ job: 'x', schedule: { kind: 'cron', expression: '0 3 * * *', recent } }];
    const longest = longestPieceOf(JSON.stringify({ v: 1, nodes: [{ ...CARD, jobs }] }));
    console.log(`longest piece: ${longest.toFixed(1)} ms`);
    expect(longest).toBeLessThan(20);
  });
});
