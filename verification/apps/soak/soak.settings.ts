import { SETTINGS, type AppSettings } from '../settings.js';

/** Settings that the soak passes to each node. */
export interface SoakSettings extends AppSettings {
  /** How many different semaphores are named by functions of arguments, over and over. */
  readonly names: number;
  /** ms between two samples. */
  readonly sampleEvery: number;
  /** Takes its client of Hazelcast from the application, which shows the listeners on it. */
  readonly isClientGiven: boolean;
  /** Something that is lost on purpose, to show that it is found. */
  readonly leak?: LeakKind;
}

export const LEAKS = ['timers', 'heap', 'listeners'] as const;
export type LeakKind = (typeof LEAKS)[number];

export function readSoakSettings(env = process.env): SoakSettings {
  const text = env[SETTINGS];
  if (text === undefined) throw new Error(`${SETTINGS} is missing: npm run soak starts this app`);
  return JSON.parse(text) as SoakSettings;
}
