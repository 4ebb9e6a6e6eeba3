import type { HistoryEntry } from 'nestjs-gatekeeper';
import { historyText } from '../../../lib/cli/views/journals.view.js';
import { LogFields } from '../../../lib/gatekeeper/log-fields.js';

const AT = Date.UTC(2026, 0, 10, 12);
const node = { group: 'production', acquirer: 'app1', instance: 'i' };
const run = { semaphore: 'nightly', job: 'Jobs.nightly', node, at: AT, run: 1, token: 7, slot: 0 } as const;
const loss = { at: AT + 20_000, reason: 'max-run-time' } as const;
const WHY = 'the run took longer than its maxRunTime';

/** Runs that maxRunTime has cut: one goes on, one ended after that, and of one the node has died since. */
const RUNS: [string, Exclude<HistoryEntry, { kind: 'skip' }>][] = [
  ['goes on', { ...run, kind: 'running', loss }],
  ['has ended', { ...run, kind: 'run', outcome: 'lost', took: 60_000, loss }],
  ['has no end, because its node has died since', { ...run, kind: 'run', outcome: 'lost', loss }],
];

it.each(RUNS)('a run that maxRunTime has cut, and that %s, has that reason on the command line', (_what, entry) => {
  const text = historyText([entry]);
  expect(text).toContain(`without its permit since 2026-01-10 12:00:20Z, because ${WHY}`);
  expect(text).not.toMatch(/crash/);
});

it('the end of a run without its permit has the reason as a field of its log entry', () => {
  const entries: unknown[] = [];
  const keep = (entry: unknown) => void entries.push(entry);
  const logger = { log: keep, warn: keep, error: keep, debug: keep };
  const event = {
    type: 'run-finished',
    semaphore: 'nightly',
    job: 'Jobs.nightly',
    run: 1,
    took: 5,
    loss: loss.reason,
  } as const;
  new LogFields('msg', node).over(logger, event).warn('ended without its permit');
  expect(entries).toMatchObject([{ event: 'run-finished', job: 'Jobs.nightly', loss: 'max-run-time' }]);
});
