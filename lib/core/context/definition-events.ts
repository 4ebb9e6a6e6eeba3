import type { DefinitionChange } from '../decision/answers.js';

/** An event about the definition of a semaphore. */
export type DefinitionEvent =
  /** `defined`: created from code. `reinstated`: restored from the archive. `restored`: restored from a node's copy. */
  | {
      readonly type: 'defined' | 'reinstated' | 'restored';
      /** Name of the semaphore. */
      readonly semaphore: string;
      /** Revision of the definition. */
      readonly revision: number;
    }
  /** A definition was changed, on any node. */
  | {
      readonly type: 'changed';
      /** Name of the semaphore. */
      readonly semaphore: string;
      /** Revision after the change. */
      readonly revision: number;
      /** The change; absent if the record does not tell it. */
      readonly change?: DefinitionChange;
    }
  /** Stored definitions count, and this node's code has others, or they were removed. Once per start of a node. */
  | {
      readonly type: 'definitions-differ';
      /** All of them. */
      readonly definitions: readonly {
        /** Name of the semaphore. */
        readonly semaphore: string;
        /** Revision of the stored definition. */
        readonly revision: number;
        /** The last change of the semaphore, which may also be a pause. Absent if it was never changed. */
        readonly change?: DefinitionChange;
      }[];
      /** A sentence for people that names them. */
      readonly sentence: string;
    }
  /** Living nodes have different definitions in their code, for longer than a deploy takes. Once, until they agree. */
  | {
      readonly type: 'code-not-followed';
      /** Names of the semaphores that this node's code defines, too. */
      readonly semaphores: readonly string[];
      /** For people: which nodes have which code, and what to do. */
      readonly sentence: string;
    };
