/** One running process of the application, as permits and patterns know it. */
export interface NodeIdentity {
  /** Zone or environment; group patterns match it. */
  readonly group: string;
  /** Name of the node; acquirer patterns match it. */
  readonly acquirer: string;
  /** Random per process start. */
  readonly instance: string;
}
