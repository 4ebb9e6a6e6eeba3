import type {
  Notify,
  OrderedTexts,
  RecordPage,
  RecordTexts,
  TextEntry,
  Texts,
  WriteOptions,
} from '../../../core/store/driver.js';
import type { Calls, PartOf } from '../calls.js';

/** Texts that outlive a connection: each call uses those of the current session. */
export class SessionTexts<Opened extends Texts = Texts> implements Texts {
  constructor(
    protected readonly calls: Calls,
    protected readonly opened: PartOf<Opened>,
  ) {}

  read(key: string): Promise<string | undefined> {
    return this.calls.reading(this.opened, (texts) => texts.read(key));
  }

  readMany(keys: readonly string[]): Promise<Map<string, string>> {
    return this.calls.reading(this.opened, (texts) => texts.readMany(keys));
  }

  compareAndSet(key: string, expected: string | undefined, next: string | undefined): Promise<boolean> {
    return this.calls.writing(this.opened, (texts) => texts.compareAndSet(key, expected, next));
  }
}

/** Records: opened with the session. Their writes are announced. */
export class SessionRecords extends SessionTexts<RecordTexts> implements RecordTexts {
  constructor(
    calls: Calls,
    private readonly announce: (key: string, text: string, notify: Notify) => void,
  ) {
    super(calls, ({ records }) => records);
  }

  page(prefix: string, after?: string): Promise<RecordPage> {
    return this.calls.reading(this.opened, (records) => records.page(prefix, after));
  }

  override compareAndSet(
    key: string,
    expected: string | undefined,
    next: string,
    { notify = 'all' }: WriteOptions = {},
  ): Promise<boolean> {
    return this.calls.writing(this.opened, (records) => records.compareAndSet(key, expected, next), {
      followsRead: true,
      onAnswer: (isWritten) => void (isWritten && this.announce(key, next, notify)),
    });
  }
}

/** Texts in order. */
export class SessionOrderedTexts extends SessionTexts<OrderedTexts> implements OrderedTexts {
  range(from: string, to: string, limit: number): Promise<TextEntry[]> {
    return this.calls.reading(this.opened, (texts) => texts.range(from, to, limit));
  }
}
