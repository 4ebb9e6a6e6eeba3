import type { DefinitionState } from '../../gatekeeper/index.js';
import { plain } from '../text/plain.js';
import { exactDuration } from '../../core/decision/texts/exact-duration.js';

/** Formats a definition on one line. */
export function definitionText({ definition, revision, pause }: DefinitionState): string {
  const { name, groupPattern, acquirerPattern, permits, duration } = definition;
  const group = pause?.groupPattern ?? groupPattern;
  const state = pause ? ', paused' : '';
  return plain(
    `${name}: revision ${revision}, permits ${permits}, duration ${exactDuration(duration)}, group /${group}/, acquirer /${acquirerPattern}/${state}`,
  );
}
