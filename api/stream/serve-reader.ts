import { limits } from '../../core/limits.ts';
import { finishedEvent } from './finished.ts';
import type { Reader } from './reader.ts';
import {
  isStateNew,
  isTreeNew,
  sayPage,
  sayPiece,
  sayRendered,
  sayStatus,
  sayTree,
  sayTruncated,
} from './say.ts';
import { ssePing, sseRetry } from './sse.ts';

/** Ends when the run is over, when the reader has gone, or when the service dismisses it. */
export async function serveReader(reader: Reader): Promise<void> {
  const stopListening = subscribe(reader);
  try {
    await replay(reader);
    await live(reader);
    if (reader.dismissal === 'shutdown') {
      await reader.outlet.write(sseRetry(limits.streamRetryAtShutdownMs));
    }
  } finally {
    stopListening();
    reader.outlet.end();
  }
}

function subscribe(reader: Reader): () => void {
  const { outlet, feed, signal } = reader;
  outlet.onClose(signal.notify);
  const stopListening = feed.onChange(signal.notify);
  const pings = setInterval(() => {
    reader.isPingDue = true;
    signal.notify();
  }, limits.streamPingMs);
  return () => {
    clearInterval(pings);
    stopListening();
  };
}

/** Who resumes has read the beginning: the live phase takes the log from its place on. */
async function replay(reader: Reader): Promise<void> {
  await sayStatus(reader);
  await sayTree(reader);
  if (reader.resumeAfter !== null || reader.snapshotSeq === 0) return;
  const page = await reader.source.readAfter(reader.run.runId, 0);
  await sayTruncated(reader, page[0]?.seq ?? reader.snapshotSeq + 1);
  await sayRendered(reader);
  await sayPage(reader, page);
  while (isServed(reader) && reader.position.seq < reader.snapshotSeq) {
    await readOn(reader, reader.snapshotSeq);
  }
}

/** What can be asked or done at once is not waited for: a thousand readers come by at every frame. */
async function live(reader: Reader): Promise<void> {
  while (isServed(reader)) {
    if (reader.isPingDue) await sayPing(reader);
    if (isTreeNew(reader)) await sayTree(reader);
    const piece = reader.feed.ring.take(reader.position);
    if (piece === 'behind') await readOn(reader, reader.feed.ring.floor());
    else if (piece !== null) {
      const written = sayPiece(reader, piece);
      if (typeof written !== 'boolean') await written;
    } else if (isStateNew(reader) && (await sayEnd(reader))) return;
    else await reader.signal.wait();
  }
}

function isServed({ outlet, dismissal }: Reader): boolean {
  return outlet.isOpen() && dismissal === null;
}

/** A page of the log; nothing there before `upTo` means that it is gone. */
async function readOn(reader: Reader, upTo: number): Promise<void> {
  const page = await reader.source.readAfter(reader.run.runId, reader.position.seq);
  await sayTruncated(reader, page[0]?.seq ?? upTo + 1);
  await sayPage(reader, page);
}

async function sayPing(reader: Reader): Promise<void> {
  reader.isPingDue = false;
  await reader.outlet.write(ssePing);
}

/** The reader has all that the feed has: time to say how the run stands, and whether it is over. */
async function sayEnd(reader: Reader): Promise<boolean> {
  const state = reader.feed.state();
  if (reader.position.seq < state.lastSeq) return false;
  await sayStatus(reader);
  if (state.endedAt === null) return false;
  await reader.outlet.write(finishedEvent(reader.run, state));
  return true;
}
