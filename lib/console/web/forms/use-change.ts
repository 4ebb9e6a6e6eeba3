import { useState } from 'preact/hooks';
import { type Submission, useSubmit } from './use-submit.js';

/** A change of the cluster in a form, with its reason. */
export interface Change extends Submission {
  /** The text in the field. */
  readonly reason: string;
  readonly setReason: (reason: string) => void;
}

/** @param send makes the change; the reason is undefined if the field is empty */
export function useChange(send: (reason: string | undefined) => Promise<void>): Change {
  const [reason, setReason] = useState('');
  return { ...useSubmit(() => send(reason.trim() || undefined)), reason, setReason };
}
