import { limits } from '../../core/limits.ts';
import { finishedEvent } from './finished-event.ts';
import type { Reader } from './reader.ts';
import type { Chunk } from './ring-buffer.ts';
import { sseEvent, sseFrame, ssePing, sseRetry } from './sse-writer.ts';

/**
 * Resolves when the run has ended, the reader has disconnected, or the service closes the stream.
 */
export async function serveReader(reader: Reader): Promise<void> {
  const unsubscribe = subscribe(reader);
  try {
    await writeNextRetry(reader);
    await replay(reader);
    await live(reader);
    await writeRetry(reader, (await reader.closing?.retryMs) ?? null);
  } finally {
    unsubscribe();
    reader.writer.end();
  }
}

function subscribe(reader: Reader): () => void {
  const { writer, feed, notifier } = reader;
  writer.onClose(notifier.notify);
  const unsubscribe = feed.onChange(() => {
    if (!writeDirectly(reader)) notifier.notify();
  });
  const stopPings = reader.pings.add(() => {
    if (reader.isWaitingForMemory) return void writeOutsidePhases(reader, ssePing);
    reader.isPingDue = true;
    notifier.notify();
  });
  return () => {
    stopPings();
    unsubscribe();
  };
}

/** A resuming reader has the beginning: the live phase reads the log after its position. */
async function replay(reader: Reader): Promise<void> {
  await writeStatus(reader);
  await writeTree(reader);
  if (reader.resumeAfter !== null || reader.replayUntilSeq === 0) return;
  const [first] = await reader.source.readAfter(reader.run.runId, 0, 1);
  await writeTruncated(reader, first?.seq ?? reader.replayUntilSeq + 1);
  await writeReplayed(reader, limits.replay.encodedOutputBytes, () => readRendered(reader));
  while (isServed(reader) && reader.position.seq < reader.replayUntilSeq) {
    await replayPage(reader, reader.replayUntilSeq);
  }
}

/** Awaits only promises that are pending: a thousand readers run this loop for every frame. */
async function live(reader: Reader): Promise<void> {
  while (isServed(reader)) {
    if (reader.isPingDue) await writePing(reader);
    if (reader.isRetryDue) await writeNextRetry(reader);
    if (hasNewTree(reader)) await writeTree(reader);
    const chunk = reader.feed.ring.take(reader.position);
    if (chunk === 'overrun') await replayPage(reader, reader.feed.ring.evictedThroughSeq());
    else if (chunk !== null) {
      const written = writeChunk(reader, chunk);
      if (typeof written !== 'boolean') await written;
    } else if (hasNewState(reader) && (await writeEnd(reader))) return;
    else await waitForChange(reader);
  }
}

async function waitForChange(reader: Reader): Promise<void> {
  await reader.notifier.wait();
  await reader.pendingWrite;
}

/**
 * Writes new events without waking the live phase, which would cost more than the write with a
 * thousand readers. False: the live phase has to run, because the reader's buffer is full, because
 * it has fallen behind, or because there is more to send than frames.
 */
function writeDirectly(reader: Reader): boolean {
  if (!reader.notifier.isWaiting()) return false;
  if (!isServed(reader) || hasNewTree(reader)) return false;
  for (;;) {
    const chunk = reader.feed.ring.take(reader.position);
    if (chunk === 'overrun') return false;
    if (chunk === null) return !hasNewState(reader);
    reader.position = chunk.to;
    if (!writeOutsidePhases(reader, chunk.bytes)) return false;
  }
}

/** False: the reader has disconnected, or its phase has to wait for the write. */
function writeOutsidePhases(reader: Reader, bytes: Buffer): boolean {
  const written = reader.writer.write(bytes);
  reader.pendingWrite = typeof written === 'boolean' ? null : written;
  return written === true;
}

function isServed({ writer, closing }: Reader): boolean {
  return writer.isOpen() && closing === null;
}

/** Writes a page of the log. An empty page before `upTo` means that those frames were pruned. */
async function replayPage(reader: Reader, upTo: number): Promise<void> {
  await writeReplayed(reader, limits.replay.encodedPageBytes, async () => {
    const page = await readPage(reader);
    await writeTruncated(reader, page?.firstSeq ?? upTo + 1);
    return page;
  });
}

/**
 * The next frames of the log as events, without the rendered ones that the first `output`
 * contained.
 */
async function readPage(reader: Reader): Promise<Page | null> {
  const { source, run, position, resumeAfter, replayUntilSeq } = reader;
  const page = await source.readAfter(run.runId, position.seq);
  const [first] = page;
  const last = page.at(-1);
  if (first === undefined || last === undefined) return null;
  const renderedUpTo = resumeAfter === null ? replayUntilSeq : 0;
  const unsent = page.filter(({ event, seq }) => event !== 'output' || seq > renderedUpTo);
  const bytes = Buffer.concat(unsent.map(sseFrame));
  return { bytes, firstSeq: first.seq, to: { seq: last.seq, n: 0 } };
}

