import { RetryLaterError, StoreUnavailableError, UnknownOutcomeError } from 'nestjs-gatekeeper';
import { show } from '../../lib/core/decision/index.js';
import { EventLog } from '../../lib/gatekeeper/event-log.js';
import type { GatekeeperEvent } from '../../lib/core/context/events.js';

const permit = { slot: 0, token: 7 } as never;
const semaphore = 'nightly-export';
const job = 'Jobs.export';

const granted: GatekeeperEvent = { type: 'granted', semaphore, permit };
const lost: GatekeeperEvent = { type: 'lost', semaphore, permit, reason: 'expired' };
const denied: GatekeeperEvent = { type: 'denied', semaphore, reason: 'no-permit' };
const skipped: GatekeeperEvent = { type: 'run-skipped', semaphore, job, reason: 'no-permit' };
const paused: GatekeeperEvent = { type: 'run-skipped', semaphore, job, reason: 'paused' };
const ran: GatekeeperEvent = { type: 'run-finished', semaphore, job, run: 1, took: 5 };
const failed: GatekeeperEvent = { ...ran, error: new Error('disk full') };

/** The lines of events that come a second apart. */
function logOf(events: readonly GatekeeperEvent[]): string[] {
  let now = 0;
  const { log, lines } = newLog(() => (now += 1000));
  for (const event of events) log.note(event);
  return lines;
}

function newLog(monotonic = () => 0) {
  const lines: string[] = [];
  const to = (level: string) => (line: string) => void lines.push(`${level} ${line}`);
  const logger = { log: to('log'), warn: to('warn'), error: to('error'), debug: to('debug') };
  return { lines, log: new EventLog(logger, { monotonic }) };
}

