import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { remove } from '../container/remove.ts';
import type { Engine } from '../engine.ts';
import { labelNames } from '../labels.ts';

/** What the folder of each trial is called, up to what makes it its own. */
export const probeFolderPrefix = 'try-';

export interface StaleProbes {
  /** Where their folders are; those of nobody else. */
  dir: string;
  /** A younger one may be under way. */
  olderThanMs: number;
}

/** Whoever died between making a trial and starting it has left something that ends by nothing. */
export async function cleanUpProbes(
  engine: Engine,
  { dir, olderThanMs }: StaleProbes,
): Promise<void> {
  const before = Date.now() - olderThanMs;
  const label = [`${labelNames.probe}=${engine.instance}`];
  const trials = await engine.call('list trial sandboxes', (abortSignal) =>
    engine.docker.listContainers({ all: true, filters: { label }, abortSignal }),
  );
  for (const { Id, Created } of trials) if (Created * 1_000 < before) await remove(engine, Id);
  for (const name of await readdir(dir)) {
    if (!name.startsWith(probeFolderPrefix)) continue;
    const folder = join(dir, name);
    const { mtimeMs } = await stat(folder);
    if (mtimeMs < before) await rm(folder, { recursive: true, force: true });
  }
}
