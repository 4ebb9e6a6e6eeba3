import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Fault } from './fault.js';
import { faultNamed } from './faults.js';
import { type Need, lacks as whatLacks } from './needs.js';
import { itUnless } from '../../../test/support/unless.js';
import { type FaultResult, runFault } from './run-fault.js';
import { Site } from './site.js';
import { describeOnHazelcast } from '../../needs/members.js';

/** Order and timing of the faults: the same in each run. `npm run test:faults` carries out all faults, for as long as you like. */
const SEED = 20;

/** Injects each fault once. The rest of the suite runs beside it. */
const SHORT = { seed: SEED, lasts: 1 };
export const ONE_FAULT_TAKES = 120_000;

/** Injects a fault once. `overstay`: ms for which owners count on a resource beyond their membership lease */
export type Inject = (fault: Fault, options?: { readonly overstay?: number }) => Promise<FaultResult>;

const lacks = await whatLacks();

/** Injects each of these faults once, on members and processes that these tests share, and expects every promise to be kept. */
export function describeFaults(
  names: readonly string[],
  furtherTests: (inject: Inject) => void = () => undefined,
): void {
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

    const inject: Inject = (fault, options = {}) => runFault(site, fault, { ...SHORT, folder, ...options });

    for (const name of names) {
      const fault = faultNamed(name);
      const lack = fault.needs.flatMap((need: Need) => lacks[need] ?? []).join('; ');
      itUnless(lack || undefined)(
        `keep every promise under ${name}`,
        async () => {
          const { violations, story, figures, leadership, allocation } = await inject(fault);
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

    furtherTests(inject);
  });
}
