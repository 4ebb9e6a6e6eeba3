import { useEffect, useRef, useState } from 'preact/hooks';
import { messageOf } from '../api/api-error.js';
import { announce } from '../parts/notices.js';

export interface Submission {
  readonly isBusy: boolean;
  /** What the last attempt was refused for. */
  readonly error: unknown;
  readonly onSubmit: (event: Event) => Promise<void>;
  /** Something else that the form does, with the same care. @returns whether it went well */
  readonly attempt: (work: () => Promise<void>) => Promise<boolean>;
}

/** Sends a form: one thing at a time, and what goes wrong is told, whether or not the form is still there. */
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
    // The same refusal once more is told once more.
    setError(undefined);
    await attempt(send);
  };
  return { isBusy, error, onSubmit, attempt };
}
