import { setTimeout as sleep } from 'node:timers/promises';
import { machineMs } from '../../test/fixtures/scripted-agent/machine-clock.ts';
import { agentWords } from './agent-words.ts';
import type { BenchService } from './bench-service.ts';
import { isEvent, openStream, type Stream } from './stream.ts';

/** A session with an open stream and an agent that has already answered once. */
export interface BenchSession {
  runId: string;
  stream: Stream;
  /** Sends a message and waits for the end of its turn. */
  say(message: string): Promise<Said>;
  /** As `say`, for the real agent. Returns the milliseconds from the request to the first text. */
  firstText(delayMs?: number): Promise<number>;
  /** Resolves when the service has paused the idle sandbox. */
  untilPaused(): Promise<void>;
  close(): void;
}

interface Said {
  /** By `machineMs`. */
  postedAt: number;
  /** When the service answered the request. */
  acceptedAt: number;
  /** The position in the stream's sightings at which the turn begins. */
  from: number;
  endedAt: number;
}

/** Work after a turn, such as storing its files, must not overlap with the next turn. */
const settleMs = 300;
const pollMs = 50;
const pauseTimeoutMs = 120_000;

/** The first message of the session is `first`. */
export async function openSession(
  service: BenchService,
  first: string = agentWords().prompt,
): Promise<BenchSession> {
  const path = `/flows/${service.flowId}/sessions`;
  const opened = await service.call<Opened>('POST', path, { body: {} });
  if (opened.status !== 201) throw new Error(`not opened: ${JSON.stringify(opened.body)}`);
  const { sessionId, runId } = opened.data;
  const stream = await openStream(service, runId);

  async function say(message: string): Promise<Said> {
    const from = stream.count();
    const body = { message, sessionId };
    const postedAt = machineMs();
    const sent = await service.call('POST', `/flows/${service.flowId}/chat`, { body });
    const acceptedAt = machineMs();
    if (sent.status !== 202) throw new Error(`not accepted: ${JSON.stringify(sent.body)}`);
    const { at: endedAt } = await stream.until((event) => isEvent(event, 'turn_end'), from);
    await sleep(settleMs);
    return { postedAt, acceptedAt, from, endedAt };
  }

  async function untilPaused(): Promise<void> {
    const deadline = AbortSignal.timeout(pauseTimeoutMs);
    for (;;) {
      deadline.throwIfAborted();
      const sandbox = (await service.sandboxes.list()).find((entry) => entry.runId === runId);
      if (sandbox?.state === 'paused') return sleep(settleMs);
      await sleep(pollMs);
    }
  }

  await say(first);
  return {
    runId,
    stream,
    say,
    async firstText(delayMs = 0) {
      const words = agentWords(delayMs);
      const { postedAt, from } = await say(words.prompt);
      return (await stream.until(words.isTextEvent, from)).at - postedAt;
    },
    untilPaused,
    close: () => stream.close(),
  };
}

interface Opened {
  sessionId: string;
  runId: string;
}
