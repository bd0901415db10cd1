import { setTimeout as sleep } from 'node:timers/promises';
import type { SentEvent } from '../../support/sent-events.ts';
import type { Service } from '../../support/service.ts';

export interface SeenEvent extends SentEvent {
  /** By this process's own clock. */
  at: number;
}

interface Connection {
  lastEventId: string | undefined;
  events: SeenEvent[];
}

/** All that one client has seen of a run. */
export interface Transcript {
  name: string;
  connections: Connection[];
}

export interface Client {
  transcript: Transcript;
  /** Frames with a number so far, the end not counted. */
  frames(): number;
  /** Resolves when it has seen the end; rejects when that takes too long. */
  seenEnd(withinMs: number): Promise<void>;
  /** Resolves when it has seen this many frames. */
  seenFrames(count: number, withinMs: number): Promise<void>;
  leave(): void;
}

export interface ClientOptions {
  name: string;
  /** Goes away and comes back, with the last id that it has seen, after so many frames. */
  hangUpEvery?: number;
}

const comeBackAfterMs = 100;
const lookEveryMs = 20;

/** A client that reconnects, as a browser does, until it has seen the end. */
export function followRun(
  service: Pick<Service, 'stream'>,
  runId: string,
  options: ClientOptions,
): Client {
  const transcript: Transcript = { name: options.name, connections: [] };
  const state = { left: false, ended: false, frames: 0 };

  async function connect(): Promise<void> {
    const lastEventId = lastIdOf(transcript);
    const connection: Connection = { lastEventId, events: [] };
    transcript.connections.push(connection);
    let count = 0;
    for await (const event of service.stream(runId, lastEventId)) {
      connection.events.push({ ...event, at: performance.now() });
      if (event.event === 'finished') state.ended = true;
      else if (event.id !== undefined) {
        state.frames += 1;
        count += 1;
      }
      if (state.left || count === options.hangUpEvery) return;
    }
  }

  async function follow(): Promise<void> {
    while (!state.left && !state.ended) {
      await connect().catch(() => undefined); // cut off or refused: it reconnects
      if (!state.ended) await sleep(comeBackAfterMs);
    }
  }

  async function until(what: string, happens: () => boolean, withinMs: number): Promise<void> {
    const end = performance.now() + withinMs;
    while (!happens()) {
      if (performance.now() > end)
        throw new Error(`${options.name} ${what} in time: ${state.frames}`);
      await sleep(lookEveryMs);
    }
  }

  void follow();
  return {
    transcript,
    frames: () => state.frames,
    seenEnd: (withinMs) => until('did not see the end', () => state.ended, withinMs),
    seenFrames: (count, withinMs) =>
      until(`did not see ${count} frames`, () => state.frames >= count, withinMs),
    leave: () => {
      state.left = true;
    },
  };
}

function lastIdOf({ connections }: Transcript): string | undefined {
  return connections.flatMap(({ events }) => events).findLast(({ id }) => id !== undefined)?.id;
}
