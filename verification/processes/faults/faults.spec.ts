import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sharedNow } from '../../apps/say.js';
import { eventually } from '../../../test/contract/eventually.js';
import type { Fault } from './fault.js';
import { faultNamed } from './faults.js';
import { type Need, lacks as whatLacks } from './needs.js';
import { itUnless } from '../../../test/support/unless.js';
import { runFault } from './run-fault.js';
import { Site } from './site.js';
import { describeOnHazelcast } from '../../needs/members.js';

/** Order and timing of the faults: the same in each run. `npm run test:faults` carries out all faults, for as long as you like. */
const SEED = 20;

/** Injects each fault once. The rest of the suite runs beside it. */
const SHORT = { seed: SEED, lasts: 1 };
const ONE_FAULT_TAKES = 120_000;

/** Freezes a client until another one owns a resource of its. */
const freezeUntilReplaced: Fault['action'] = async ({ clients: [client], recorder, owners }) => {
  const semaphore = owners.find((owner) => recorder.holders(owner)[0]?.process === client!.name)!;
  client!.freeze();
  const frozen = sharedNow();
  await eventually('the resource has another owner', () => recorder.grants(semaphore, frozen).length > 0);
  client!.thaw();
};

const lacks = await whatLacks();

describeOnHazelcast('three members and four processes that contend for their permits', () => {
  let site: Site;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatekeeper-faults-'));
    const namespaces = lacks.namespaces === undefined;
    site = await Site.open({ store: 'optimistic', quorum: true, memberClock: false, namespaces, folder });
  });

  afterAll(async () => {
    await site?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });

  for (const name of ['kill-holder', 'freeze-holder', 'kill-member', 'split', 'kill-leader', 'data-loss']) {
    const fault = faultNamed(name);
    const lack = fault.needs.flatMap((need: Need) => lacks[need] ?? []).join('; ');
    itUnless(lack || undefined)(
      `keep every promise under ${name}`,
      async () => {
        const { violations, story, figures, leadership, allocation } = await runFault(site, fault, {
          ...SHORT,
          folder,
        });
        if (violations.length > 0) throw new Error(`${violations.join('\n')}\n${story}`);
        expect(figures.grants).toBeGreaterThan(5);
        expect(figures.overlaps).toBe(0);
        expect(leadership.doubles).toBe(0);
        expect(leadership.terms).toBeGreaterThan(0);
        expect(figures.writes.staleApplied).toBe(0);
        expect(allocation.doubles).toBe(0);
        expect(allocation.changes).toBeGreaterThanOrEqual(24);
        expect(allocation.staleWrites.applied).toBe(0);
      },
      ONE_FAULT_TAKES,
    );
  }

  it(
    'are caught if they count on resources for longer than their membership lease',
    async () => {
      const fault = { ...faultNamed('freeze-holder'), action: freezeUntilReplaced };
      const { allocation, violations } = await runFault(site, fault, { ...SHORT, folder, overstay: 10_000 });
      expect(allocation.doubles).toBeGreaterThan(0);
      expect(violations).toContainEqual(expect.stringMatching(/^S1 owner:r\d+: two held slot 0 at once/));
    },
    ONE_FAULT_TAKES,
  );
});
