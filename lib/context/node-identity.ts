/** Identity of one running process of the application, for permits and patterns. */
export interface NodeIdentity {
  /** Zone or environment; group patterns match it. */
  readonly group: string;
  /** Name of the node; acquirer patterns match it. */
  readonly acquirer: string;
  /** Random, new at each start of the process. */
  readonly instance: string;
}
