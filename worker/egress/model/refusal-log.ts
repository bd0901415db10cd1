import type { Logger } from 'pino';
import type { ModelApiError } from './model-api-error.ts';

export interface RefusalLog {
  /** A field of a refused request. */
  field(field: string): void;
  /** The beta flags that were removed from a request. */
  flags(flags: readonly string[]): void;
}

const requestLinesMax = 50;
const callLinesMax = 20;
const flagMaxChars = 100;

/** What the network policy forbids: one log line per field and per flag. */
export function createRefusalLog(logger: Pick<Logger, 'info'>): RefusalLog {
  const isNew = createNoveltyCheck(requestLinesMax);
  return {
    field(path) {
      // Fields of the same kind differ by their indexes.
      const field = path.replaceAll(/\.\d+(?=\.|$)/g, '.*');
      if (isNew(field)) logger.info({ field }, 'model_request_refused');
    },
    flags(flags) {
      for (const each of flags) {
        const betaFlag = each.slice(0, flagMaxChars);
        if (isNew(`anthropic-beta: ${betaFlag}`)) logger.info({ betaFlag }, 'beta_flag_removed');
      }
    },
  };
}

/** What the limits of a run forbid: one log line per reason. */
export function createRefusedCallLog(logger: Pick<Logger, 'info'>): (error: ModelApiError) => void {
  const isNew = createNoveltyCheck(callLinesMax);
  return ({ status, message }) => {
    if (isNew(message)) logger.info({ status, reason: message }, 'model_call_refused');
  };
}

/**
 * True at the first time of each entry. Bounded, so that a sandbox can fill neither the log nor the
 * memory.
 */
function createNoveltyCheck(max: number): (entry: string) => boolean {
  const seen = new Set<string>();
  return (entry) => {
    if (seen.has(entry) || seen.size >= max) return false;
    seen.add(entry);
    return true;
  };
}
