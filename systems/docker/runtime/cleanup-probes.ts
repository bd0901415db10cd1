import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { remove } from '../container/remove.ts';
import type { Engine } from '../engine.ts';
import { labelNames } from '../labels.ts';

/** Prefix of the folder of each probe. */
export const probeFolderPrefix = 'try-';

interface StaleProbes {
  /** Parent of their folders. */
  dir: string;
  /** Younger ones may be in progress. */
  olderThanMs: number;
}

/** Removes probes of processes that died between creating and starting them: those never end. */
export async function cleanUpProbes(
  engine: Engine,
  { dir, olderThanMs }: StaleProbes,
): Promise<void> {
  const before = Date.now() - olderThanMs;
  const label = [`${labelNames.probe}=${engine.instance}`];
  const probes = await engine.call('list runtime probes', (abortSignal) =>
    engine.docker.listContainers({ all: true, filters: { label }, abortSignal }),
  );
  for (const { Id, Created } of probes) if (Created * 1_000 < before) await remove(engine, Id);
  for (const name of await readdir(dir)) {
    if (!name.startsWith(probeFolderPrefix)) continue;
    const folder = join(dir, name);
    const { mtimeMs } = await stat(folder);
    if (mtimeMs < before) await rm(folder, { recursive: true, force: true });
  }
}
