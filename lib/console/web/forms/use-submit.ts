import { useEffect, useRef, useState } from 'preact/hooks';
import { messageOf } from '../api/api-error.js';
import { announce } from '../parts/notices.js';

export interface Submission {
  readonly isBusy: boolean;
  /** The error of the last attempt; undefined if it succeeded. */
  readonly error: unknown;
  readonly onSubmit: (event: Event) => Promise<void>;
  /** Does other work of the form in the same way. @returns false if it failed, or if the form was busy */
  readonly attempt: (work: () => Promise<void>) => Promise<boolean>;
}

/** Sends a form, one request at a time. Announces a failure if the form is no longer shown. */
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
    // Screen readers read the same error again only if it was removed before.
    setError(undefined);
    await attempt(send);
  };
  return { isBusy, error, onSubmit, attempt };
}
