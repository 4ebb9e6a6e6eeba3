import type { MaintenanceEnd, MaintenanceStart, MaintenanceWindow, OpenWindow } from '../../gatekeeper/index.js';
import { UnknownMaintenanceError } from '../../gatekeeper/index.js';
import { GatekeeperService } from '../../nest/gatekeeper.service.js';
import { ChangeRate } from '../access/change-rate.js';
import { expectSeen, type Sees, type Visitor } from '../http/visitor.js';
import { type InputOf, type OpenWindowAnswer, ROUTES, type WindowAnswer } from '../api/index.js';
import { ConsoleController } from '../http/console-controller.decorator.js';
import { Input, SeenNames, VisitorOf } from '../http/input.decorator.js';
import { Serves } from '../http/handlers.js';

/** Names per list of a window in the list of all windows. The numbers beside them count all. */
const MOST_NAMED = 100;

/** Shows, starts and ends maintenance windows. */
@ConsoleController()
export class MaintenanceController {
  constructor(
    private readonly gatekeeper: GatekeeperService,
    private readonly changeRate: ChangeRate,
  ) {}

  @Serves(ROUTES.maintenance)
  async list(@SeenNames() sees: Sees): Promise<{ windows: WindowAnswer[] }> {
    const windows = await this.#windows.list();
    return { windows: windows.flatMap((window) => answerOf(window, sees, MOST_NAMED) ?? []) };
  }

  @Serves(ROUTES.openWindows)
  async open(@SeenNames() sees: Sees = () => true): Promise<{ windows: OpenWindowAnswer[] }> {
    const windows = await this.#windows.open();
    const isSeen = ({ listed }: OpenWindow) => listed.length === 0 || listed.some(sees);
    return { windows: windows.filter(isSeen).map(({ listed: _listed, ...window }) => window) };
  }

  @Serves(ROUTES.maintenanceWindow)
  async one(
    @Input() { params: { window } }: InputOf<typeof ROUTES.maintenanceWindow>,
    @SeenNames() sees: Sees,
  ): Promise<WindowAnswer> {
    const answer = answerOf(await this.#windows.get(window), sees);
    if (!answer) throw new UnknownMaintenanceError(window);
    return answer;
  }

  @Serves(ROUTES.startMaintenance)
  start(
    @Input() { body }: InputOf<typeof ROUTES.startMaintenance>,
    @VisitorOf() visitor: Visitor,
    @SeenNames() only: Sees,
  ): Promise<MaintenanceStart> {
    const request = { ...body, only, by: visitor.user };
    const start = (onPlanned: (count: number) => void) => this.#windows.start({ ...request, onPlanned });
    return this.changeRate.ofPause(visitor, start, ({ paused }) => paused.length);
  }

  @Serves(ROUTES.endMaintenance)
  end(
    @Input() { params: { window }, body }: InputOf<typeof ROUTES.endMaintenance>,
    @VisitorOf() visitor: Visitor,
  ): Promise<MaintenanceEnd> {
    // A limited token must not resume the semaphores of others, nor end their window half.
    const onWindow = (names: readonly string[]) => {
      for (const name of names) expectSeen(visitor, { name });
    };
    const options = { ...body, by: visitor.user, onWindow };
    const end = (onPlanned: (count: number) => void) => this.#windows.end(window, { ...options, onPlanned });
    return this.changeRate.ofMany(visitor, end, ({ resumed }) => resumed.length);
  }

  get #windows() {
    return this.gatekeeper.definitions.maintenance;
  }
}

/** The part of a window that a visitor may see. @returns undefined if it has no semaphore that the visitor may see */
function answerOf(window: MaintenanceWindow, sees: Sees = () => true, most = Infinity): WindowAnswer | undefined {
  const semaphores = window.semaphores.filter(sees);
  const left = window.left.filter(({ name }) => sees(name));
  const held = window.held.filter(({ semaphore }) => sees(semaphore));
  const running = window.running.filter(sees);
  const unreadable = window.unreadable.filter(sees);
  const hidden = window.semaphores.length + window.left.length - semaphores.length - left.length;
  if (hidden > 0 && semaphores.length + left.length === 0) return undefined;
  return {
    ...window,
    paused: semaphores.length,
    semaphores: semaphores.slice(0, most),
    left: left.slice(0, most),
    held: held.slice(0, most),
    notPaused: running.length,
    running: running.slice(0, most),
    due: window.due.filter(sees).slice(0, most),
    unreadable: unreadable.slice(0, most),
  };
}
