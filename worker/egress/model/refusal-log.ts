import type { Logger } from 'pino';
import type { ModelApiError } from './model-api-error.ts';

export interface RefusalLog {
  /** A call that was not forwarded. */
  call(error: ModelApiError): void;
  /** The beta flags that were removed from a request. */
  flags(flags: readonly string[]): void;
}

const linesMax = 50;
const flagMaxChars = 100;

/**
 * Logs refusals to a sandbox: one line per reason or field, and one per flag. The metric counts
 * every refused call.
 */
export function createRefusalLog(logger: Pick<Logger, 'info'>): RefusalLog {
  const isNewReason = createNoveltyCheck(linesMax);
  const isNewFlag = createNoveltyCheck(linesMax);
  return {
    call({ status, message, field }) {
      // Fields of the same kind differ by their indexes.
      const kind = field?.replaceAll(/\.\d+(?=\.|$)/g, '.*');
      if (!isNewReason(kind ?? message)) return;
      const reason = kind === undefined ? { reason: message } : { field: kind };
      logger.info({ status, ...reason }, 'model_call_refused');
    },
    flags(flags) {
      for (const each of flags) {
        const betaFlag = each.slice(0, flagMaxChars);
        if (isNewFlag(betaFlag)) logger.info({ betaFlag }, 'beta_flag_removed');
      }
    },
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
