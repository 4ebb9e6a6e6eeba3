import loadConsolePage from '../../../load-console-page.cjs';
import { tagOfBytes } from '../http/conditional.js';

export interface PageFile {
  readonly content: Buffer;
  readonly type: string;
  /** ETag of the content. */
  readonly tag: string;
}

/** The built files of the page. They are small, so they stay in memory. */
export class PageFiles {
  #files?: ReadonlyMap<string, PageFile>;

  /** @param load loads the texts of the files when the first one is asked for */
  constructor(private readonly load: typeof loadConsolePage = loadConsolePage) {}

  /**
   * Returns a file; undefined if there is none.
   *
   * @param name name of an asset, such as "console-1A2B3C4D.js"; '' is the page itself
   */
  get(name: string): PageFile | undefined {
    this.#files ??= this.#loaded();
    return this.#files.get(name);
  }

  #loaded(): ReadonlyMap<string, PageFile> {
    const loaded = this.load();
    const files = loaded ? [['', loaded.page] as const, ...Object.entries(loaded.assets)] : [];
    return new Map(files.map(([name, { type, text }]) => [name, fileOf(type, Buffer.from(text))]));
  }
}

function fileOf(type: string, content: Buffer): PageFile {
  return { type, content, tag: tagOfBytes(content) };
}
