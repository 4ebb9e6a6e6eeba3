/** Applies a write unless its token is lower than one before. Without a token there is nothing to check. */
export class GuardedResource {
  #highest = 0;

  write(token) {
    if (token === null) return true;
    if (token < this.#highest) return false;
    this.#highest = token;
    return true;
  }
}
