import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, messageOf } from './api/api-error.js';
import { useSubmit } from './forms/use-submit.js';
import { Field } from './parts/field.js';
import { Brand } from './parts/brand.js';
import { resumeSession, signInWith } from './live/session.js';

interface LoginProps {
  readonly message: string | undefined;
  readonly mayResume: boolean;
}

export function Login({ message, mayResume }: LoginProps) {
  const [value, setValue] = useState('');
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    document.title = 'Sign in · Gatekeeper';
    form.current?.querySelector('input')?.focus();
  }, []);
  const { isBusy, error, onSubmit } = useSubmit(async () => {
    if (value.trim() === '') throw new Error('Enter your token.');
    await signInWith(value.trim());
  });
  return (
    <main class="login">
      <form class="panel" onSubmit={onSubmit} ref={form}>
        <Brand />
        <h1>Sign in</h1>
        {message && (
          <p class="panel warning" role="alert">
            {message}
          </p>
        )}
        <Field
          label="Token"
          value={value}
          onValue={setValue}
          faults={error === undefined ? [] : [faultOf(error)]}
          hint="A token from the application’s option console.tokens. The page does not keep it: this browser gets a session of 12 hours, for all its tabs."
          input={{ type: 'password', autocomplete: 'current-password', name: 'token' }}
        />
        <button type="submit" class="primary" disabled={isBusy}>
          {isBusy ? 'Signing in…' : 'Sign in'}
        </button>
        {mayResume && (
          <button type="button" onClick={() => void resumeSession()}>
            Try again without a new sign-in
          </button>
        )}
      </form>
    </main>
  );
}

function faultOf(error: unknown): string {
  const isUnknown = error instanceof ApiError && error.status === 401;
  return isUnknown ? 'This token is not known here.' : messageOf(error);
}
