import { fork } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { startHazelcast } from 'nestjs-gatekeeper/testing';
import { FULLY_COMPILED, round } from './measure.mjs';

const RESOURCES = 10_000;
/** s of a steady cluster that are watched. */
const WATCHED = 60;
/** s: the default lease of a membership, and a third of it. */
const [LEASE, HEARTBEAT] = [10, 10 / 3];
/** s: the default difference of clocks. */
const TOLERANCE = 0.5;
/** s that any change may take. */
const PATIENCE = 90;
const PER_PROCESS = 10;

/** 10,000 resources over 1, 10 and 50 nodes: a steady minute, and how long a join, a leave and a crash take. */
export async function allocation() {
  const rows = [];
  for (const nodes of [1, 10, 50]) rows.push(...(await scene(nodes)));
  return rows;
}

async function scene(nodes) {
  const member = await startHazelcast({ heap: '1g', jvmArgs: FULLY_COMPILED });
  const bench = new Bench(member);
  try {
    for (let begun = 0; begun < nodes; begun += PER_PROCESS) await bench.add(Math.min(PER_PROCESS, nodes - begun));
    await bench.evenOver(nodes);
    const rows = await bench.steady(nodes);
    if (nodes > 1) rows.push(...(await bench.changes(nodes)));
    return rows;
  } finally {
    await bench.close();
    await member.stop();
  }
}

class Bench {
  #children = [];
  #owned = new Map();
  #changed = () => {};

  constructor(member) {
    this.member = member;
  }

  async add(nodes) {
    const child = fork(new URL('allocation-nodes.mjs', import.meta.url));
    const prefix = `p${this.#children.length}`;
    const owned = new Map();
    this.#owned.set(child, owned);
    this.#children.push(child);
    child.on('message', ({ owned: changes }) => {
      for (const [node, count] of Object.entries(changes ?? {})) owned.set(node, count);
      this.#changed();
    });
    child.on('exit', () => {
      this.#owned.delete(child);
      this.#changed();
    });
    const cluster = { clusterName: this.member.clusterName, addresses: this.member.addresses };
    await ask(child, { open: { cluster, nodes, resources: RESOURCES, prefix } });
    return child;
  }

  /** Waits until the shares are even, and returns the s that this took. */
  async evenOver(nodes) {
    const began = performance.now();
    const [least, most] = [Math.floor(RESOURCES / nodes), Math.ceil(RESOURCES / nodes)];
    const isEven = () => {
      const shares = [...this.#owned.values()].flatMap((owned) => [...owned.values()]).filter((share) => share > 0);
      const total = shares.reduce((sum, share) => sum + share, 0);
      return shares.length === nodes && total === RESOURCES && shares.every((each) => each >= least && each <= most);
    };
    while (!isEven()) {
      const left = PATIENCE * 1000 - (performance.now() - began);
      if (left <= 0) throw new Error(`${RESOURCES} resources are not even over ${nodes} nodes after ${PATIENCE} s`);
      await Promise.race([new Promise((resolve) => (this.#changed = resolve)), pause(left, undefined, { ref: false })]);
    }
    return (performance.now() - began) / 1000;
  }

  async steady(nodes) {
    // The last round of acknowledgements.
    await pause(2 * HEARTBEAT * 1000);
    const before = await this.#count();
    await pause(WATCHED * 1000);
    const after = await this.#count();
    const perHeartbeat = (field) => (after[field] - before[field]) / nodes / (WATCHED / HEARTBEAT);
    const title = `${RESOURCES} resources, ${nodes} nodes`;
    return [
      row(`writes per node and heartbeat: ${title}`, perHeartbeat('writes'), '', 1.1),
      row(`reads per node and heartbeat: ${title}`, perHeartbeat('reads'), '', 2.2),
      row(`bytes per node and heartbeat, all idle calls included: ${title}`, perHeartbeat('bytes') / 1000, 'kB'),
      row(`longest stall in a steady minute: ${title}`, after.stall, 'ms', 20),
    ];
  }

  async changes(nodes) {
    const [joins, leaves, crashes] = ['a join', 'a leave', 'a crash'];
    const title = (change) => `${change}, ${RESOURCES} resources, ${nodes} nodes`;
    const join = await this.#measured(async () => void (await this.add(1)), nodes + 1);
    const child = this.#children.at(-1);
    const leave = await this.#measured(() => ask(child, { close: { nodes: 1 } }), nodes);
    await this.add(1);
    await this.evenOver(nodes + 1);
    await pause(2 * HEARTBEAT * 1000);
    const crash = await this.#measured(async () => void this.#children.at(-1).kill('SIGKILL'), nodes);
    return [
      ...rowsOf(title(joins), join, join.took),
      ...rowsOf(title(leaves), leave, leave.took),
      ...rowsOf(title(crashes), crash, crash.took - LEASE - TOLERANCE),
    ];
  }

  async #measured(change, nodes) {
    await this.#count();
    const before = await this.#count();
    const began = performance.now();
    await change();
    await this.evenOver(nodes);
    const took = (performance.now() - began) / 1000;
    const after = await this.#count();
    return {
      took,
      stall: after.stall,
      calls: after.writes + after.reads - before.writes - before.reads,
      bytes: after.bytes - before.bytes,
    };
  }

  /** Of the processes that live. */
  async #count() {
    const living = this.#children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
    const all = await Promise.all(living.map((child) => ask(child, { count: {} })));
    const sum = (field) => all.reduce((total, each) => total + each[field], 0);
    const stall = Math.max(...all.map((each) => each.stall));
    return { writes: sum('writes'), reads: sum('reads'), bytes: sum('bytes'), stall };
  }

  async close() {
    for (const child of this.#children) child.kill('SIGKILL');
  }
}

/** Answers come in the order of the requests. One may come in the same turn as a message about shares. */
function ask(child, request) {
  return new Promise((resolve, reject) => {
    const end = () => {
      child.off('message', read);
      child.off('exit', fail);
    };
    const read = ({ answer }) => {
      if (!answer) return;
      end();
      resolve(answer);
    };
    const fail = (code) => {
      end();
      reject(new Error(`a process with nodes ended with exit code ${code}`));
    };
    child.on('message', read);
    child.on('exit', fail);
    child.send(request);
  });
}

/** @param beyond s, without the lease that has to end first */
function rowsOf(change, { calls, bytes, stall }, beyond) {
  return [
    row(`even shares after ${change}`, beyond, 's', 5),
    row(`store calls of ${change}`, calls, ''),
    row(`sent and received of ${change}`, bytes / 1e6, 'MB'),
    row(`longest stall of ${change}`, stall, 'ms', 20),
  ];
}

function row(name, ours, unit, target = null) {
  return { name, ours: round(ours), reference: null, ratio: null, unit, target, met: target && ours <= target };
}
