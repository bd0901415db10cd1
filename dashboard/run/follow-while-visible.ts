// A browser opens six connections to a service without TLS, for all of its tabs. So a tab holds the
// stream of its run only while it is visible.

import type { Http } from '../../client/http/http.ts';
import type { RunEvent } from '../../client/stream/events.ts';
import { followRun } from '../../client/stream/follow.ts';
import { isObject, objectIn } from '../../core/json.ts';

interface VisibleRun {
  http: Http;
  runId: string;
  /** Yields only what follows this event. */
  after: number;
  /** Ends everything; the generator then throws its reason. */
  signal: AbortSignal;
  /** Called when the page was hidden: the rest of a block that is being written will be missed. */
  onHidden: () => void;
}

/** Yields the events of a run while the page is visible, then those that were missed, and so on. */
export async function* followWhileVisible({
  http,
  runId,
  after,
  signal,
  onHidden,
}: VisibleRun): AsyncGenerator<RunEvent, void, undefined> {
  let lastSeq = after;
  let isResumed = false;
  let resuming: { isOver?: () => Promise<boolean> } = {};
  for (;;) {
    await untilVisible(signal);
    const connection = abortWhenHidden(signal);
    try {
      const request = { http, runId, after: lastSeq, signal: connection.signal };
      const events = followRun({ ...request, ...resuming });
      for await (const event of isResumed ? fromNextBlock(events) : events) {
        lastSeq = event.seq ?? lastSeq;
        yield event;
      }
      return;
    } catch (error) {
      if (!connection.wasHidden()) throw error;
      isResumed = true;
      // A network that needs a moment after a sleep is no failure.
      resuming = { isOver: () => Promise.resolve(false) };
      onHidden();
    } finally {
      connection.release();
    }
  }
}

/** Leaves out the rest of a block whose beginning was missed. */
async function* fromNextBlock(
  events: AsyncIterable<RunEvent>,
): AsyncGenerator<RunEvent, void, undefined> {
  let hasWholeBlock = false;
  for await (const event of events) {
    hasWholeBlock ||= event.type === 'assistant' || startsBlock(event);
    if (hasWholeBlock || event.type !== 'stream_event') yield event;
  }
}

const startsBlock = ({ data }: RunEvent): boolean =>
  isObject(data) && objectIn(data, 'event').type === 'content_block_start';

async function untilVisible(signal: AbortSignal): Promise<void> {
  while (document.visibilityState === 'hidden') {
    signal.throwIfAborted();
    await new Promise<void>((resolve) => {
      document.addEventListener('visibilitychange', () => resolve(), { once: true });
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }
}

function abortWhenHidden(signal: AbortSignal) {
  const hidden = new AbortController();
  const check = (): void => {
    if (document.visibilityState === 'hidden') hidden.abort();
  };
  document.addEventListener('visibilitychange', check);
  return {
    signal: AbortSignal.any([signal, hidden.signal]),
    wasHidden: () => hidden.signal.aborted && !signal.aborted,
    release: () => document.removeEventListener('visibilitychange', check),
  };
}