interface Page extends Chunk {
  firstSeq: number;
}

/**
 * Reads and writes within the memory for replays. If the events exceed the reservation, it is
 * released, and they are read again with a larger one.
 */
async function writeReplayed(
  reader: Reader,
  expectedBytes: number,
  read: () => Promise<Chunk | null>,
): Promise<void> {
  let bytes = expectedBytes;
  while (isServed(reader)) {
    const needed = await writeWithin(reader, bytes, read);
    if (needed <= bytes) return;
    bytes = needed;
  }
}

/** Returns the size of the events. They are not written if it is more than `bytes`. */
async function writeWithin(
  reader: Reader,
  bytes: number,
  read: () => Promise<Chunk | null>,
): Promise<number> {
  const release = await reserveMemory(reader, bytes);
  try {
    await reader.pendingWrite;
    const replayed = isServed(reader) ? await reader.memory.read(read) : null;
    if (replayed === null) return 0;
    if (replayed.bytes.length <= bytes) await writeChunk(reader, replayed);
    return replayed.bytes.length;
  } finally {
    release();
  }
}

async function reserveMemory(reader: Reader, bytes: number): Promise<() => void> {
  if (reader.isPingDue) await writePing(reader);
  reader.isWaitingForMemory = true;
  try {
    return await reader.memory.reserve(reader.key.keyId, bytes);
  } finally {
    reader.isWaitingForMemory = false;
  }
}

/** Sends the run's status, unless it is the one sent last. */
async function writeStatus(reader: Reader): Promise<void> {
  const { status, agentStatus } = reader.feed.state();
  if (status === reader.lastSent.status) return;
  reader.lastSent.status = status;
  const data = JSON.stringify({ status, agentStatus });
  await reader.writer.write(sseEvent({ event: 'status', data }));
}

/** Sends the working directory, unless there is none or it is the one sent last. */
async function writeTree(reader: Reader): Promise<void> {
  const json = reader.feed.tree.json();
  if (json === null || !hasNewTree(reader)) return;
  reader.lastSent.tree = json;
  await reader.writer.write(sseEvent({ event: 'filetree', data: json }));
}

function hasNewTree({ feed, lastSent }: Reader): boolean {
  const json = feed.tree.json();
  return json !== null && json !== lastSent.tree;
}

/** The status differs from the one sent last, or the run has ended. */
function hasNewState({ feed, lastSent }: Reader): boolean {
  const { status, endedAt } = feed.state();
  return status !== lastSent.status || endedAt !== null;
}

/** The end of the rendered log so far. It has no ID, because it cannot be resumed in the middle. */
async function readRendered(reader: Reader): Promise<Chunk | null> {
  const { frames, run, position, replayUntilSeq: uptoSeq } = reader;
  const maxBytes = limits.log.firstOutputMaxBytes;
  const tail = await frames.renderedTail(run.runId, { maxBytes, uptoSeq });
  if (tail === '') return null;
  const bytes = sseEvent({ event: 'output', data: JSON.stringify({ data: tail }) });
  return { bytes, to: position };
}

function writeChunk(reader: Reader, chunk: Chunk): boolean | Promise<boolean> {
  reader.position = chunk.to;
  return reader.writer.write(chunk.bytes);
}

/** Reports frames that were pruned from the log, and where the stream continues. */
async function writeTruncated(reader: Reader, firstAvailableSeq: number): Promise<void> {
  if (firstAvailableSeq <= reader.position.seq + 1) return;
  const data = JSON.stringify({ instanceId: reader.run.runId, firstAvailableSeq });
  await reader.writer.write(sseEvent({ event: 'replay_truncated', data }));
  reader.position = { seq: firstAvailableSeq - 1, n: 0 };
}

async function writePing(reader: Reader): Promise<void> {
  reader.isPingDue = false;
  await reader.writer.write(ssePing);
  await writeNextRetry(reader);
}

async function writeNextRetry(reader: Reader): Promise<void> {
  reader.isRetryDue = false;
  await writeRetry(reader, reader.nextRetryMs());
}

async function writeRetry({ writer }: Reader, retryMs: number | null): Promise<void> {
  if (retryMs !== null) await writer.write(sseRetry(retryMs));
}

/** Called when the reader has everything in the feed. True if the run has ended. */
async function writeEnd(reader: Reader): Promise<boolean> {
  const state = reader.feed.state();
  if (reader.position.seq < state.lastSeq) return false;
  await writeStatus(reader);
  if (state.endedAt === null) return false;
  await reader.writer.write(finishedEvent(reader.run, state));
  return true;
}
