import { isObject, objectIn, textIn } from '../../core/json.ts';
import { CliError } from '../format-error.ts';
import { readSettings, writeSettings } from './settings-folder.ts';

/** A service and the key for it. */
export interface Context {
  url: string;
  key: string;
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
    const [url, key] = [textIn(value, 'url'), textIn(value, 'key')];
    return url === null || key === null ? [] : [[name, { url, key }] as const];
  });
  return { current: textIn(settings, 'current'), contexts: Object.fromEntries(entries) };
}

/** Adds a context, or replaces the one with this name, and makes it the current one. */
export function addContext(name: string, context: Context): void {
  const { contexts } = readContexts();
  writeSettings(file, { current: name, contexts: { ...contexts, [name]: context } });
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
