import type { GatekeeperSettings } from './gatekeeper-options.js';
import type { Parts } from './parts.js';

/** Starts all parts over a verified store, in the order in which they need each other. */
export async function startParts(
  parts: Parts,
  settings: Pick<GatekeeperSettings, 'membership' | 'heartbeat' | 'store'>,
): Promise<void> {
  const { context, sweeping, directory, housekeeping, membership, registry, applicationWatch, runArchivist, alerts } =
    parts;
  context.clusterClock.start();
  await sweeping.start();
  await directory.birth.start();
  await housekeeping.start();
  if (settings.membership) await membership.start();
  if (settings.heartbeat > 0 && !settings.store.isOwn) parts.codeWatch.start();
  for (const part of [registry, applicationWatch, runArchivist, alerts]) part?.start();
}
