/** One running process of the application, as permits and patterns know it. */
export interface NodeIdentity {
  readonly group: string;
  readonly acquirer: string;
  /** Random per process start. */
  readonly instance: string;
}
