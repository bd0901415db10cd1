import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient } from './api-client.ts';
import { UndescribedEvent } from './expect-described.ts';
import type { SentEvent } from './sent-events.ts';

interface Turn {
  messageId: string;
  exitCode: number;
  /** The agent's messages to the user. */
  texts: string[];
}

/** A session as its client sees it: it sends messages and keeps the stream open. */
export interface Conversation {
  sessionId: string;
  runId: string;
  /** All events of the stream so far. */
  events: SentEvent[];
  /** Sends a message and returns its id. */
  send(message: string, more?: Record<string, unknown>): Promise<string>;
  /** Waits for the end of a message's turn. */
  turn(messageId: string, withinMs?: number): Promise<Turn>;
  /** Sends a message and waits for the end of its turn. */
  say(message: string): Promise<Turn>;
  until(what: (event: SentEvent) => boolean, withinMs?: number): Promise<SentEvent>;
  named(event: string): SentEvent[];
  /** Resolves when the stream has ended. */
  closed: Promise<void>;
}

type Access = ApiClient & { flowId: string };

interface Opened {
  sessionId: string;
  runId: string;
  streamUrl: string;
}

export async function openConversation(
  service: Access,
  body: Record<string, unknown> = {},
): Promise<Conversation> {
  const path = `/flows/${service.flowId}/sessions`;
  const opened = await service.call<Opened>('POST', path, { body });
  if (opened.status !== 201) throw new Error(`not opened: ${JSON.stringify(opened.body)}`);
  const { sessionId, runId } = opened.data;
  const events: SentEvent[] = [];
  const closed = (async () => {
    for await (const event of service.stream(runId)) events.push(event);
  })();
  let failure: unknown = null;
  // The stream may break while a test restarts the service.
  closed.catch((error: unknown) => {
    failure = error;
  });

  async function until(
    what: (event: SentEvent) => boolean,
    withinMs = 120_000,
  ): Promise<SentEvent> {
    const end = performance.now() + withinMs;
    for (;;) {
      const found = events.find(what);
      if (found) return found;
      if (failure instanceof UndescribedEvent) throw failure;
      if (performance.now() > end) {
        const summary = events.map(({ event, data }) => `${event} ${data.slice(0, 120)}`);
        throw new Error(`no such event among:\n${summary.join('\n')}`);
      }
      await sleep(20);
    }
  }

  async function send(message: string, more: Record<string, unknown> = {}): Promise<string> {
    const sent = await service.call<{ messageId: string }>(
      'POST',
      `/flows/${service.flowId}/chat`,
      {
        body: { message, sessionId, stream: true, ...more },
      },
    );
    if (sent.status !== 202) throw new Error(`not taken: ${JSON.stringify(sent.body)}`);
    return sent.data.messageId;
  }

  async function turn(messageId: string, withinMs?: number): Promise<Turn> {
    const isEnd = ({ event, data }: SentEvent): boolean =>
      event === 'turn_end' && data.includes(messageId);
    const end = await until(isEnd, withinMs);
    const { exitCode } = JSON.parse(end.data) as { exitCode: number };
    return { messageId, exitCode, texts: textsBefore(events, events.indexOf(end)) };
  }

  return {
    sessionId,
    runId,
    events,
    send,
    turn,
    until,
    closed,
    say: async (message) => turn(await send(message)),
    named: (event) => events.filter((each) => each.event === event),
  };
}

/** The messages between the end of the previous turn and the end of this one. */
function textsBefore(events: SentEvent[], end: number): string[] {
  const before = events.slice(0, end);
  const start = before.findLastIndex(({ event }) => event === 'turn_end');
  return before
    .slice(start + 1)
    .filter(({ event }) => event === 'chat_output')
    .map(({ data }) => (JSON.parse(data) as { text: string }).text);
}
