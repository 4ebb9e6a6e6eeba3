interface PageFile {
  /** Media type. */
  readonly type: string;
  readonly text: string;
}

/** The files by their names; '' is the page itself. Undefined if they were not built. */
declare function loadConsolePage(): Readonly<Record<string, PageFile>> | undefined;
export = loadConsolePage;
