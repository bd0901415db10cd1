import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RunEvent, toEvent } from '../../../client/stream/events.ts';
import { readAgentLine } from '../../../core/agent/agent-line.ts';
import { repository } from '../../../dev/lib/folders.ts';

/** The events of a run whose agent has written a recorded output. */
export function recordedEvents(name: string): RunEvent[] {
  const file = join(repository, 'test/fixtures/agent-output', `${name}.jsonl`);
  let seq = 0;
  return readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => readAgentLine(line))
    .flatMap(({ frames, deltas }) => [
      ...frames.map(({ event, data }) => toEvent(event, (seq += 1), JSON.parse(data))),
      ...deltas.map((data) => toEvent('stream_event', null, JSON.parse(data))),
    ]);
}
