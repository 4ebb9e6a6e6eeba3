import type { TaskView } from '../api/answers.js';
import { Empty, NotAllowed } from '../parts/page-state.js';
import { mayClaim } from '../live/session.js';

/** Data, result and last error of a task. Only those who may claim tasks see data and results. */
export function TaskValues({ task: { data, result, lastError } }: { readonly task: TaskView }) {
  const isHidden = !mayClaim();
  return (
    <>
      {lastError && (
        <section class="panel" aria-labelledby="error-title">
          <h2 id="error-title">Last error</h2>
          <p class="fault">
            {lastError.name}: {lastError.message}
          </p>
          {lastError.stack !== undefined && <Text label="Stack" text={lastError.stack} />}
        </section>
      )}
      <section class="panel" aria-labelledby="data-title">
        <h2 id="data-title">Data</h2>
        {isHidden ? <NotAllowed reason={HIDDEN} /> : <Value label="Data" value={data} />}
      </section>
      {(result !== undefined || isHidden) && (
        <section class="panel" aria-labelledby="result-title">
          <h2 id="result-title">Result</h2>
          {isHidden ? <NotAllowed reason={HIDDEN} /> : <Value label="Result" value={result} />}
        </section>
      )}
    </>
  );
}

const HIDDEN = 'Data, results and stacks are shown to the role “operate”.';

function Value({ label, value }: { readonly label: string; readonly value: unknown }) {
  return value === undefined ? <Empty>None.</Empty> : <Text label={label} text={jsonText(value)} />;
}

/** JSON for people: a line break in a text is one, not `\\n`. */
function jsonText(value: unknown): string {
  return JSON.stringify(value, null, 2).replaceAll(/\\(.)/g, (escape, character) =>
    character === 'n' ? '\n' : escape,
  );
}

/** A long text with its own scrollbars. It can get the focus, so that the keyboard can scroll it. */
function Text({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    <pre class="value" role="group" aria-label={label} tabIndex={0}>
      {text}
    </pre>
  );
}
