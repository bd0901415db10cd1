import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { foldersOf } from '../../../worker/sandbox/sandbox-paths.ts';
import { openCuttingProxy } from '../cutting-proxy.ts';
import type { Service } from '../service.ts';
import { type ClientName, runStory } from './client-story.ts';

interface CutStoryOptions {
  client: ClientName;
  /** How often the stream is cut. */
  cutsMax: number;
  /** The agent writes this many times more short lines. */
  factor: number;
  /** Settles before the agent asks its question. The default is the last cut. */
  beforeQuestion?: Promise<unknown>;
}

interface CutStory {
  /** Cuts until now. */
  cuts(): number;
  ended: Promise<void>;
}

/** Runs the story through a proxy that cuts the stream while the agent waits with its question. */
export async function startCutStory(
  service: Service,
  { client, cutsMax, factor, beforeQuestion }: CutStoryOptions,
): Promise<CutStory> {
  const bytesOf = (cut: number) => 900 + ((cut * 97) % 2_000);
  const proxy = await openCuttingProxy(service.url, { bytesOf, cutsMax });
  const { promise: isCut, resolve: setCut } = Promise.withResolvers<void>();
  const { promise: started, resolve: setStarted } = Promise.withResolvers<string>();

  async function release(): Promise<void> {
    const [runId] = await Promise.all([started, isCut, beforeQuestion]);
    const { workspace } = foldersOf(service.dataDir, { runId, generation: 1 });
    writeFileSync(join(workspace, 'released'), '');
  }

  async function run(): Promise<void> {
    const { url, key } = { url: proxy.url, key: service.key };
    const onEvent = () => {
      if (proxy.cuts() === cutsMax) setCut();
    };
    const options = { client, url, key, factor, onEvent, onStart: setStarted };
    try {
      const [events] = await Promise.all([runStory(options), release()]);
      expect(proxy.cuts()).toBe(cutsMax);
      expect(events.at(-1)?.event).toBe('finished');
    } finally {
      await proxy.close();
    }
  }
  return { cuts: proxy.cuts, ended: run() };
}
