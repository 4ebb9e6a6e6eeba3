import { useEffect, useRef, useState } from 'preact/hooks';
import { messageOf } from '../api/api-error.js';
import { announce } from '../parts/notices.js';

export interface Submission {
  readonly isBusy: boolean;
  /** Why the last attempt was refused. */
  readonly error: unknown;
  readonly onSubmit: (event: Event) => Promise<void>;
  /** Something else that the form does, with the same care. @returns whether it went well */
  readonly attempt: (work: () => Promise<void>) => Promise<boolean>;
}

/** Sends a form: one request at a time. A failure is reported even when the form is gone. */
export function useSubmit(send: () => Promise<void>): Submission {
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const isGone = useRef(false);
  useEffect(() => () => void (isGone.current = true), []);
  const attempt = async (work: () => Promise<void>) => {
    if (isBusy) return false;
    setBusy(true);
    try {
      await work();
      setError(undefined);
      return true;
    } catch (refusal) {
      if (isGone.current) announce(messageOf(refusal), { isBad: true });
      else setError(refusal);
      return false;
    } finally {
      setBusy(false);
    }
  };
  const onSubmit = async (event: Event) => {
    event.preventDefault();
    // A repeated refusal is announced again.
    setError(undefined);
    await attempt(send);
  };
  return { isBusy, error, onSubmit, attempt };
}
