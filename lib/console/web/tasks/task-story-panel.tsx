import type { AuditAnswer, TaskView } from '../api/answers.js';
import { AuditProblem } from '../audit/audit-problem.js';
import type { LiveQuery } from '../live/live-query.js';
import { Later, Story } from '../parts/story.js';
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
      <AuditProblem audit={audit} />
      <Story entries={entries}>
        <Next task={task} />
      </Story>
    </section>
  );
}

/** The next event, if the task says when. */
function Next({ task: { runAt, lease, keptUntil } }: { readonly task: TaskView }) {
  if (runAt !== undefined) return <Later title="may run" at={runAt} />;
  if (lease) return <Later title="its lease ends, unless it is renewed" at={lease.until} />;
  return keptUntil === undefined ? null : <Later title="is forgotten" at={keptUntil} />;
}
