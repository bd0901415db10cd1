import { createContext, Script } from 'node:vm';
import ignore from 'ignore';
import { limits } from '../../core/limits.ts';
import { invalid } from '../errors.ts';

/**
 * The paths that a `.flowignore` matches, by git's rules. The patterns come from a client and
 * become regular expressions. One that takes too long is rejected, because it would block the event
 * loop.
 */
export function matchIgnored(text: string, paths: string[]): Set<string> {
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

/** Counts CPU time: on a busy machine the wall-clock timeout may pass without any work. */
function finishesInTime(match: () => void): boolean {
  for (let workedMs = 0; workedMs < limits.flow.ignoreMatchMs / 2; ) {
    const before = process.cpuUsage();
    if (finishes(match)) return true;
    const { user, system } = process.cpuUsage(before);
    workedMs += (user + system) / 1_000;
  }
  return false;
}

function finishes(match: () => void): boolean {
  try {
    timed.runInContext(createContext({ match }), { timeout: limits.flow.ignoreMatchMs });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    return false;
  }
}

/** `vm` is the only way to interrupt synchronous work after a timeout. */
const timed = new Script('match()');
