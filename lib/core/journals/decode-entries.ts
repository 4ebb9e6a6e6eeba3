import type { z } from 'zod';
import type { Pieces } from '../async/slices.js';
import { faultsOf, show } from '../decision/index.js';

/** Characters. The largest valid entry has four patterns in which JSON escapes every character. */
const LONGEST_ENTRY = 64 * 1024;

/** Valid entries of a journal, and the faults of invalid texts. */
interface DecodedEntries<Entry> {
  /** In their order. */
  readonly entries: Entry[];
  /** The fault of each invalid text, for people. */
  readonly faults: string[];
}

/**
 * Decodes texts that any node may have written. An invalid text does not affect the others. Yields after each text,
 * because a full journal would block the event loop for a tenth of a second.
 */
export function* decodeEntries<Entry>(
  texts: readonly string[],
  schema: z.ZodType<Entry>,
): Pieces<DecodedEntries<Entry>> {
  const decoded: DecodedEntries<Entry> = { entries: [], faults: [] };
  for (const text of texts) {
    const { success, data, fault } = decode(text, schema);
    if (success) decoded.entries.push(data);
    else decoded.faults.push(fault);
    yield 1;
  }
  return decoded;
}

type Decoded<Entry> =
  | { readonly success: true; readonly data: Entry; readonly fault?: undefined }
  | { readonly success: false; readonly data?: undefined; readonly fault: string };

function decode<Entry>(text: string, schema: z.ZodType<Entry>): Decoded<Entry> {
  if (text.length > LONGEST_ENTRY) return faulty(text, `it is longer than ${LONGEST_ENTRY} characters`);
  const value = parseJson(text);
  if (value === undefined) return faulty(text, 'it is not JSON');
  const parsed = schema.safeParse(value);
  return parsed.success ? parsed : faulty(text, faultsOf(parsed.error).join('; '));
}

function faulty(text: string, fault: string): Decoded<never> {
  return { success: false, fault: `${show(text)}: ${fault}` };
}

/** @returns undefined if the text is not JSON; no JSON text has that value */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // its caller reports it
  }
}
