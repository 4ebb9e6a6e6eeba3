import { taskLines } from '../../lib/tasks/overview/node-work.js';

it('the state dump has a line per type of tasks, and one per schedule', () => {
  const work = { type: 'mail', handles: 'tasks', concurrency: 4, running: 1, completed: 9, failed: 2 } as const;
  const lines = taskLines(
    [
      { type: 'archive', offeredAt: 0, waiting: 3 },
      { type: 'mail', offeredAt: 0, waiting: 7 },
    ],
    [work, { ...work, handles: 'groups', running: 0, obstacle: 'paused-here' }],
    [
      {
        name: 'report',
        type: 'cron.report',
        expression: '0 3 * * *',
        timeZone: 'UTC',
        mode: 'queue',
        isHere: false,
        next: 10_800_000,
        waiting: 2,
        skipped: [],
      },
    ],
  );
  expect(lines).toEqual([
    'state task-type=archive waiting~3 here=[]',
    'state task-type=mail waiting~7 here=[tasks(1/4 running, 9 completed, 2 failed in the last minute) ' +
      'groups(0/4 running, 9 completed, 2 failed in the last minute paused-here)]',
    'state schedule=report expression="0 3 * * *" zone=UTC mode=queue next=1970-01-01T03:00:00.000Z last=none run=none waiting=2 elsewhere',
  ]);
});
