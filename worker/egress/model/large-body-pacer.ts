import { setTimeout as sleep } from 'node:timers/promises';
import { modelLimits } from '../../../core/model/model-limits.ts';

/** Parses a body of this length, after the run's earlier large bodies. */
export type Pacer = <T>(bytes: number, parse: () => T) => Promise<T>;

/**
 * Parsing blocks the only thread, which serves all runs of the host. So a run's large bodies are
 * parsed one after the other, with a delay in between that is a multiple of the parsing time.
 */
export function createLargeBodyPacer(): Pacer {
  let previous: Promise<void> = Promise.resolve();
  return async (bytes, parse) => {
    if (bytes <= modelLimits.largeBodyBytes) return parse();
    const parsed = previous.then(() => {
      const startedAt = performance.now();
      const value = parse();
      return { value, tookMs: performance.now() - startedAt };
    });
    previous = parsed.then(
      ({ tookMs }) => sleep(tookMs * delayFactor),
      () => undefined,
    );
    return (await parsed).value;
  };
}

const delayFactor = 3;
