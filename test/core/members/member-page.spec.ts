import { MEMBERS, type MemberPage } from '../../../lib/core/members/member-page.js';
import type { Expiring } from '../../../lib/core/decision/index.js';

const NOW = 1_700_000_000_000;
const LEASE = 6000;
const viewAt = (now: number) => ({ now, isExpired: ({ expiresAt }: Expiring) => expiresAt <= now });

const PAGE: MemberPage = {
  v: 1,
  nonce: 'last',
  seq: 7,
  at: NOW,
  born: 'first',
  entries: [
    {
      instance: 'one',
      inc: 'one.1',
      beat: 3,
      expiresAt: NOW + LEASE,
      duration: LEASE,
      group: 'default',
      acquirer: 'app1',
      host: 'vm',
      metadata: {},
      startedAt: NOW,
    },
  ],
};

describe('a page of the membership that is put back', () => {
  it('has a grace as long as the longest lease', () => {
    const { grace } = MEMBERS.restore(PAGE, undefined, viewAt(NOW), 'restored');
    expect(grace).toMatchObject({ expiresAt: NOW + LEASE, duration: LEASE });
  });

  it('has no longer grace when it is put back again after the clocks were set back', () => {
    const first = MEMBERS.restore(PAGE, undefined, viewAt(NOW), 'first');
    const { grace } = MEMBERS.restore(first, undefined, viewAt(NOW - 100_000), 'again');
    expect(grace).toMatchObject({ expiresAt: NOW + LEASE, duration: LEASE });
  });
});
