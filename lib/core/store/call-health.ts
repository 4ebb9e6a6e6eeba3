/** The problem of the last call, until a call is answered. */
export class LastProblem {
  /** Undefined: the last call was answered, or there was none. */
  text: string | undefined;

  /** Notes that a call was answered. @returns the answer */
  answered<T>(answer: T): T {
    this.text = undefined;
    return answer;
  }

  /** Notes that a call failed. @returns the error, to be thrown */
  failed<E extends Error>(error: E): E {
    this.text = error.message;
    return error;
  }
}
