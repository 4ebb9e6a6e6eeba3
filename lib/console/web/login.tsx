import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, messageOf } from './api/api-error.js';
import { token } from './api/token.js';
import { Field } from './parts/field.js';
import { Brand } from './parts/brand.js';
import { resumeSession, signInWith } from './session.js';

export function Login({ message }: { readonly message: string | undefined }) {
  const [value, setValue] = useState('');
  const [fault, setFault] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    document.title = 'Sign in · Gatekeeper';
    form.current?.querySelector('input')?.focus();
  }, []);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (value.trim() === '') return setFault('Enter the token that you were given.');
    setBusy(true);
    await signInWith(value.trim()).catch((error: unknown) => setFault(faultOf(error)));
    setBusy(false);
  };
  return (
    <main class="login">
      <form class="panel" onSubmit={submit} ref={form}>
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
          faults={fault === undefined ? [] : [fault]}
          hint="One of those in the option console.tokens of the application. Kept in this tab only."
          input={{ type: 'password', autocomplete: 'current-password', name: 'token' }}
        />
        <button type="submit" class="primary" disabled={isBusy}>
          {isBusy ? 'Signing in…' : 'Sign in'}
        </button>
        {token.get() !== undefined && (
          <button type="button" onClick={() => void resumeSession()}>
            Try again with the token of this tab
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
