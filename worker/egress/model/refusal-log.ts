import type { Logger } from 'pino';

export interface RefusalLog {
  /** A field of a refused request. */
  field(field: string): void;
  /** The beta flags that were removed from a request. */
  flags(flags: readonly string[]): void;
}

const linesMax = 50;
const flagMaxChars = 100;

/** One log line per field and per flag, so a sandbox can fill neither the log nor the memory. */
export function createRefusalLog(logger: Pick<Logger, 'info'>): RefusalLog {
  const logged = new Set<string>();
  const isNew = (entry: string): boolean => {
    if (logged.has(entry) || logged.size >= linesMax) return false;
    logged.add(entry);
    return true;
  };
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
