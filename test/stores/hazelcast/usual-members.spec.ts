import { UsualMembers } from '../../../lib/stores/hazelcast/hazelcast.driver.js';

const MINUTE = 60_000;

describe('The usual number of members', () => {
  function watched() {
    const clock = { minute: 0 };
    const usual = new UsualMembers(() => clock.minute * MINUTE);
    return (minute: number, members: number) => {
      clock.minute = minute;
      return usual.see(members);
    };
  }

  it('is the most that were seen at once', () => {
    const at = watched();
    expect([at(0, 1), at(1, 3), at(2, 2)]).toEqual([1, 3, 3]);
  });

  it('follows a cluster that was made smaller after an hour', () => {
    const at = watched();
    at(0, 3);
    expect([at(1, 1), at(30, 2), at(60, 2), at(61, 2), at(62, 1)]).toEqual([3, 3, 3, 2, 2]);
  });

  it('begins a new hour when the members were all there once more', () => {
    const at = watched();
    at(0, 3);
    at(1, 2);
    at(59, 3);
    expect([at(60, 2), at(119, 2), at(120, 2)]).toEqual([3, 3, 2]);
  });

  it('stays while the client sees no member, which does not end the hour', () => {
    const at = watched();
    at(0, 3);
    at(1, 2);
    expect([at(2, 0), at(60, 0), at(61, 2)]).toEqual([3, 3, 2]);
  });
});
