import type { ComponentChildren } from 'preact';
import { messageOf } from '../api/api-error.js';
import type { LiveQuery } from '../live/live-query.js';

interface LoadedProps<T> {
  readonly query: LiveQuery<T>;
  readonly children: (data: T) => ComponentChildren;
}

/** Shows the data of a query. During the first loading and after a failure, it says so. Old data stay in view. */
export function Loaded<T>({ query, children }: LoadedProps<T>) {
  const data = query.data.value;
  const error = query.error.value;
  return (
    <>
      {error && (
        <div class="panel bad" role="alert">
          <p>{messageOf(error)}</p>
          {data !== undefined && <p>These data may be out of date.</p>}
          <button type="button" onClick={() => void query.load()}>
            Try again
          </button>
        </div>
      )}
      {data !== undefined && children(data)}
      {data === undefined && !error && (
        <p class="loading" role="status">
          Loading…
        </p>
      )}
    </>
  );
}

export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

/** Shows why the user may not use some controls. It stands in their place. */
export function NotAllowed({ reason }: { readonly reason: string | undefined }) {
  return reason === undefined ? null : <p class="not-allowed">{reason}</p>;
}
