// Load from other programs during an iteration. Other programs are those that are neither the bench
// and its children nor a server or container of a kind that the service uses.

import { readdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';

/** Shares and CPUs are averages over the iteration. */
export interface Noise {
  /** CPUs used by other programs. */
  otherCpus: number;
  /** Share of CPU time that the hypervisor gave to other machines. */
  steal: number;
  /** Share of the time in which a task waited for a CPU. High whenever the bench itself is busy. */
  pressure: number;
}

interface Reading {
  at: number;
  stealTicks: number;
  pressureUs: number;
  /** CPU ticks of all other programs, with those of their children that have exited. */
  otherTicks: number;
}

const otherCpusMax = 0.1;
/**
 * Both sides of an iteration lose to the hypervisor: less than this widens the interval instead.
 */
const stealMax = 0.1;
const ticksPerSecond = 100;

/** Returns a function that ends the observation. */
export function watchNoise(): () => Noise {
  const before = read();
  return () => noiseBetween(before, read());
}

export function noiseBetween(before: Reading, after: Reading): Noise {
  const seconds = (after.at - before.at) / 1_000;
  const otherCpus = Math.max(0, after.otherTicks - before.otherTicks) / ticksPerSecond / seconds;
  const steal = (after.stealTicks - before.stealTicks) / ticksPerSecond / seconds / cpus().length;
  const pressure = (after.pressureUs - before.pressureUs) / 1e6 / seconds;
  return { otherCpus, steal, pressure };
}

/** Whether an iteration had too many other programs or too much steal. It still counts. */
export function isNoisy({ otherCpus, steal }: Noise): boolean {
  return otherCpus > otherCpusMax || steal > stealMax;
}

function read(): Reading {
  const pressure = /^some .*total=(\d+)/.exec(readText('/proc/pressure/cpu'));
  const stat = /^cpu +(?:\d+ +){7}(\d+)/.exec(readText('/proc/stat'));
  return {
    at: performance.now(),
    stealTicks: Number(stat?.[1] ?? 0),
    pressureUs: Number(pressure?.[1] ?? 0),
    otherTicks: ticksOfOthers(readProcesses(), process.pid),
  };
}

interface ProcessInfo {
  pid: number;
  parent: number;
  name: string;
  ticks: number;
}

const servers =
  /^(?:postgres|redis-server|temporal|temporal-server|dockerd|containerd|containerd-shim|runc|runsc|docker-init)/;
const init = 1;
const kernelThreads = 2;

/** `self` is the bench. A child of an own process is an own process. */
export function ticksOfOthers(processes: ProcessInfo[], self: number): number {
  const byPid = new Map(processes.map((each) => [each.pid, each]));
  const parentOfSelf = byPid.get(self)?.parent;
  const isOwn = ({ pid, parent, name }: ProcessInfo): boolean => {
    if (pid === self || pid === parentOfSelf || pid === kernelThreads) return true;
    if (servers.test(name)) return true;
    const above = byPid.get(parent);
    return above !== undefined && above.pid !== parentOfSelf && isOwn(above);
  };
  const others = processes.filter((each) => !isOwn(each));
  return others.reduce((sum, { ticks }) => sum + ticks, 0);
}

function readProcesses(): ProcessInfo[] {
  return readdirSync('/proc').flatMap((entry) => {
    const match = /^(\d+) \((.*)\) \S (\d+) (.*)/s.exec(readText(`/proc/${entry}/stat`));
    if (!/^\d+$/.test(entry) || match === null) return [];
    const [, pid, name = '', parent, rest = ''] = match;
    // utime, stime, cutime and cstime: fields 14 to 17, and `rest` starts with field 5. Init
    // inherits the containers of an iteration, so the times of its children are not those of other
    // programs.
    const times = rest
      .split(' ')
      .slice(9, Number(pid) === init ? 11 : 13)
      .map(Number);
    const ticks = times.reduce((sum, time) => sum + time, 0);
    return [{ pid: Number(pid), parent: Number(parent), name, ticks }];
  });
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