describe("the application's log", () => {
  it('has a line when a job is skipped for another reason, not one for each tick', () => {
    expect(logOf([skipped, skipped, skipped, paused, paused, skipped])).toEqual([
      'debug "nightly-export": skipped Jobs.export (no-permit)',
      'debug "nightly-export": skipped Jobs.export (paused)',
      'debug "nightly-export": skipped Jobs.export (no-permit)',
    ]);
  });

  it('has an error for each run that failed, and a line when the job runs again', () => {
    expect(logOf([ran, ran, failed, failed, ran])).toEqual([
      'debug "nightly-export": Jobs.export ran',
      'error "nightly-export": Jobs.export failed: disk full',
      'error "nightly-export": Jobs.export failed: disk full',
      'debug "nightly-export": Jobs.export ran',
    ]);
  });

  it('has no line twice within a second', () => {
    let now = 0;
    const { log, lines } = newLog(() => now);
    const other = { ...failed, error: new Error('no space') };
    for (const [at, event] of [
      [0, failed],
      [0, other],
      [400, failed],
      [999, other],
      [1000, failed],
      [1001, other],
    ] as const) {
      now = at;
      log.note(event);
    }
    const [full, space] = ['disk full', 'no space'].map((why) => `error "nightly-export": Jobs.export failed: ${why}`);
    expect(lines).toEqual([full, space, full, space]);
  });

  it('names the jobs of a permit that is lost, and why, and how they ended after that', () => {
    const held = { ...(permit as object), id: 'p' } as never;
    const started: GatekeeperEvent = { type: 'run-started', semaphore, job, run: 1, permit: held };
    const cut: GatekeeperEvent = { type: 'lost', semaphore, permit: held, reason: 'max-run-time' };
    const end = { ...ran, permit: held, loss: 'max-run-time' } as const;
    const other = { ...started, job: 'Jobs.import', run: 2 };
    expect(logOf([started, other, cut, end, { ...end, job: 'Jobs.import', error: new Error('aborted') }, cut])).toEqual(
      [
        'warn "nightly-export": Jobs.export, Jobs.import lost their permit: the run took longer than its maxRunTime',
        'warn "nightly-export": Jobs.export ended without its permit',
        'warn "nightly-export": Jobs.import failed without its permit: aborted',
        'warn "nightly-export": slot 0 was lost while it was in use: the run took longer than its maxRunTime',
      ],
    );
  });

  it('has only a debug line when permits expire, which those of short runs do at each tick', () => {
    const permits = [{ slot: 0, acquirer: 'app1' } as never];
    expect(logOf([{ type: 'expired', semaphore, permits }])).toEqual([
      'debug "nightly-export": slot 0 of app1 expired',
    ]);
  });

  it('has a line also when what a job threw has no text', () => {
    expect(logOf([{ ...ran, error: Object.create(null) as unknown }])).toEqual([
      `error "nightly-export": Jobs.export failed: ${show({})}`,
    ]);
  });

  it('has a line when a node gets a permit, is denied, or loses it while it is in use', () => {
    const released: GatekeeperEvent = { type: 'released', semaphore, permit };
    expect(logOf([granted, released, granted, denied, denied, granted, lost, granted])).toEqual([
      'debug "nightly-export": got slot 0, token 7',
      'debug "nightly-export": denied (no-permit)',
      'debug "nightly-export": got slot 0, token 7',
      'warn "nightly-export": slot 0 was lost while it was in use: it could not be renewed in time',
      'debug "nightly-export": got slot 0, token 7',
    ]);
  });

  it('has each loss', () => {
    expect(logOf([lost, lost])).toHaveLength(2);
  });

  it('has a warning for each attempt of a task that failed, and an error for each that is not tried again', () => {
    const ended = { type: 'task-ended', task: 'mail/7', token: 3, took: 5 } as const;
    const error = new Error('no such address');
    const lines = logOf([
      { ...ended, isFailure: false, outcome: 'completed' },
      { ...ended, isFailure: false, outcome: 'cancelled', error },
      { ...ended, isFailure: false, error: new RetryLaterError('5m') },
      { ...ended, isFailure: true, error },
      { ...ended, isFailure: true, error },
      { ...ended, isFailure: true, error, outcome: 'failed' },
    ]);
    expect(lines).toEqual([
      'debug task "mail/7": completed',
      'debug task "mail/7": cancelled (no such address)',
      'debug task "mail/7": will be tried again (the task is to be tried again in "5m")',
      ...Array<string>(2).fill('warn task "mail/7": will be tried again (no such address)'),
      'error task "mail/7": failed (no such address)',
    ]);
  });

  it('says that a node crashed at a task, and when the task became a dead letter by that', () => {
    const crashed = { type: 'task-crashed', task: 'mail/7', token: 3 } as const;
    expect(
      logOf([
        { ...crashed, crashes: 2 },
        { ...crashed, crashes: 3, outcome: 'crashed' },
      ]),
    ).toEqual([
      'warn task "mail/7": its node did not note an end before the lease was over (crash 2), will be tried again',
      expect.stringMatching(/^error task "mail\/7": .* \(crash 3\), a dead letter now$/),
    ]);
    expect(logOf([{ ...crashed, crashes: 1, outcome: 'cancelled' }])).toEqual([
      expect.stringMatching(/^warn task "mail\/7": .* \(crash 1\), cancelled$/),
    ]);
  });

  it('has a warning of a job that did not run, and a line when it runs again', () => {
    const warned = { code: 'not-run', semaphore, sentence: 'Jobs.export was due' } as const;
    expect(
      logOf([
        { type: 'job-warning', ...warned },
        { type: 'job-warning-ended', ...warned },
      ]),
    ).toEqual(['warn Jobs.export was due', 'log Jobs.export was due']);
  });

  it('says at the start where the node is, and warns if its application has no name', () => {
    const joined = { type: 'cluster-joined', nodes: 0 } as const;
    const named = { ...joined, application: 'shop', sentence: 'application shop has joined' };
    expect(logOf([named, { ...joined, sentence: 'this application has joined' }])).toEqual([
      'log application shop has joined',
      'warn this application has joined',
    ]);
  });

  it('has one line when all shards of the names on demand are restored, also the next time', () => {
    let now = 5000;
    const { log, lines } = newLog(() => now);
    const restore = (name: string) => log.note({ type: 'restored', semaphore: name, revision: 3 });
    const restoreAll = () => Array.from({ length: 512 }, (_, shard) => restore(`shard:${shard}`));
    restoreAll();
    restore('nightly-export');
    const expected = [
      'warn names on demand: the store had lost their records, or may have; restored with a grace, "shard:0" first',
      'warn "nightly-export": the store had lost its record, or may have; restored revision 3 with a grace',
    ];
    expect(lines).toEqual(expected);
    now += 60_000;
    restoreAll();
    expect(lines).toEqual([...expected, expected[0]]);
  });

  it('tells jobs apart, and remembers only so many', () => {
    const many = Array.from({ length: 3000 }, (_, index) => ({ ...skipped, job: `Jobs.of(${index})` }));
    expect(logOf([...many, ...many.slice(-500)])).toHaveLength(3000);
    expect(logOf([...many, many[0]!])).toHaveLength(3001);
  });

  it.each([
    'sweep',
    'look for tasks',
    'look for addressed tasks',
    'sweep the tasks',
    'look for run requests',
    'take in a change',
  ])('has one warning of an outage, not one for each try to %s', (action) => {
    const outage = (error: Error): GatekeeperEvent => ({ type: 'problem', action, error });
    const lines = logOf([
      { type: 'store-lost', error: new Error('no members') },
      outage(new StoreUnavailableError('no members')),
      outage(new UnknownOutcomeError('the connection ended')),
      outage(new Error('a bug')),
    ]);
    expect(lines.filter((line) => !line.startsWith('debug'))).toEqual([
      "warn the store can't be asked, nothing runs until it is back: no members",
      `warn problem in "${action}": a bug`,
    ]);
  });
});
