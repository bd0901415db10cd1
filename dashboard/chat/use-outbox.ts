import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { FileContent } from '../../client/files/input-files.ts';
import type { UnfinishedMessage } from '../../client/generated/types.ts';
import { getSession, type Session } from '../../client/sessions/session.ts';
import type { RunFeed } from '../run/run-feed.ts';
import { type Failure, failureOf } from '../ui/failure.ts';
import { collect } from '../ui/loading.ts';

interface Outbox {
  queue: Signal<readonly UnfinishedMessage[]>;
  failure: Signal<Failure | null>;
  isBusy: Signal<boolean>;
  /** True once the service has stored the message. */
  send(message: string, files: readonly FileContent[]): Promise<boolean>;
  withdraw(messageId: string): Promise<boolean>;
  interrupt(): Promise<boolean>;
}

/** What a reader can do in a session. The queue is read again whenever the conversation grows. */
export function useOutbox({ http, runId, transcript }: RunFeed): Outbox {
  const session = useRef<Promise<Session> | null>(null);
  const queue = useSignal<readonly UnfinishedMessage[]>([]);
  const failure = useSignal<Failure | null>(null);
  const isBusy = useSignal(false);
  const opened = () => (session.current ??= getSession(http, runId));

  async function readQueue(): Promise<void> {
    const messages = await collect((await opened()).messages());
    queue.value = messages.filter(({ state }) => state === 'queued');
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
  useEffect(() => void readQueue().catch(() => undefined), [transcript.value.entries.length]);

  return {
    ...{ queue, failure, isBusy },
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
