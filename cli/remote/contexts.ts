import { isObject, objectIn, textIn } from '../../core/json.ts';
import { omitUndefined } from '../../core/omit-undefined.ts';
import { CliError } from '../format-error.ts';
import { readSettings, writeSettings } from './settings-folder.ts';

/** A service with the credentials for it: a key, an operator token, or both. */
export interface Context {
  url: string;
  key?: string;
  token?: string;
  /** The project that commands with the token are for. */
  project?: string;
}

interface Contexts {
  current: string | null;
  contexts: Record<string, Context>;
}

const file = 'contexts.json';

export function readContexts(): Contexts {
  const settings = readSettings(file);
  const entries = Object.entries(objectIn(settings, 'contexts')).flatMap(([name, value]) => {
    if (!isObject(value)) return [];
    const [url, key, token, project] = ['url', 'key', 'token', 'project'].map(
      (field) => textIn(value, field) ?? undefined,
    );
    if (url === undefined || (key ?? token) === undefined) return [];
    return [[name, { url, ...omitUndefined({ key, token, project }) }] as const];
  });
  return { current: textIn(settings, 'current'), contexts: Object.fromEntries(entries) };
}

/**
 * Adds a context, or changes the one with this name, and makes it the current one. A context of the
 * same service keeps the credentials that are not given.
 */
export function addContext(name: string, context: Context): void {
  const { contexts } = readContexts();
  const before = contexts[name]?.url === context.url ? contexts[name] : {};
  const changed = { ...before, ...context };
  writeSettings(file, { current: name, contexts: { ...contexts, [name]: changed } });
}

export function useContext(name: string): void {
  const { contexts } = readContexts();
  requireContext(contexts, name);
  writeSettings(file, { current: name, contexts });
}

export function removeContext(name: string): void {
  const { current, contexts } = readContexts();
  requireContext(contexts, name);
  const { [name]: _removed, ...others } = contexts;
  writeSettings(file, { current: current === name ? null : current, contexts: others });
}

function requireContext(contexts: Record<string, Context>, name: string): void {
  if (Object.hasOwn(contexts, name)) return;
  const known = Object.keys(contexts).join(', ') || 'none';
  throw new CliError(`No such context: ${name}. Known contexts: ${known}.`);
}
