import { type Alert, parseGatekeeperOptions, memory } from 'nestjs-gatekeeper';
import { Webhook } from '../../../lib/operate/alerts/webhook.js';
import { useTaskCluster } from '../../tasks/task-nodes.js';
import { SECRET } from './receiver.js';

const create = useTaskCluster();
/** Steps of promises after which an alert comes: more than there are between the last answer and the end of the work. */
const STEPS = 20;

it('sends an alert that comes just when all others were sent', async () => {
  const { time, node } = withNode();
  const webhooks = [{ url: 'https://duty.example.org', secret: SECRET }];
  const [settings] = parseGatekeeperOptions({ store: memory(), alerts: { webhooks } }).alerts!.webhooks;
  for (let steps = 0; steps < STEPS; steps++) {
    const sent: string[] = [];
    const post = async () => {
      if (sent.length === 1) void after(steps, () => webhook.send([alert('second')]));
      return { status: 204 };
    };
    const webhook: Webhook = new Webhook(settings!, node.context, post, (alerts, type) => {
      if (!sent.includes(alerts[0]!.id)) sent.push(alerts[0]!.id);
      return { type, timestamp: '', data: { node: node.context.node, alerts } };
    });
    webhook.send([alert('first')]);
    await time.advance(5000);
    expect([steps, ...sent]).toEqual([steps, 'first', 'second']);
  }
});

function withNode() {
  const cluster = create();
  return { time: cluster.time, node: cluster.node() };
}

async function after(steps: number, act: () => void): Promise<void> {
  for (let step = 0; step < steps; step++) await Promise.resolve();
  act();
}

function alert(id: string): Alert {
  const kind = 'degraded' as const;
  return { id, groupKey: id, kind, status: 'firing', severity: 'warning', startsAt: 0, count: 1, sentence: id };
}
