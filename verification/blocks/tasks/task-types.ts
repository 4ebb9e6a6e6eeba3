import {
  type GroupContext,
  GroupFinishedHandler,
  type TaskContext,
  TaskHandler,
  type TasksService,
  defineTask,
  grouped,
  single,
} from 'nestjs-gatekeeper';

interface Mail {
  readonly to: string;
}
interface Sent {
  readonly messageId: number;
}

const mail = defineTask<Mail, Sent>('mail');
const clean = defineTask('clean');

/** Never called: the compiler checks it, and a line that is no error fails the type check. */
export async function checkedByTheCompiler(tasks: TasksService): Promise<void> {
  await tasks.submit(single(mail, 'a'), { to: 'ada' }, { priority: 'low' });
  await tasks.submit(single(clean, 'a'));
  await tasks.submit(single('other', 'a'), [1, 'two']);
  await tasks.submitMany([
    { name: single(mail, 'a'), data: { to: 'ada' } },
    { name: single(mail, 'b'), data: { to: '' } },
  ]);
  await tasks.submitMany([{ name: single('other', 'a') }]);
  tasks.handle(mail, async ({ data }) => ({ messageId: data.to.length }));
  tasks.handle('other', (task: TaskContext<Mail>) => task.data.to);
  tasks.handle(mail, async (task) => {
    await task.submit(single(mail, 'b'), { to: task.data.to });
    // @ts-expect-error the data have no such field
    await task.submit(single(mail, 'b'), { from: '' });
    return { messageId: 1 };
  });
  tasks.onGroupFinished(mail, async (group) => {
    for await (const { result } of group.members()) result?.messageId.toFixed();
  });
  // @ts-expect-error the data are missing
  await tasks.submit(single(mail, 'a'));
  // @ts-expect-error the data are of another type
  await tasks.submit(grouped(mail, 'june', 1), { to: 7 });
  // @ts-expect-error the data are of another type
  await tasks.submitMany([{ name: single(mail, 'a'), data: { to: 7 } }]);
  // @ts-expect-error the data are missing
  await tasks.submitMany([{ name: single(mail, 'a') }]);
  // @ts-expect-error the result has no messageId
  tasks.handle(mail, async () => ({}));
  // @ts-expect-error the handler wants other data
  tasks.handle(mail, (task: TaskContext<{ from: string }>) => ({ messageId: task.data.from.length }));
}

/** As {@link checkedByTheCompiler}. */
export class Handlers {
  @TaskHandler(mail)
  async send({ data }: TaskContext<Mail>): Promise<Sent> {
    return { messageId: data.to.length };
  }

  @GroupFinishedHandler(mail)
  sent(_group: GroupContext<Sent>) {}

  @TaskHandler('other')
  other(task: TaskContext<Mail>) {
    return task.data.to;
  }

  // @ts-expect-error the method wants other data
  @TaskHandler(mail)
  wantsOther(task: TaskContext<{ from: string }>) {
    return { messageId: task.data.from.length };
  }

  // @ts-expect-error the method returns another result
  @TaskHandler(mail)
  returnsOther() {
    return 'sent';
  }

  // @ts-expect-error the results are of another type
  @GroupFinishedHandler(mail)
  readsOther(group: GroupContext<string>) {
    return group;
  }
}
