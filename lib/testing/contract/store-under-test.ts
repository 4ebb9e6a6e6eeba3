import type { OpenOptions, Driver } from '../../core/store/driver.js';
import type { TestRunner } from './test-runner.js';

/** A store to be tested, as its author prepares it, and its figures. */
export interface StoreUnderTest {
  /**
   * Opens another client of the same data, as another node does. Pass the options on. The contract closes it.
   *
   * @param options with the timeout of calls, in ms, that the tests need
   */
  open(options: OpenOptions): Driver;
  /** Ends what the clients connect to. Called once, after all clients are closed. */
  stop(): Promise<void>;
  /** Number of members that keep the records, each with a clock. Default 1. */
  readonly members?: number;
  /** Number of members that must be there before a write, as `health()` says. Default 0. */
  readonly quorum?: number;
  /** Largest number of texts on a page. Default 1,000. */
  readonly largestPage?: number;
  /** Whether a prefix without texts has one page, however many other texts there are. Default false. */
  readonly isPagedByPrefix?: boolean;
  /** Largest difference between the clock of the store and that of this host, in ms. Default 2. */
  readonly clockTolerance?: number;
  /** Cuts the clients off from the store. Without it, declare `lacks: { outage: 'the reason' }`. */
  readonly outage?: Outage;
}

/** Cuts the clients of a store off from its server, for the tests of errors. */
export interface Outage {
  /** Breaks all connections of the clients, and refuses new ones. Calls under way must get no answer. */
  begin(): Promise<void>;
  /** Lets new connections through. The data must be as they were. */
  end(): Promise<void>;
  /**
   * Instead of `begin`: all connections stay, and no call gets an answer, as from a frozen server. `end` ends this, too, and
   * may break the connections. Without it, the tests of a silent server say that they were left out.
   */
  silence?(): Promise<void>;
}

/**
 * Reasons why a store lacks something, in one line each. They are printed, and the store must indeed lack it, except
 * `changeWithoutKey`, which it only need not do.
 */
export interface StoreLacks {
  /** Why {@link StoreUnderTest.outage} can't be given. */
  readonly outage?: string;
  /**
   * Why a watch need not report a change without a key after each outage: it must miss nothing, as a poll from a position
   * does. It may still do so, for example after outages in which it was asked.
   */
  readonly changeWithoutKey?: string;
}

/** Input of {@link describeStoreContract}. */
export interface StoreContract {
  /** Name of the store in the names of the tests. */
  readonly name: string;
  /** Functions of your test runner. */
  readonly runner: TestRunner;
  /** Starts what the store connects to. Called once, before the tests. */
  readonly prepare: () => StoreUnderTest | Promise<StoreUnderTest>;
  /** Abilities that the store does not have. */
  readonly lacks?: StoreLacks;
}
