import { createContext, Script } from 'node:vm';
import ignore from 'ignore';
import { limits } from '../../core/limits.ts';
import { invalid } from '../errors.ts';

/**
 * The paths that a `.flowignore` matches, by git's rules. Its patterns are a client's and become
 * regular expressions: what takes too long is refused, since it would hold up everybody else.
 */
export function matchIgnored(text: string, paths: string[]): Set<string> {
  const { size } = new Blob([text]);
  if (size > limits.flowIgnoreMaxBytes) {
    throw invalid(`.flowignore: is larger than ${limits.flowIgnoreMaxBytes} bytes`);
  }
  let ignored: string[] = [];
  const match = (): void => {
    const rules = ignore({ ignorecase: false, allowRelativePaths: false }).add(text);
    ignored = paths.filter((path) => rules.ignores(path));
  };
  if (!finishesInTime(match)) throw invalid('.flowignore: its patterns take too long to match');
  return new Set(ignored);
}

/** A busy machine may leave it waiting for all of its time: only what it has worked for counts. */
function finishesInTime(match: () => void): boolean {
  for (let workedMs = 0; workedMs < limits.flowIgnoreMatchMs / 2; ) {
    const before = process.cpuUsage();
    if (finishes(match)) return true;
    const { user, system } = process.cpuUsage(before);
    workedMs += (user + system) / 1_000;
  }
  return false;
}

function finishes(match: () => void): boolean {
  try {
    timed.runInContext(createContext({ match }), { timeout: limits.flowIgnoreMatchMs });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    return false;
  }
}

/** The only way to give synchronous work a time limit: it is ended wherever it is. */
const timed = new Script('match()');
