import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../../dev/stack/ports.ts';
import type { ServiceProcess } from '../../support/service-process.ts';
import { countObjects, type ObjectCounts } from './heap-snapshot.ts';
import { inspectorOf } from './inspector.ts';

/** A process with inspectable memory. */
export interface Inspected {
  memory(): Promise<Memory>;
  /** How many objects of each kind are live. Counting itself takes much memory. */
  objects(): Promise<ObjectCounts>;
  descriptors(): number;
}

export interface Memory {
  /** Bytes of live objects, in all its threads. */
  heap: number;
  /** The private bytes of a process in memory, without mapped files. */
  resident: number;
}

const readings = 5;
const betweenReadingsMs = 1_000;

/**
 * Restarts the process with an inspector, to query its heap, and with one malloc arena. Otherwise
 * each thread gets an arena; these fill up over hundreds of runs and hide the program's own use.
 */
export async function inspect(process: ServiceProcess): Promise<Inspected> {
  const port = await freePort();
  await process.kill('SIGTERM');
  await process.start({ NODE_OPTIONS: `--inspect=127.0.0.1:${port}`, MALLOC_ARENA_MAX: '1' });
  const pid = process.pid();
  return {
    memory: () => leastMemory(port, pid),
    objects: () => objectsOf(port),
    descriptors: () => readdirSync(`/proc/${pid}/fd`).length,
  };
}

/**
 * The lowest of several readings, each after a garbage collection, since work in progress varies.
 */
async function leastMemory(port: number, pid: number): Promise<Memory> {
  const least = { heap: Infinity, resident: Infinity };
  for (let reading = 0; reading < readings; reading += 1) {
    least.heap = Math.min(least.heap, await heapOf(port));
    least.resident = Math.min(least.resident, residentBytes(pid));
    await sleep(betweenReadingsMs);
  }
  return least;
}

/** After a garbage collection in each thread. */
async function heapOf(port: number): Promise<number> {
  const inspector = await inspectorOf(port);
  let sum = 0;
  for (const thread of inspector.threads) {
    await thread.call('HeapProfiler.collectGarbage');
    const { usedSize } = await thread.call<{ usedSize: number }>('Runtime.getHeapUsage');
    sum += usedSize;
  }
  inspector.close();
  return sum;
}

async function objectsOf(port: number): Promise<ObjectCounts> {
  const inspector = await inspectorOf(port);
  const counts: ObjectCounts = new Map();
  for (const thread of inspector.threads) {
    await thread.call('HeapProfiler.collectGarbage');
    countObjects(await thread.snapshot(), counts);
  }
  inspector.close();
  return counts;
}

function residentBytes(pid: number): number {
  const line = /RssAnon:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.[1]) * 1024;
}
