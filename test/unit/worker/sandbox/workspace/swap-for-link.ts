import { Worker } from 'node:worker_threads';
import { onTestFinished } from 'vitest';

const source = `
  const { mkdirSync, rmSync, symlinkSync, unlinkSync } = require('node:fs');
  const { workerData: { name, outside } } = require('node:worker_threads');
  const quietly = (act) => { try { act(); } catch {} };
  for (;;) {
    quietly(() => mkdirSync(name));
    quietly(() => rmSync(name, { recursive: true }));
    quietly(() => symlinkSync(outside, name));
    quietly(() => unlinkSync(name));
  }`;

/**
 * Starts a thread that constantly replaces `name` by a directory and by a link to `outside`, until
 * the test ends.
 */
export function swapForLink(name: string, outside: string): void {
  const worker = new Worker(source, { eval: true, workerData: { name, outside } });
  onTestFinished(async () => void (await worker.terminate()));
}
