import { z } from 'zod';
import {
  type ArchivedDefinition,
  GatekeeperError,
  NO_FINGERPRINT,
  changeSchema,
  faultsOf,
  isOriginWhole,
  originFields,
  pauseSchema,
  show,
  storedDefinitionSchema,
} from '../../../core/decision/index.js';

const VERSION = 1;

/** Archived definitions could not be read. They were put aside so that a person can look at them, never overwritten. */
export class CorruptArchiveError extends GatekeeperError {
  static override readonly className = 'CorruptArchiveError';
  readonly code = 'corrupt-archive';
}

/** A newer version of this package wrote the archive. It may contain data that this version doesn't know. */
export class NewerArchiveError extends GatekeeperError {
  static override readonly className = 'NewerArchiveError';
  readonly code = 'newer-archive';
}

/** Replaces a text that could not be read, after it was copied to another key. */
export const NOTHING = textOf({});

const archivedSchema = z
  .strictObject({
    v: z.literal(VERSION),
    name: z.string().min(1),
    revision: z.number().int().positive(),
    definition: storedDefinitionSchema.optional(),
    ...originFields,
    change: changeSchema.optional(),
    pause: pauseSchema.optional(),
  })
  .refine(isOriginWhole, NO_FINGERPRINT);

/** The text of an archived definition, indented for people. */
export function encodeArchived(definition: ArchivedDefinition): string {
  return textOf(definition);
}

/**
 * Reads the text of an archived definition.
 *
 * @param name of the semaphore
 * @returns undefined for {@link NOTHING}
 * @throws CorruptArchiveError with all faults, or NewerArchiveError
 */
export function decodeArchived(name: string, text: string): ArchivedDefinition | undefined {
  if (text === NOTHING) return undefined;
  const where = `the archived definition of ${show(name)}`;
  const value = parseJson(where, text);
  refuseNewer(where, (value as { v?: unknown } | null)?.v);
  const parsed = archivedSchema.safeParse(value);
  if (!parsed.success)
    throw new CorruptArchiveError(`${where} holds no definition: ${faultsOf(parsed.error).join('; ')}`);
  const { v: _v, ...archived } = parsed.data;
  if (archived.name !== name) throw new CorruptArchiveError(`${where} is that of ${show(archived.name)}`);
  return archived;
}

function textOf(content: object): string {
  return `${JSON.stringify({ v: VERSION, ...content }, null, 2)}\n`;
}

function refuseNewer(where: string, version: unknown): void {
  if (typeof version !== 'number' || version <= VERSION) return;
  throw new NewerArchiveError(
    `${where} has version ${version}, this package reads ${VERSION}: upgrade this node, or give it another archive`,
  );
}

function parseJson(where: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CorruptArchiveError(`${where} is not JSON`, { cause: error });
  }
}
