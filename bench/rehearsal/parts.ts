// The processes of the service and its servers, and their CPU time and memory.

import { readFileSync } from 'node:fs';
import { cpuMsOf, memoryMibOf } from '../service/process-use.ts';

export const partNames = ['API', 'workers', 'Postgres', 'Redis', 'Temporal'] as const;
export type PartName = (typeof partNames)[number];

export type OfParts<Value> = Record<PartName, Value>;

/** The first process of each program of a part. */
export type Pids = OfParts<number[]>;

export interface Use {
  /** Since the start of the processes. */
  cpuMs: number;
  memoryMib: number;
}

export function readUse(pids: Pids): OfParts<Use> {
  return ofParts((part) => useOf(pids[part].flatMap(withChildren)));
}

export const ofParts = <Value>(valueOf: (part: PartName) => Value): OfParts<Value> =>
  Object.fromEntries(partNames.map((part) => [part, valueOf(part)])) as OfParts<Value>;

/** A process may end during the reading. Then the CPU time of its parent includes it. */
function useOf(pids: number[]): Use {
  const sum = (read: (pid: number) => number): number =>
    pids.reduce((total, pid) => total + orZero(() => read(pid)), 0);
  return { cpuMs: sum(cpuMsOf), memoryMib: sum(memoryMibOf) };
}

/** Postgres has a process for each connection. */
function withChildren(pid: number): number[] {
  const text = orZero(() => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')) || '';
  return [pid, ...text.split(' ').filter(Boolean).map(Number)];
}

function orZero<Value>(read: () => Value): Value | 0 {
  try {
    return read();
  } catch {
    return 0;
  }
}
