import { GatekeeperError } from './gatekeeper.error.js';

/** Options or a definition that can't be used. Lists every fault at once, each naming the field and the value. */
export class InvalidOptionsError extends GatekeeperError {
  static override readonly className: string = 'InvalidOptionsError';
  readonly code: string = 'invalid-options';

  constructor(
    subject: string,
    /** One sentence per fault, with the field and the value. */
    readonly faults: readonly string[],
  ) {
    super(`${subject} can't be used: ${faults.join('; ')}`);
  }
}
