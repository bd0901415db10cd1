import { setTimeout as sleep } from 'node:timers/promises';
import type { SentEvent } from '../../support/sent-events.ts';
import type { Service } from '../../support/service.ts';

export interface ReceivedEvent extends SentEvent {
  /** By the clock of this process. */
  at: number;
}

interface Connection {
  lastEventId: string | undefined;
  events: ReceivedEvent[];
}

/** Everything that one client received of a run. */
export interface Transcript {
  name: string;
  connections: Connection[];
}

export interface Client {
  transcript: Transcript;
  /** Numbered frames so far, without the end. */
  frames(): number;
  /** Resolves when the client has received the end; rejects on a timeout. */
  untilFinished(withinMs: number): Promise<void>;
  /** Resolves when the client has received this many frames. */
  untilFrames(count: number, withinMs: number): Promise<void>;
  leave(): void;
}

export interface ClientOptions {
  name: string;
  /** Disconnects after this many frames, and reconnects with the last received id. */
  disconnectEvery?: number;
}

const reconnectAfterMs = 100;
const pollEveryMs = 20;

/** A client that reconnects, like a browser, until it has received the end. */
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
      if (state.left || count === options.disconnectEvery) return;
    }
  }

  async function follow(): Promise<void> {
    while (!state.left && !state.ended) {
      await connect().catch(() => undefined); // cut off or refused: it reconnects
      if (!state.ended) await sleep(reconnectAfterMs);
    }
  }

  async function until(what: string, happens: () => boolean, withinMs: number): Promise<void> {
    const end = performance.now() + withinMs;
    while (!happens()) {
      if (performance.now() > end)
        throw new Error(`${options.name} ${what} in time: ${state.frames}`);
      await sleep(pollEveryMs);
    }
  }

  void follow();
  return {
    transcript,
    frames: () => state.frames,
    untilFinished: (withinMs) => until('did not see the end', () => state.ended, withinMs),
    untilFrames: (count, withinMs) =>
      until(`did not see ${count} frames`, () => state.frames >= count, withinMs),
    leave: () => {
      state.left = true;
    },
  };
}

function lastIdOf({ connections }: Transcript): string | undefined {
  return connections.flatMap(({ events }) => events).findLast(({ id }) => id !== undefined)?.id;
}
