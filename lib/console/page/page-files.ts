import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import packageRoot from '../../../package-root.cjs';

const manifestSchema = z.object({
  page: z.string(),
  assets: z.record(z.string(), z.object({ file: z.string(), type: z.string() })),
});

export interface PageFile {
  readonly content: Buffer;
  readonly type: string;
}

/**
 * The built files of the page. Serves only names in the build's manifest, so no name from a request becomes a path.
 */
export class PageFiles {
  #files?: Promise<ReadonlyMap<string, PageFile>>;

  /** @param folder the folder of the built files, with a slash at the end */
  constructor(private readonly folder: URL = pathToFileURL(`${packageRoot}/dist/console/web/`)) {}

  /**
   * Returns a file; undefined if there is none.
   *
   * @param name name of an asset, such as "console-1A2B3C4D.js"; '' is the page itself
   */
  async get(name: string): Promise<PageFile | undefined> {
    this.#files ??= this.#read();
    return (await this.#files).get(name);
  }

  /** Reads all files. They are small, so they stay in memory. */
  async #read(): Promise<ReadonlyMap<string, PageFile>> {
    const text = await readFile(new URL('manifest.json', this.folder), 'utf8').catch(() => undefined);
    if (text === undefined) return new Map();
    const { page, assets } = manifestSchema.parse(JSON.parse(text));
    const read = async (name: string, file: string, type: string) =>
      [name, { content: await readFile(new URL(file, this.folder)), type }] as const;
    return new Map(
      await Promise.all([
        read('', page, 'text/html; charset=utf-8'),
        ...Object.entries(assets).map(([name, { file, type }]) => read(name, file, type)),
      ]),
    );
  }
}
