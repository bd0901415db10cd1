import { createEngine } from '../../systems/docker/engine.ts';
import { stackEnv } from '../../test/support/stack-env.ts';

/** When the engine woke a container up, by its own events. */
interface UnpauseWatch {
  /** The first since then, by `Date.now()`; not a number where there was none. */
  since(at: number): number;
  close(): void;
}

export async function watchUnpauses(instance: string): Promise<UnpauseWatch> {
  const engine = createEngine({ dockerHost: stackEnv.dockerHost, instance });
  const leaving = new AbortController();
  const stream = await engine.docker.getEvents({
    filters: { event: ['unpause'] },
    abortSignal: leaving.signal,
  });
  const seen: number[] = [];
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => {
    for (const [, nanoseconds] of text.matchAll(/"timeNano":(\d+)/g)) {
      seen.push(Number(nanoseconds) / 1e6);
    }
  });
  stream.on('error', () => undefined); // we have left
  return {
    since: (at) => seen.find((moment) => moment >= at) ?? Number.NaN,
    close: () => leaving.abort(),
  };
}
