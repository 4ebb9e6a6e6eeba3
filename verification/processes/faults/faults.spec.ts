import { sharedNow } from '../../apps/say.js';
import { eventually } from '../../../test/contract/eventually.js';
import type { Fault } from './fault.js';
import { faultNamed } from './faults.js';
import { ONE_FAULT_TAKES, describeFaults } from './short-faults.js';

/** Freezes a client until another one owns a resource of its. */
const freezeUntilReplaced: Fault['action'] = async ({ clients: [client], recorder, owners }) => {
  const semaphore = owners.find((owner) => recorder.holders(owner)[0]?.process === client!.name)!;
  client!.freeze();
  const frozen = sharedNow();
  await eventually('the resource has another owner', () => recorder.grants(semaphore, frozen).length > 0);
  client!.thaw();
};

describeFaults(['freeze-holder', 'split', 'data-loss'], (inject) => {
  it(
    'are caught if they count on resources for longer than their membership lease',
    async () => {
      const fault = { ...faultNamed('freeze-holder'), action: freezeUntilReplaced };
      const { allocation, violations } = await inject(fault, { overstay: 10_000 });
      expect(allocation.doubles).toBeGreaterThan(0);
      expect(violations).toContainEqual(expect.stringMatching(/^S1 owner:r\d+: two held slot 0 at once/));
    },
    ONE_FAULT_TAKES,
  );
});
