import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { SemaphoreDefinition, SemaphoreOverview } from '../api/answers.js';
import { FIELDS, FIELD_LABELS, definitionToInput } from '../definition/definition-input.js';
import { focusOr } from '../parts/focus.js';
import { Icon } from '../parts/icon.js';
import { Empty } from '../parts/page-state.js';
import { Distance } from '../parts/time.js';
import { whyNot } from '../live/session.js';
import { EditForm } from './edit-form.js';
import { intendedDefinition } from './intended-definition.js';

interface DefinitionPanelProps {
  readonly semaphore: SemaphoreOverview;
  readonly onChange: () => Promise<void>;
}

export function DefinitionPanel({ semaphore, onChange }: DefinitionPanelProps) {
  const [isEditing, setEditing] = useState(false);
  const intended = intendedDefinition(semaphore);
  const close = () => setEditing(false);
  const edit = useRef<HTMLButtonElement>(null);
  const wasEditing = useRef(false);
  useLayoutEffect(() => {
    if (wasEditing.current && !isEditing) focusOr(edit.current);
    wasEditing.current = isEditing;
  }, [isEditing]);
  return (
    <section class={isEditing ? 'panel whole' : 'panel'} aria-labelledby="definition-title">
      <h2 id="definition-title">
        Definition <span class="second number">revision {semaphore.revision}</span>
        {intended && !isEditing && whyNot('define') === undefined && (
          <button type="button" class="small" ref={edit} onClick={() => setEditing(true)}>
            <Icon name="edit" /> Edit
          </button>
        )}
      </h2>
      {!intended && <Empty>{absenceOf(semaphore)}</Empty>}
      {intended && isEditing && (
        <EditForm semaphore={semaphore} inForce={intended} onChange={onChange} onClose={close} />
      )}
      {intended && !isEditing && <InForce intended={intended} semaphore={semaphore} />}
    </section>
  );
}

function absenceOf({ problem, change }: SemaphoreOverview): string {
  if (problem !== undefined) return 'The definition can’t be read.';
  return `The definition was removed${change ? ` by ${change.by}${change.reason ? `: “${change.reason}”` : ''}` : ''}.`;
}

interface InForceProps {
  readonly intended: SemaphoreDefinition;
  readonly semaphore: SemaphoreOverview;
}

/** Shows the definition in force, and beside each field the code's value if that is another one. */
function InForce({ intended, semaphore: { code, source, isOverridden, change } }: InForceProps) {
  const values = definitionToInput(intended);
  const codes = code && isOverridden ? definitionToInput(code) : undefined;
  return (
    <>
      <dl class="definition">
        {FIELDS.map((field) => (
          <div key={field}>
            <dt>{FIELD_LABELS[field]}</dt>
            <dd>
              <code>{values[field]}</code>
              {codes && codes[field] !== values[field] && (
                <span class="second">
                  code says <code>{codes[field]}</code>
                </span>
              )}
            </dd>
          </div>
        ))}
      </dl>
      <p class="second">
        {change ? (
          <>
            Last change ({change.kind}) by {change.by}, <Distance at={change.at} />
            {change.reason ? `: “${change.reason}”` : ''}
          </>
        ) : source === 'code' && isOverridden ? (
          'As the code of other nodes declares it.'
        ) : (
          'As the code declares it.'
        )}
      </p>
    </>
  );
}
