import { KEY_PREFIX } from '../../../lib/core/decision/record.js';
import {
  ROOT_KEY,
  SHARD_PREFIX,
  type SemaphoreDefinition,
  blankShard,
  createRecord,
  encodeRecord,
  encodeShardRoot,
  encodeShard,
  shardOf,
} from '../../../lib/core/decision/index.js';
import { codeDefinition } from '../../../lib/core/permits/declared/node-code.js';
import { EPOCH } from '../machines/sim-process.js';
import { DEFINED_BY_SOME, SHARDS } from '../world/world.js';

/** The texts of a cluster that has been in use before. @param onDemand whether some other node has defined a name */
export function firstTexts(definition: SemaphoreDefinition, onDemand: boolean): Map<string, string> {
  const first = createRecord(definition, EPOCH - 1000, 'first');
  const another = createRecord({ ...definition, name: DEFINED_BY_SOME, permits: 1 }, EPOCH - 1000, 'some');
  const texts = new Map([
    [KEY_PREFIX + definition.name, encodeRecord({ ...first, ...originOf(definition) })],
    [ROOT_KEY, encodeShardRoot({ nonce: 'first', id: 'first', state: 'open' })],
  ]);
  if (onDemand) texts.set(KEY_PREFIX + DEFINED_BY_SOME, encodeRecord({ ...another, origin: 'some' }));
  for (let shard = 0; shard < SHARDS; shard++) {
    const blank = blankShard('first', EPOCH - 1000, `first.${shard}`);
    const isOfDefined = onDemand && shardOf(DEFINED_BY_SOME, SHARDS) === `${shard}`;
    const claims = new Map(isOfDefined ? [[DEFINED_BY_SOME, 'some']] : []);
    texts.set(`${SHARD_PREFIX}${shard}`, encodeShard({ ...blank, claims }));
  }
  return texts;
}

/** As a node wrote it whose code has this definition. */
function originOf(definition: SemaphoreDefinition) {
  return { source: 'code' as const, fingerprint: codeDefinition(definition).fingerprint };
}
