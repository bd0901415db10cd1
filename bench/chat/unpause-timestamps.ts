import { createEngine } from '../../systems/docker/engine.ts';
import { stackEnv } from '../../test/support/stack-env.ts';

/** The times at which the engine resumed a container, from the engine's events. */
interface UnpauseWatch {
  /** The first time at or after `at`, by `Date.now()`. NaN if there was none. */
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
  stream.on('error', () => undefined); // the stream is aborted on close
  return {
    since: (at) => seen.find((moment) => moment >= at) ?? Number.NaN,
    close: () => leaving.abort(),
  };
}
