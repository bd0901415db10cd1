import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { FileContent } from '../../client/files/input-files.ts';
import type { UnfinishedMessage } from '../../client/generated/types.ts';
import { getSession, type Session } from '../../client/sessions/session.ts';
import type { Transcript } from '../../client/transcript/state.ts';
import type { RunFeed } from '../run/run-feed.ts';
import { type Failure, failureOf } from '../ui/failure.ts';
import { collect } from '../ui/loading.ts';

interface Outbox {
  /** The messages that are not in the conversation yet, in the order of their turns. */
  queue: readonly UnfinishedMessage[];
  failure: Signal<Failure | null>;
  isBusy: Signal<boolean>;
  /** True once the service has stored the message. */
  send(message: string, files: readonly FileContent[]): Promise<boolean>;
  withdraw(messageId: string): Promise<boolean>;
  interrupt(): Promise<boolean>;
}

/**
 * What a reader can do in a session. The queue is read again with the record of the run, which is
 * after each turn and every few seconds: other clients send and withdraw messages, too.
 */
export function useOutbox({ http, runId, record, transcript }: RunFeed): Outbox {
  const session = useRef<Promise<Session> | null>(null);
  const queue = useSignal<readonly UnfinishedMessage[]>([]);
  const failure = useSignal<Failure | null>(null);
  const isBusy = useSignal(false);
  const opened = (): Promise<Session> => {
    session.current ??= getSession(http, runId).catch((error: unknown) => {
      session.current = null; // the next action tries again
      throw error;
    });
    return session.current;
  };

  async function readQueue(): Promise<void> {
    queue.value = await collect((await opened()).messages());
  }
  async function act(work: () => Promise<unknown>): Promise<boolean> {
    isBusy.value = true;
    failure.value = null;
    try {
      await work();
      await readQueue();
    } catch (error) {
      failure.value = failureOf(error);
    } finally {
      isBusy.value = false;
    }
    return failure.value === null;
  }
  useEffect(() => void readQueue().catch(() => undefined), [record.value]);

  return {
    queue: queue.value.filter((message) => !hasBegun(message, transcript.value)),
    ...{ failure, isBusy },
    send: (message, files) =>
      act(async () => {
        const options = files.length === 0 ? {} : { files };
        return (await opened()).send(message, options).queued;
      }),
    withdraw: (messageId) => act(async () => (await opened()).withdraw(messageId)),
    interrupt: () =>
      act(() => http.data({ method: 'POST', path: `/runs/${runId}/interrupt`, json: {} })),
  };
}

/** A message whose turn has begun is part of the conversation, maybe of a part before the shown. */
function hasBegun(message: UnfinishedMessage, { entries, agentStatus }: Transcript): boolean {
  if (message.state === 'in_progress' && agentStatus === 'working') return true;
  const { messageId } = message;
  return entries.some((entry) => entry.kind === 'message' && entry.messageId === messageId);
}
