/** A value that JSON can express. */
export type JsonValue =
  string | number | boolean | null | readonly JsonValue[] | { readonly [field: string]: JsonValue };

/** Data that an application publishes about its node, for example the address at which it can be called. */
export type NodeMetadata = { readonly [field: string]: JsonValue };

/** A node that has a membership lease: it takes part in leadership and allocation. */
export interface Participant {
  /** The same as `instance`. */
  readonly id: string;
  /** Random, new at each start of the process. */
  readonly instance: string;
  /** Zone or environment. */
  readonly group: string;
  /** Name of the node. */
  readonly acquirer: string;
  /** Name of the machine. */
  readonly host: string;
  /** The application's version, if its options say it. */
  readonly version?: string;
  /** Data that the application publishes about the node. Empty by default. */
  readonly metadata: NodeMetadata;
  /** Cluster time in ms at which the node first joined. */
  readonly startedAt: number;
}
