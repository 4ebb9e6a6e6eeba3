import type { SemaphoreDefinition } from './definition.js';
import type { StoredPermit } from './permit.js';
import type { SemaphoreRecord } from './record.js';

/**
 * The record's text, as JSON.stringify would give it. Written by hand because it stands between each decision and the
 * moment at which it is sent, where JSON.stringify of the whole takes a tenth of a round trip.
 */
export function encodeRecord(record: SemaphoreRecord): string {
  const { v, nonce, seq, at, revision, lastToken, definition, permits, grace } = record;
  const definitionText = definition ? `,"definition":${textOfDefinition(definition)}` : '';
  const graceText = grace ? `,"grace":${JSON.stringify(grace)}` : '';
  return (
    `{"v":${v},"nonce":${quote(nonce)},"seq":${seq},"at":${at},"revision":${revision},"lastToken":${lastToken}` +
    `${definitionText},"permits":[${permits.map(textOfPermit).join(',')}]${graceText}}`
  );
}

function textOfPermit(permit: StoredPermit): string {
  const { id, slot, token, instance, holder, acquirer, group, grantedAt, expiresAt, duration } = permit;
  return (
    `{"id":${quote(id)},"slot":${slot},"token":${token},"instance":${quote(instance)},"holder":${quote(holder)},` +
    `"acquirer":${quote(acquirer)},"group":${quote(group)},"grantedAt":${grantedAt},"expiresAt":${expiresAt},` +
    `"duration":${duration}}`
  );
}

/** Definitions change rarely: their text is made once per object. */
const definitionTexts = new WeakMap<SemaphoreDefinition, string>();

function textOfDefinition(definition: SemaphoreDefinition): string {
  const known = definitionTexts.get(definition);
  if (known !== undefined) return known;
  const text = JSON.stringify(definition);
  definitionTexts.set(definition, text);
  return text;
}

/** Characters that JSON takes as they are: all of ASCII that can be printed, but for the quote and the backslash. */
const PLAIN = /^[ !#-[\]-~]*$/;

function quote(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}
