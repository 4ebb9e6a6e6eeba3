import type { ComponentChildren } from 'preact';
import type { LiveQuery } from '../live/live-query.js';
import { Icon } from './icon.js';

interface UnreadProps<T> {
  readonly query: LiveQuery<T>;
  /** A sentence that names the missing part. */
  readonly children: ComponentChildren;
}

/** Says that a part of a page is missing or old, because its query failed. */
export function Unread<T>({ query, children }: UnreadProps<T>) {
  if (!query.error.value) return null;
  return (
    <p class="attention">
      <Icon name="warning" /> {children}
    </p>
  );
}
