import { safeJson } from '../../core/decision/index.js';

/** A key that no YAML parser reads as something else than this text. */
const PLAIN_KEY = /^(?!(?:true|false|null|yes|no|on|off|y|n)$)[A-Za-z]\w*$/i;

/** Formats a value as YAML in blocks. Scalars are written as JSON, which YAML contains. */
export function yaml(value: unknown): string {
  return block(JSON.parse(safeJson(value)), '').join('\n');
}

function block(value: unknown, indent: string): string[] {
  if (Array.isArray(value) && value.length > 0) return value.flatMap((item) => entry(`${indent}-`, item, indent));
  if (isFilled(value))
    return Object.entries(value).flatMap(([key, item]) => entry(`${indent}${keyText(key)}:`, item, indent));
  return [`${indent}${safeJson(value)}`];
}

/** An entry of a list begins in the line of its dash; that of an object in the line below its key. */
function entry(head: string, item: unknown, indent: string): string[] {
  const isList = Array.isArray(item) && item.length > 0;
  if (!isList && !isFilled(item)) return [`${head} ${safeJson(item)}`];
  const inner = `${indent}  `;
  const lines = block(item, inner);
  if (!head.endsWith('-')) return [head, ...lines];
  return [`${head} ${lines[0]!.slice(inner.length)}`, ...lines.slice(1)];
}

function isFilled(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0;
}

function keyText(key: string): string {
  return PLAIN_KEY.test(key) ? key : safeJson(key);
}
