import { type Context, createContext, Script } from 'node:vm';
import ignore from 'ignore';
import { limits } from '../../core/limits.ts';
import { invalid } from '../errors.ts';

/**
 * The paths that a `.flowignore` matches, by git's rules. The patterns come from a client and
 * become regular expressions. One that takes too long is rejected, because it would block the event
 * loop.
 */
export function matchIgnored(text: string, paths: string[]): Set<string> {
  if (text === '' || paths.length === 0) return new Set();
  const { size } = new Blob([text]);
  if (size > limits.flow.ignoreMaxBytes) {
    throw invalid(`.flowignore: must be at most ${limits.flow.ignoreMaxBytes} bytes`);
  }
  let ignored: string[] = [];
  const match = (): void => {
    const rules = ignore({ ignorecase: false, allowRelativePaths: false }).add(text);
    ignored = paths.filter((path) => rules.ignores(path));
  };
  if (!finishesInTime(match)) throw invalid('.flowignore: the patterns take too long to match');
  return new Set(ignored);
}

/**
 * Counts the CPU time of this thread, and only within one attempt. On a busy machine a wall-clock
 * timeout may pass without any work here, so each attempt may take twice as long as the last.
 */
function finishesInTime(match: () => void): boolean {
  for (let timeoutMs = limits.flow.ignoreMatchMs; ; timeoutMs *= 2) {
    const context = createContext({ match });
    const before = threadCpuMs();
    if (finishes(context, timeoutMs)) return true;
    if (threadCpuMs() - before >= limits.flow.ignoreMatchMs / 2) return false;
  }
}

/** Node 22 reports only the CPU time of the whole process. */
function threadCpuMs(): number {
  const { user, system } = (process.threadCpuUsage ?? process.cpuUsage)();
  return (user + system) / 1_000;
}

function finishes(context: Context, timeoutMs: number): boolean {
  try {
    timed.runInContext(context, { timeout: timeoutMs });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    return false;
  }
}

/** `vm` is the only way to interrupt synchronous work after a timeout. */
const timed = new Script('match()');
