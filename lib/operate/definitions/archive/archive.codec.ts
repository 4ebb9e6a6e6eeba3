import { z } from 'zod';
import { CorruptArchiveError, NewerArchiveError } from './definition-archive.js';
import {
  type ArchivedDefinition,
  NO_FINGERPRINT,
  changeSchema,
  faultsOf,
  isOriginWhole,
  originFields,
  pauseSchema,
  storedDefinitionSchema,
} from '../../../core/decision/index.js';

export const ARCHIVE_VERSION = 1;

const archivedSchema = z
  .strictObject({
    name: z.string().min(1),
    revision: z.number().int().positive(),
    definition: storedDefinitionSchema.optional(),
    ...originFields,
    change: changeSchema.optional(),
    pause: pauseSchema.optional(),
  })
  .refine(isOriginWhole, NO_FINGERPRINT);

const archiveSchema = z.strictObject({ v: z.literal(ARCHIVE_VERSION), definitions: z.array(archivedSchema) });

/** The text of an archive, readable for people: indented, with the definitions in the order of their names. */
export function encodeArchive(definitions: Iterable<ArchivedDefinition>): string {
  const byName = [...definitions].toSorted((one, other) => (one.name < other.name ? -1 : 1));
  return `${JSON.stringify({ v: ARCHIVE_VERSION, definitions: byName }, null, 2)}\n`;
}

/**
 * Reads the text of an archive.
 *
 * @param where name of the archive for errors: "./gatekeeper-definitions.json"
 * @throws CorruptArchiveError or NewerArchiveError
 */
export function decodeArchive(where: string, text: string): ArchivedDefinition[] {
  const value = parseJson(where, text);
  refuseNewer(where, (value as { v?: unknown } | null)?.v);
  const parsed = archiveSchema.safeParse(value);
  if (!parsed.success)
    throw new CorruptArchiveError(`${where} holds no definitions: ${faultsOf(parsed.error).join('; ')}`);
  return parsed.data.definitions;
}

/** Reads one archived definition. @throws CorruptArchiveError with all faults */
export function decodeArchived(where: string, value: unknown): ArchivedDefinition {
  const parsed = archivedSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new CorruptArchiveError(`${where} holds no definition: ${faultsOf(parsed.error).join('; ')}`);
}

/** @throws NewerArchiveError */
export function refuseNewer(where: string, version: unknown): void {
  if (typeof version !== 'number' || version <= ARCHIVE_VERSION) return;
  throw new NewerArchiveError(
    `${where} has version ${version}, this package reads ${ARCHIVE_VERSION}: upgrade this node, or give it another archive`,
  );
}

function parseJson(where: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CorruptArchiveError(`${where} is not JSON`, { cause: error });
  }
}
