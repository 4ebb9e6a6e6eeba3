import { Dialog } from '../parts/dialog.js';
import { Icon } from '../parts/icon.js';
import { PAGE_KEYS, areOn, isHelpOpen, turn } from './shortcuts.js';

const KEYS: readonly (readonly [keys: readonly string[], effect: string])[] = [
  [['?'], 'Show these keys'],
  [['/'], 'Search in the list'],
  [['j'], 'Next row'],
  [['k'], 'Previous row'],
  [['Enter'], 'Open the row'],
  [['x'], 'Choose the row'],
  ...Object.entries(PAGE_KEYS).map(([key, [, label]]) => [['g', key], `Go to ${label}`] as const),
];

/** The button for the keys, which also turns them on again. */
export function ShortcutsButton() {
  const label = 'Keyboard shortcuts';
  return (
    <button type="button" class="quiet" aria-label={label} title={label} onClick={() => (isHelpOpen.value = true)}>
      <Icon name="keyboard" />
    </button>
  );
}

export function ShortcutsDialog() {
  if (!isHelpOpen.value) return null;
  const close = () => (isHelpOpen.value = false);
  return (
    <Dialog title="Keyboard shortcuts" onClose={close}>
      <label class="check">
        <input type="checkbox" checked={areOn.value} onChange={({ currentTarget }) => turn(currentTarget.checked)} />
        Use these keys
      </label>
      <dl class="keys">
        {KEYS.map(([keys, effect]) => (
          <div key={effect}>
            <dt>
              {keys.map((key, index) => (
                <span key={key}>
                  {index > 0 && ' then '}
                  <kbd>{key}</kbd>
                </span>
              ))}
            </dt>
            <dd>{effect}</dd>
          </div>
        ))}
      </dl>
      <p class="second">Not while you type. This browser remembers whether they are on.</p>
      <div class="buttons">
        <button type="button" class="primary" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
