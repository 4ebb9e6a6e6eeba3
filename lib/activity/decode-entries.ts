import type { z } from 'zod';
import { faultsOf, show } from '../decision/index.js';

/** Characters. The largest entry is a change of four patterns with an escape for each of their characters. */
const LONGEST_ENTRY = 64 * 1024;
/** Characters that are decoded in one turn of the event loop: a full journal would block it for a tenth of a second. */
const PORTION = 256 * 1024;

/** The entries of a journal, and the faults of the texts that are none. */
export interface DecodedEntries<Entry> {
  /** In their order. */
  readonly entries: Entry[];
  /** The fault of each text that is no entry, for people. */
  readonly faults: string[];
}

/** Decodes texts that any node may have written: one that is no entry costs no other. */
export async function decodeEntries<Entry>(
  texts: readonly string[],
  schema: z.ZodType<Entry>,
): Promise<DecodedEntries<Entry>> {
  const decoded: DecodedEntries<Entry> = { entries: [], faults: [] };
  let decodedInTurn = 0;
  for (const text of texts) {
    if (decodedInTurn > PORTION) {
      await new Promise(setImmediate);
      decodedInTurn = 0;
    }
    decodedInTurn += text.length;
    const { success, data, fault } = decode(text, schema);
    if (success) decoded.entries.push(data);
    else decoded.faults.push(fault);
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

/** @returns undefined, which JSON does not know, where the text is not JSON */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // its caller reports it
  }
}
