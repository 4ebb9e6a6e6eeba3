import { z } from 'zod';
import { onlyFields } from '../../core/decision/index.js';
import { list } from '../../core/decision/answer-values.js';
import { requestResultSchema } from '../../operate/insight/health-answers.js';
import { operation } from './operation.js';
import { ProblemError } from './problem.error.js';

const testSchema = z
  .object({
    results: list(
      requestResultSchema
        .extend({ name: z.string().meta({ description: 'name of the receiver' }) })
        .meta({ id: 'AlertsTestResult' }),
    ),
  })
  .meta({ id: 'AlertsTest' });

/** The results of a test, one per receiver. */
export type AlertsTest = z.output<typeof testSchema>;

export const ALERT_OPERATIONS = {
  /** The addresses of the receivers come only from the application's options. */
  testAlerts: operation({
    operationId: 'testAlerts',
    method: 'POST',
    path: 'api/alerts/test',
    summary: 'Send a test to each receiver of alerts of this node, and tell how it answered',
    role: 'operate',
    writes: true,
    isUnaudited: true,
    body: onlyFields({}).meta({ id: 'AlertsTestRequest' }),
    answer: testSchema,
    problems: ['no-alerts', 'too-many-tests'],
    run: async ({ alerts }, _input, { limits }) => {
      if (!alerts) throw new ProblemError('no-alerts', 'this node has no receivers: give it the option alerts');
      limits.noteTest();
      return { results: await alerts.test() };
    },
  }),
};
