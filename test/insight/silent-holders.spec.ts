import { describe, expect, it } from '@jest/globals';
import { semaphoreOverview } from '../../lib/insight/overview.js';
import { MINUTE, NOW, aState } from './warned.js';

const HOLDER = {
  id: 'p1',
  holder: 'gone',
  slot: 0,
  token: 1,
  instance: 'gone',
  acquirer: 'app2',
  group: 'production',
  grantedAt: NOW - MINUTE,
  expiresAt: NOW + MINUTE,
  duration: MINUTE,
  remaining: MINUTE,
  isMine: false,
};

describe('a holder', () => {
  const isSilent = (holder: object, living: readonly string[] | undefined) => {
    const state = aState({ holders: [{ ...HOLDER, ...holder }] });
    const facts = { now: NOW, clockTolerance: 10, jobs: [], runs: [], past: [], running: [], nodes: [] };
    const known = living && new Set(living);
    const [found] = semaphoreOverview(state, { ...facts, passing: new Set(), living: known }).holders;
    return found!.isSilent;
  };

  it('is marked if no living node has its instance', () => {
    expect(isSilent({}, ['other'])).toBe(true);
  });

  it.each<[string, object, string[] | undefined]>([
    ['lives', {}, ['other', 'gone']],
    ['is the reporting node', { isMine: true }, ['other']],
    ['has just taken its permit, before its first heartbeat', { grantedAt: NOW - 1000 }, ['other']],
    ['is a client over HTTP, which has no heartbeat', { instance: 'http:nora' }, ['other']],
    ['may live, because the nodes can not be read', {}, undefined],
    ['may live, because no node has a heartbeat', {}, []],
  ])('is not marked if it %s', (_, holder, living) => {
    expect(isSilent(holder, living)).toBeUndefined();
  });
});
