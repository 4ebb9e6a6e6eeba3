/** Options that name the target, as the command line gives them. */
export interface TargetOptions {
  readonly context?: string;
  readonly url?: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly store?: string;
  readonly storeOptions?: string;
  /** The file that `store` comes from, if it comes from one. */
  readonly storeFile?: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;
