/** What a writer sends along: `currentPermit()`, and every permit taken by hand, has these. */
export interface PermitToken {
  readonly semaphore: string;
  readonly slot: number;
  readonly token: number;
}

/** Someone with a newer permit has written since. Not to be tried again: whoever gets it has lost its permit. */
export class StaleTokenError extends Error {
  constructor({ semaphore, slot, token }: PermitToken) {
    super(`token ${token} of ${semaphore}/${slot} is stale: a newer permit has written since`);
    this.name = new.target.name;
  }
}
