import { randomUUID } from 'node:crypto';
import { hazelcast } from '../../../lib/stores/hazelcast/index.js';
import { NoQuorumError } from '../../../lib/core/store/store.errors.js';
import { startHazelcast } from '../../../lib/testing/index.js';
import { readLogLine } from '../../../lib/testing/hazelcast/member-log.js';
import { closing } from '../../../test/contract/closing.js';
import { eventually } from '../../../test/contract/eventually.js';
import { itOnHazelcast } from '../../needs/members.js';

/** Of so many each member owns some. */
const KEYS = Array.from({ length: 50 }, () => randomUUID());

itOnHazelcast(
  'A member that hears too few others refuses before it drops them, and goes on when they are back',
  async () => {
    const sizes = new Set<number>();
    await using cluster = await startHazelcast({
      members: 3,
      minimumClusterSize: 2,
      onLog(member, line) {
        const event = readLogLine(line);
        if (member.index === 0 && event && 'size' in event) sizes.add(event.size);
      },
    });
    const { clusterName, addresses } = cluster;
    await using store = closing(hazelcast({ clusterName, members: addresses }).open());
    const allRead = async () => (await Promise.all(KEYS.map((key) => store.records.read(key)))).length === KEYS.length;
    // Not waited for: of the members that are silent no answer comes.
    const oneRefused = () =>
      new Promise<boolean>((resolve) => {
        for (const key of KEYS)
          store.records.read(key).catch((error) => error instanceof NoQuorumError && resolve(true));
        setTimeout(resolve, 100, false);
      });
    await eventually('all can be read', allRead);
    const [, ...others] = cluster.members;
    sizes.clear();

    await Promise.all(others.map((member) => member.pause()));
    await eventually('the one that is left refuses', oneRefused);
    for (const member of others) member.resume();

    await eventually('all can be read', allRead);
    expect(sizes).toEqual(new Set());
  },
);
