import { isFlowrunError } from '../../../client/http/errors.ts';
import type { Http } from '../../../client/http/http.ts';
import { isObject, textIn } from '../../../core/json.ts';
import { type EndpointEvent, endpointEvents } from '../../../core/webhook.ts';
import { readSettings, writeSettings } from '../settings-folder.ts';
import { createEventReader, type EventReader } from './event-reader.ts';

/** A webhook endpoint without a URL, which exists until it is closed. */
export interface Listener extends EventReader {
  bodyOf(eventId: string): Promise<string>;
  close(): Promise<void>;
}

interface ListenerOptions {
  http: Http;
  /** The address of the service. */
  url: string;
  /** The path of the project. */
  path: string;
  events: readonly EndpointEvent[] | undefined;
}

/** Also removes the listeners of commands that were killed. */
export async function openListener({
  http,
  url,
  path,
  events = endpointEvents,
}: ListenerOptions): Promise<Listener> {
  const endpoints = `${path}/endpoints`;
  await removeLeftovers(http, url);
  const created = await http.data<{ endpointId: string }>({
    ...{ method: 'POST', path: endpoints, json: { eventTypes: events } },
  });
  const own = `${endpoints}/${created.endpointId}`;
  rewrite({ [own]: { url, pid: process.pid } });
  return {
    ...createEventReader(http, `${own}/events`),
    bodyOf: async (eventId) =>
      (await http.data<{ body: string }>({ path: `${own}/events/${eventId}` })).body,
    async close() {
      await removeIfThere(http, own);
      rewrite({ [own]: null });
    },
  };
}

const settingsFile = 'listeners.json';

async function removeLeftovers(http: Http, url: string): Promise<void> {
  for (const [path, owner] of Object.entries(readSettings(settingsFile))) {
    if (!isObject(owner) || textIn(owner, 'url') !== url || isRunning(owner['pid'])) continue;
    if (await removeIfPermitted(http, path)) rewrite({ [path]: null });
  }
}

/** Removes a listener; false if the token is not for its project. Then it is removed later. */
async function removeIfPermitted(http: Http, path: string): Promise<boolean> {
  try {
    await removeIfThere(http, path);
    return true;
  } catch (error) {
    if (isFlowrunError(error) && error.status === 403) return false;
    throw error;
  }
}

/** The process may be another one by now: then its listener is removed another time. */
function isRunning(pid: unknown): boolean {
  try {
    return process.kill(Number(pid), 0);
  } catch {
    return false;
  }
}

async function removeIfThere(http: Http, path: string): Promise<void> {
  try {
    await http.remove({ path }, null);
  } catch (error) {
    if (!isFlowrunError(error, 'NOT_FOUND')) throw error;
  }
}

/** Null removes an entry. */
function rewrite(changes: Record<string, { url: string; pid: number } | null>): void {
  const entries = Object.entries({ ...readSettings(settingsFile), ...changes });
  writeSettings(settingsFile, Object.fromEntries(entries.filter(([, owner]) => owner !== null)));
}
