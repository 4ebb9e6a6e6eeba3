import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

interface Notice {
  readonly id: number;
  readonly text: string;
  readonly isBad: boolean;
}

/** ms for which a notice is shown. */
const SHOWN = 7000;
const notices = signal<readonly Notice[]>([]);
let lastId = 0;

/** Shows the result of an action for a moment. Screen readers read it at once. */
export function announce(text: string, { isBad = false } = {}): void {
  notices.value = [...notices.value.slice(-3), { id: ++lastId, text, isBad }];
}

function dismiss(id: number): void {
  notices.value = notices.value.filter((notice) => notice.id !== id);
}

/**
 * The region is always in the document, because screen readers don't read text that appears together with its region.
 */
export function Notices() {
  return (
    <div class="notices" role="status" aria-live="polite">
      {notices.value.map((notice) => (
        <NoticeCard key={notice.id} notice={notice} />
      ))}
    </div>
  );
}

function NoticeCard({ notice: { id, text, isBad } }: { readonly notice: Notice }) {
  useEffect(() => {
    const timer = setTimeout(() => dismiss(id), SHOWN);
    return () => clearTimeout(timer);
  }, [id]);
  return (
    <div class={isBad ? 'notice bad' : 'notice'}>
      <p>{text}</p>
      <button type="button" class="quiet" aria-label="Dismiss this message" onClick={() => dismiss(id)}>
        ×
      </button>
    </div>
  );
}
