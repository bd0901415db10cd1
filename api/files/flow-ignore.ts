import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Context, createContext, Script } from 'node:vm';
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
  const ignored = matchInTime(text, paths);
  if (ignored === null) throw invalid('.flowignore: the patterns take too long to match');
  return new Set(ignored);
}

/**
 * Null if it takes too long. Counts the CPU time of this thread, and only within one attempt. On a
 * busy machine a wall-clock timeout may pass without any work here, so each attempt may take twice
 * as long as the last. One slow attempt proves nothing: garbage collection, and code that was never
 * used before, also take CPU time.
 */
function matchInTime(text: string, paths: string[]): string[] | null {
  let slowAttempts = 0;
  for (let timeoutMs = limits.flow.ignoreMatchMs; ; timeoutMs *= 2) {
    const context = createContext({ text, paths, module: {} });
    library.runInContext(context);
    const before = threadCpuMs();
    const ignored = matchOnce(context, timeoutMs);
    if (ignored !== null) return ignored;
    if (threadCpuMs() - before >= limits.flow.ignoreMatchMs / 2) slowAttempts += 1;
    if (slowAttempts === 2) return null;
  }
}

/** Node 22 reports only the CPU time of the whole process. */
function threadCpuMs(): number {
  const { user, system } = (process.threadCpuUsage ?? process.cpuUsage)();
  return (user + system) / 1_000;
}

/** Null after the timeout. */
function matchOnce(context: Context, timeoutMs: number): string[] | null {
  try {
    return timed.runInContext(context, { timeout: timeoutMs }) as string[];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    return null;
  }
}

/**
 * Each attempt has a copy of the library. A timeout may leave its global regular expressions with a
 * stale `lastIndex`, and the next patterns would be compiled wrongly. It is one CommonJS file.
 */
const library = new Script(readFileSync(createRequire(import.meta.url).resolve('ignore'), 'utf8'));

/** `vm` is the only way to interrupt synchronous work after a timeout. */
const timed = new Script(`
  const rules = module.exports({ ignorecase: false, allowRelativePaths: false }).add(text);
  paths.filter((path) => rules.ignores(path));
`);
