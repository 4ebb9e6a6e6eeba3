import type { GatekeeperSettings } from './gatekeeper-options.js';
import type { Parts } from './parts.js';

/** Starts all parts over a verified store, in the order in which they need each other. */
export async function startParts(parts: Parts, settings: Pick<GatekeeperSettings, 'membership'>): Promise<void> {
  const { context, sweeping, directory, housekeeping, membership, registry, nodesWatch, runArchivist, alerts } = parts;
  context.clusterClock.start();
  await sweeping.start();
  await directory.birth.start();
  await housekeeping.start();
  if (settings.membership) await membership.start();
  for (const part of [registry, nodesWatch, runArchivist, alerts]) part?.start();
}
