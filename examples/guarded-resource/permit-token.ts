/** Fields that a writer sends along. `currentPermit()` and every permit taken by hand have them. */
export interface PermitToken {
  readonly semaphore: string;
  readonly slot: number;
  readonly token: number;
}

/** Someone with a newer permit has written since. Don't retry: the caller has lost its permit. */
export class StaleTokenError extends Error {
  constructor({ semaphore, slot, token }: PermitToken) {
    super(`token ${token} of ${semaphore}/${slot} is stale: a newer permit has written since`);
    this.name = new.target.name;
  }
}
