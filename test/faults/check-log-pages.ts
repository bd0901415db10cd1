import { limits } from '../../core/limits.ts';
import type { Service } from '../support/service.ts';
import type { LoggedFrame } from './run-records.ts';
import { violationUnless } from './violation-unless.ts';

interface LogPage {
  data: { entries: { seq: number; event: string }[]; nextSeq: number; complete: boolean };
}

/** Differences between the pages of an ended run's log and its frames, byte by byte. */
export async function checkLogPages(
  service: Pick<Service, 'url' | 'key'>,
  runId: string,
  log: LoggedFrame[],
): Promise<string[]> {
  let read = 0;
  for (let isComplete = false; !isComplete; ) {
    const text = await readPage(service, runId, log[read - 1]?.seq ?? 0);
    const { entries, complete } = (JSON.parse(text) as LogPage).data;
    const expected = log.slice(read, read + entries.length);
    const wrong = entries.find(
      ({ seq, event }, at) => seq !== expected[at]?.seq || event !== expected[at]?.event,
    );
    if (wrong !== undefined) return [`entry ${wrong.seq} was read instead of another`];
    const changed = firstNotIn(text, expected);
    if (changed !== undefined) return [`entry ${changed.seq} differs from the log`];
    if (entries.length === 0 && !complete) return ['a page before the last one was empty'];
    read += entries.length;
    isComplete = complete;
  }
  return violationUnless(read === log.length, `${read} of ${log.length} entries were read`);
}

async function readPage(
  { url, key }: Pick<Service, 'url' | 'key'>,
  runId: string,
  afterSeq: number,
): Promise<string> {
  const query = `format=structured&channel=all&limit=${limits.page.logMaxEntries}&afterSeq=${afterSeq}`;
  const answer = await fetch(`${url}/api/v1/runs/${runId}/logs?${query}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`the log was not read: ${answer.status} ${text}`);
  return text;
}

/** A page holds the data of the log's frames unchanged, one after the other. */
function firstNotIn(page: string, frames: LoggedFrame[]): LoggedFrame | undefined {
  let from = 0;
  return frames.find(({ data }) => {
    const text = `"data":${data}}`;
    const at = page.indexOf(text, from);
    from = at + text.length;
    return at === -1;
  });
}
