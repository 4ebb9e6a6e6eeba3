import { once } from 'node:events';
import { type IncomingMessage, get } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { createParser } from 'eventsource-parser';
import { TOKENS } from './consoles.js';

export interface ReadEvent {
  readonly event: string;
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly data: any;
}

/** A reader of an event stream. Not by fetch, which opens another connection when one is given up. */
export class EventReader {
  readonly events: ReadEvent[] = [];
  isOver = false;

  private constructor(readonly response: IncomingMessage) {}

  static async open(url: string, headers: Record<string, string> = {}): Promise<EventReader> {
    const authorization = `Bearer ${TOKENS.view}`;
    const request = get(url, { headers: { authorization, ...headers }, agent: false });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const reader = new EventReader(response);
    void reader.#read().catch(() => undefined);
    return reader;
  }

  /** The events of one kind. */
  of(event: string): ReadEvent['data'][] {
    return this.events.filter((each) => each.event === event).map(({ data }) => data);
  }

  async until(condition: (reader: this) => boolean): Promise<void> {
    const deadline = performance.now() + 30_000;
    while (!condition(this)) {
      if (performance.now() > deadline)
        throw new Error(`not within 30 s: ${condition}; read ${JSON.stringify(this.events)}`);
      await pause(1);
    }
  }

  close(): void {
    this.response.destroy();
  }

  async #read(): Promise<void> {
    const parser = createParser({
      onEvent: ({ event = 'message', data }) => this.events.push({ event, data: JSON.parse(data) }),
    });
    try {
      for await (const chunk of this.response.setEncoding('utf8')) parser.feed(chunk);
    } finally {
      this.isOver = true;
    }
  }
}
