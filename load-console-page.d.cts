interface PageFile {
  /** Media type. */
  readonly type: string;
  readonly text: string;
}

interface ConsolePage {
  readonly page: PageFile;
  /** By their names. */
  readonly assets: Readonly<Record<string, PageFile>>;
}

/** Undefined if the page was not built. */
declare function loadConsolePage(): ConsolePage | undefined;
export = loadConsolePage;
