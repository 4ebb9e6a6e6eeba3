import { isWhole, readLogLine } from '../../lib/testing/hazelcast/member-log.js';

const PREFIX = '03:40:14.268 INFO com.hazelcast.core.LifecycleService: [127.0.0.1]:5701 [x] [5.6.0]';

describe("a member's log", () => {
  it.each([
    ['gatekeeper-member-pid 4711', { pid: 4711 }],
    [`${PREFIX} [127.0.0.1]:5701 is STARTED`, { started: true }],
    [`${PREFIX} [127.0.0.1]:5701 is STARTING`, undefined],
    ['Members {size:2, ver:12} [', { size: 2 }],
    ['\tMember [127.0.0.1]:5701 - c8c6c35e-6974-4c03-a7de-de4991e21f1d this', undefined],
    ['', undefined],
  ])('%j tells %j', (line, event) => expect(readLogLine(line)).toEqual(event));
});

describe('a cluster is whole', () => {
  const up = { running: true, paused: false, started: true, size: 2 };

  it.each([
    ['when each member sees the other', [up, up], true],
    ['not while one only sees itself', [up, { ...up, size: 1 }], false],
    ['not while one has not started', [up, { ...up, started: false }], false],
    [
      'without a member that is gone',
      [
        { ...up, size: 1 },
        { ...up, running: false },
      ],
      true,
    ],
    ['without a member that is paused', [up, up, { ...up, paused: true, size: 3 }], true],
    ['though one that was just killed is still counted', [up, { ...up, size: 3 }], true],
  ])('%s', (_, views, whole) => expect(isWhole(views)).toBe(whole));
});
