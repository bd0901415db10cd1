import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from '../../test/support/service.ts';
import { foldersOf } from '../../worker/sandbox/sandbox-paths.ts';
import { type WatchedSpool, watchSpool } from '../cold/watch-spool.ts';
import { openStreamReader, type StreamReader } from '../support/stream-reader.ts';
import { isTurnEnd, turnWords } from './turn-words.ts';

/** Times of the events that a client can observe, on the clock of `performance.now()`. */
interface TurnTimes {
  posted: number;
  answered: number;
  echoInSpool: number;
  textInSpool: number;
  textAtReader: number;
  resultInSpool: number;
  endAtReader: number;
}

/** A session with an open stream and an agent that has already answered once. */
export interface ChatClient {
  runId: string;
  /** The number of messages sent so far. */
  turns(): number;
  /** Sends one message and waits for the end of its turn, plus a short settling time. */
  say(): Promise<TurnTimes>;
  /** Resolves when the service has paused the idle sandbox. */
  untilPaused(): Promise<void>;
  close(): void;
}

/** Work after a turn, such as storing its files, must not overlap with the next turn. */
const settleMs = 500;
const pollMs = 100;
const pauseWithinMs = 120_000;

export async function openChatClient(service: Service): Promise<ChatClient> {
  const path = `/flows/${service.flowId}/sessions`;
  const opened = await service.call<{ sessionId: string; runId: string }>('POST', path, {
    body: {},
  });
  if (opened.status !== 201) throw new Error(`not opened: ${JSON.stringify(opened.body)}`);
  const { sessionId, runId } = opened.data;
  const reader = await openStreamReader(service, runId);
  const post = postTo(service, sessionId);
  await firstTurn(reader, post);
  const { spoolFile } = foldersOf(service.dataDir, { runId, generation: 1 });
  const spool = watchSpool(spoolFile);
  let turns = 1;

  return {
    runId,
    turns: () => turns,
    say: () => say((turns += 1), { reader, spool, post }),
    async untilPaused() {
      const deadline = AbortSignal.timeout(pauseWithinMs);
      for (;;) {
        deadline.throwIfAborted();
        const sandbox = (await service.sandboxes.list()).find((entry) => entry.runId === runId);
        if (sandbox === undefined) throw new Error('the session has no sandbox any more');
        if (sandbox.state === 'paused') break;
        await sleep(pollMs);
      }
      await sleep(settleMs);
    },
    close() {
      spool.close();
      reader.leave();
    },
  };
}

type Post = (message: string) => Promise<unknown>;

function postTo(service: Service, sessionId: string): Post {
  return async (message) => {
    const body = { message, sessionId };
    const sent = await service.call('POST', `/flows/${service.flowId}/chat`, { body });
    if (sent.status !== 202) throw new Error(`not taken: ${JSON.stringify(sent.body)}`);
  };
}

async function firstTurn(reader: StreamReader, post: Post): Promise<void> {
  const ended = reader.untilEvent(isTurnEnd);
  await post(turnWords(1).prompt);
  await ended;
  await sleep(settleMs);
}

interface Ends {
  reader: StreamReader;
  spool: WatchedSpool;
  post: Post;
}

async function say(number: number, { reader, spool, post }: Ends): Promise<TurnTimes> {
  const turn = turnWords(number);
  const seen = Promise.all([
    spool.untilLine(turn.isEcho),
    spool.untilLine(turn.isText),
    reader.untilEvent(turn.isTextEvent),
    spool.untilLine(turn.isResult),
    reader.untilEvent(isTurnEnd),
  ]);
  const posted = performance.now();
  await post(turn.prompt);
  const answered = performance.now();
  const [echoInSpool, textInSpool, textAtReader, resultInSpool, endAtReader] = await seen;
  await sleep(settleMs);
  return { posted, answered, echoInSpool, textInSpool, textAtReader, resultInSpool, endAtReader };
}
