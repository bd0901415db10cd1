import { setTimeout as sleep } from 'node:timers/promises';
import { modelLimits } from '../../../core/model/model-limits.ts';

/** Parses a body of so many bytes, when it is its turn. */
export type Pacer = <T>(bytes: number, parse: () => T) => Promise<T>;

/**
 * Parsing occupies the one thread that serves all runs of the host. So a run's large bodies are parsed one
 * after the other, and after each of them the run pauses for a multiple of the time that it took.
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
      ({ tookMs }) => sleep(tookMs * pauseFactor),
      () => undefined,
    );
    return (await parsed).value;
  };
}

const pauseFactor = 3;
