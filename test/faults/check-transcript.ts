import { limits } from '../../core/limits.ts';
import type { FinishedReason } from '../../core/runs/end-cause.ts';
import type { LoggedFrame } from './run-records.ts';
import type { ReceivedEvent, Transcript } from './support/transcript.ts';
import { violationUnless } from './violation-unless.ts';

interface Expected {
  log: LoggedFrame[];
  reason: FinishedReason;
}

/**
 * What one client received over all its connections equals the log: every frame once, in order,
 * byte by byte, and one end event, which comes last. Rendered text from before the first connection
 * is in one event without a number, not in separate frames.
 */
export function checkTranscript(transcript: Transcript, { log, reason }: Expected): string[] {
  const seen = transcript.connections.flatMap(({ events }) => events);
  const frames = seen.filter(({ id, event }) => id !== undefined && event !== 'finished');
  const expected = withoutRendered(log, frames);
  return [
    ...checkFrames(frames, expected.frames),
    ...violationUnless(
      expected.rendered === '' || renderedAtFirst(transcript).endsWith(expected.rendered),
      'text from before the first connection is missing',
    ),
    ...checkFinish(seen, { lastSeq: log.length, reason }),
    ...violationUnless(
      seen.every(({ event }) => event !== 'replay_truncated'),
      'replay_truncated was received',
    ),
  ].map((words) => `${transcript.name}: ${words}`);
}

/** The frames that a late client receives one by one, and the text that it receives at once. */
function withoutRendered(log: LoggedFrame[], frames: ReceivedEvent[]) {
  const firstOutput = frames.find(({ event }) => event === 'output');
  const renderedBefore = Number(firstOutput?.id ?? log.length + 1);
  const rendered = log.filter(({ event, seq }) => event === 'output' && seq < renderedBefore);
  const text = rendered.map(({ data }) => (JSON.parse(data) as { data: string }).data).join('');
  return {
    frames: log.filter((frame) => !rendered.includes(frame)),
    rendered: text.slice(-limits.log.firstOutputMaxBytes / 8),
  };
}

function renderedAtFirst({ connections }: Transcript): string {
  const first = connections[0]?.events.find(
    ({ id, event }) => id === undefined && event === 'output',
  );
  return first === undefined ? '' : (JSON.parse(first.data) as { data: string }).data;
}

/** Reports only the first difference. */
function checkFrames(frames: ReceivedEvent[], expected: LoggedFrame[]): string[] {
  const at = expected.findIndex(({ seq }, index) => Number(frames[index]?.id) !== seq);
  if (at !== -1) {
    return [`frame ${frames[at]?.id ?? 'none'} was received instead of ${expected[at]?.seq}`];
  }
  const extra = frames[expected.length];
  if (extra !== undefined) return [`frame ${extra.id} was received after the last one of the log`];
  const changed = expected.find(({ event, data }, index) => {
    const frame = frames[index];
    return frame?.event !== event || frame.data !== asOneLine(data);
  });
  return violationUnless(changed === undefined, `frame ${changed?.seq} differs from the log`);
}

const asOneLine = (data: string): string => data.replaceAll(/[\r\n]/g, ' ');

function checkFinish(
  seen: ReceivedEvent[],
  { lastSeq, reason }: { lastSeq: number; reason: FinishedReason },
): string[] {
  const ends = seen.filter(({ event }) => event === 'finished');
  const [end] = ends;
  if (end === undefined || ends.length > 1) return [`${ends.length} finished events were received`];
  const received = (JSON.parse(end.data) as { reason: string }).reason;
  return [
    ...violationUnless(seen.at(-1) === end, 'an event was received after the finished event'),
    ...violationUnless(Number(end.id) === lastSeq + 1, `the finished event has the id ${end.id}`),
    ...violationUnless(
      received === reason || received === 'already_ended',
      `the reason was ${received}, not ${reason}`,
    ),
  ];
}
