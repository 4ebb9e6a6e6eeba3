/** Options that name the target, as the command line gives them. */
export interface TargetOptions {
  readonly context?: string;
  readonly url?: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly hazelcast?: string;
  readonly cluster?: string;
  readonly hazelcastOptions?: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;
