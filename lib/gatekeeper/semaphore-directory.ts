import { InvalidOptionsError, type SemaphoreRecord, decodeRecord, faultsOf, nameSchema } from '../semaphores/index.js';
import type { Context } from './context/context.js';
import { CodeDefinitions } from './definitions/index.js';
import { DecodedTexts } from './records/decoded-texts.js';
import { KEY_PREFIX, RecordKeeper } from './records/record-keeper.js';
import { Semaphore } from './semaphore.js';

/** All semaphores that this node knows, by name; made when first asked for. */
export class SemaphoreDirectory {
  readonly code: CodeDefinitions;
  /** All records as they were last listed, or why one can't be read. */
  readonly decoded = new DecodedTexts(decodedOrFault);
  readonly #known = new Map<string, Semaphore>();

  constructor(
    private readonly context: Context,
    options: ConstructorParameters<typeof CodeDefinitions>[2],
  ) {
    this.code = new CodeDefinitions((name) => this.get(name).keeper, context, options);
  }

  get known(): ReadonlyMap<string, Semaphore> {
    return this.#known;
  }

  /** What this node knows of each. */
  get records(): ReadonlyMap<string, SemaphoreRecord> {
    const records = [...this.#known].flatMap(([name, { keeper }]) =>
      keeper.known ? [[name, keeper.known] as const] : [],
    );
    return new Map(records);
  }

  /** @throws InvalidOptionsError when nothing can have that name */
  get(name: string): Semaphore {
    const semaphore = this.glimpse(name);
    this.#known.set(name, semaphore);
    return semaphore;
  }

  /**
   * To read from and nothing else: one that is not known yet stays unknown, or whoever asks for one made-up name after
   * the other would fill the memory. Errors as of {@link get}.
   */
  glimpse(name: string): Semaphore {
    const known = this.#known.get(name);
    if (known) return known;
    const parsed = nameSchema.safeParse(name);
    if (!parsed.success) throw new InvalidOptionsError("a semaphore's name", faultsOf(parsed.error));
    return new Semaphore(new RecordKeeper(name, this.context), this.code, this.context);
  }
}

function decodedOrFault(key: string, text: string): SemaphoreRecord | Error {
  try {
    return decodeRecord(key.slice(KEY_PREFIX.length), text);
  } catch (error) {
    return error as Error;
  }
}
