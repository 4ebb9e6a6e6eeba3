import { MINUTE, NOW, EACH_MINUTE, aHolder, aNode, aState, overview } from './warned.js';

describe('the next run', () => {
  const heard = new Set(['instance', 'other']);
  const [mine, others] = [aNode(), aNode({ instance: 'other', acquirer: 'app2' })];
  const daily = {
    ...EACH_MINUTE,
    schedule: { kind: 'cron' as const, expression: '0 13 * * 1-5', timeZone: 'UTC', interval: 24 * 60 * MINUTE },
  };
  const held = aHolder({ grantedAt: NOW - 9 * MINUTE, expiresAt: NOW + 5 * MINUTE });

  it('is the next planned time while a permit is free', () => {
    expect(overview(aState(), [mine, others]).next).toBe(NOW + 1);
    expect(overview(aState({ holders: [held], free: 1 }), [mine]).next).toBe(NOW + 1);
  });

  it('is a whole second if it was planned as one, although the clock of the node differs by a millisecond', () => {
    const node = aNode({
      clock: { offset: -1 },
      jobs: [{ ...EACH_MINUTE, schedule: { ...EACH_MINUTE.schedule!, next: NOW + MINUTE } }],
    });
    expect(overview(aState(), [node]).next).toBe(NOW + MINUTE);
    expect(overview(aState(), [{ ...node, clock: { offset: 2400 } }]).next).toBe(NOW + MINUTE + 2000);
  });

  it('is that of the holder, which runs again under the permit that it has', () => {
    const state = aState({ holders: [held], free: 0 });
    const later = { ...others, jobs: [{ ...EACH_MINUTE, schedule: { ...EACH_MINUTE.schedule!, next: NOW + 2000 } }] };
    expect(overview(state, [mine, later], [], { heard }).next).toBe(NOW + 2000);
  });

  it('comes after the permit of a dead process', () => {
    const state = aState({ holders: [held], free: 0 });
    // The node waits for the end of the permit, and `clockTolerance` more.
    const next = NOW + 1 + 6 * MINUTE;
    expect(overview(state, [mine], [], { heard: new Set(['instance']) }).next).toBe(next);
    const endsBetween = { ...held, expiresAt: NOW + 4 * MINUTE - 600, remaining: 4 * MINUTE - 600 };
    expect(overview({ ...state, holders: [endsBetween] }, [mine], [], { heard }).next).toBe(NOW + 1 + 4 * MINUTE);
  });

  it('is found by the cron expression, because its interval holds only for the next time', () => {
    // The 10th of January 2026 is a Saturday. The permit outlasts the tick of Monday.
    const monday = Date.UTC(2026, 0, 12, 13);
    const node = aNode({ jobs: [{ ...daily, schedule: { ...daily.schedule, next: monday - 3 * 24 * 60 * MINUTE } }] });
    const long = { ...held, expiresAt: monday + MINUTE };
    expect(overview(aState({ holders: [long], free: 0 }), [node]).next).toBe(monday + 24 * 60 * MINUTE);
  });

  it('follows the first permit that ends, of several', () => {
    const second = { ...held, id: 'q', slot: 1, expiresAt: NOW + MINUTE };
    expect(overview(aState({ holders: [held, second], free: 0 }), [mine]).next).toBe(NOW + 1 + 2 * MINUTE);
  });

  it('is not known of a timeout that comes while the permit is held', () => {
    const once = { ...EACH_MINUTE, schedule: { kind: 'timeout' as const, expression: '1000', next: NOW + 1000 } };
    expect(overview(aState({ holders: [held], free: 0 }), [aNode({ jobs: [once] })])).not.toHaveProperty('next');
  });
});
