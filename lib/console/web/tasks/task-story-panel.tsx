import type { AuditAnswer, TaskView } from '../api/answers.js';
import type { LiveQuery } from '../live/live-query.js';
import { Icon } from '../parts/icon.js';
import { DateTime, Distance } from '../parts/time.js';
import { storyOf } from './task-story.js';

interface TaskStoryProps {
  readonly task: TaskView;
  readonly audit: LiveQuery<AuditAnswer>;
  readonly nameOf: (instance: string) => string;
}

/** The events of a task, and what comes next. */
export function TaskStory({ task, audit, nameOf }: TaskStoryProps) {
  const entries = storyOf(task, audit.data.value?.entries ?? [], nameOf);
  return (
    <section class="panel" aria-labelledby="story-title">
      <h2 id="story-title">Story</h2>
      {audit.error.value && (
        <p class="attention">
          <Icon name="warning" /> The changes by hand can’t be read now.
        </p>
      )}
      <ol class="story">
        {entries.map(({ at, title, detail, tone }) => (
          <li key={`${at} ${title}`} class={tone ?? ''}>
            <strong>{title}</strong> <Distance at={at} />
            <span class="second">
              <DateTime at={at} />
            </span>
            {detail !== undefined && <p>{detail}</p>}
          </li>
        ))}
        <Next task={task} />
      </ol>
    </section>
  );
}

/** The next event, if the task says when. */
function Next({ task: { runAt, lease, keptUntil } }: { readonly task: TaskView }) {
  const [title, at] =
    runAt !== undefined
      ? ['may run', runAt]
      : lease
        ? ['its lease ends, unless it is renewed', lease.until]
        : ['is forgotten', keptUntil];
  if (at === undefined) return null;
  return (
    <li class="later">
      {title} <Distance at={at} />
      <span class="second">
        <DateTime at={at} />
      </span>
    </li>
  );
}
