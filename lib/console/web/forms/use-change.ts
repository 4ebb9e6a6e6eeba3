import { useState } from 'preact/hooks';
import { type Submission, useSubmit } from './use-submit.js';

/** A change of the cluster that is being written. */
export interface Change extends Submission {
  /** As it stands in its field. */
  readonly reason: string;
  readonly setReason: (reason: string) => void;
}

/** @param send makes the change; its reason is undefined when none was given */
export function useChange(send: (reason: string | undefined) => Promise<void>): Change {
  const [reason, setReason] = useState('');
  return { ...useSubmit(() => send(reason.trim() || undefined)), reason, setReason };
}
