import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

export const hostCpus = () => ({
  cpus: availableParallelism(),
  cpuPressure: () => readCpuPressure(),
});

/**
 * Percent of the last 10 s in which a task waited for a processor (`some avg10`).
 * Null if the kernel does not report it: it may be built or started without pressure stall
 * information. The file is made by the kernel, so the read does not wait for a disk.
 */
export function readCpuPressure(path = '/proc/pressure/cpu'): number | null {
  try {
    return parseCpuPressure(readFileSync(path, 'utf8'));
  } catch {
    return null;
  }
}

export function parseCpuPressure(text: string): number | null {
  const [, average] = /^some avg10=(\d+(?:\.\d+)?) /m.exec(text) ?? [];
  return average === undefined ? null : Number(average);
}
