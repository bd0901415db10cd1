// The generated parts of docs/stream.md: the tables of events and of the reasons for `finished`,
// from the schemas that describe the stream in the OpenAPI document.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { agentEvents } from '../../api/stream/events/agent-events.ts';
import {
  type DescribedEvent,
  finishedReasons,
  serviceEvents,
} from '../../api/stream/events/service-events.ts';
import { repository } from '../lib/folders.ts';

/** The page with its tables replaced. The rest of it is written by hand. */
export function makeStreamPage(): string {
  const page = readFileSync(join(repository, 'docs/stream.md'), 'utf8');
  return Object.entries(tables()).reduce(
    (text, [name, table]) => withTable(text, { name, table }),
    page,
  );
}

const tables = (): Record<string, string> => ({
  'service events': tableOf(
    ['event', 'data', 'ID', 'when'],
    Object.entries(serviceEvents).map(([event, { id, when, data }]) => [
      `\`${event}\``,
      `\`${fieldsOf(data)}\``,
      idWords[id],
      when,
    ]),
  ),
  reasons: tableOf(
    ['reason', 'what has happened'],
    Object.entries(finishedReasons).map(([reason, meaning]) => [`\`${reason}\``, meaning]),
  ),
  'agent events': tableOf(
    ['event', 'data', 'ID'],
    Object.entries(agentEvents).map(([event, { id, when }]) => [`\`${event}\``, when, idWords[id]]),
  ),
});

const idWords: Record<DescribedEvent['id'], string> = {
  always: 'yes',
  never: 'no',
  'unless first': 'not the first',
};

function tableOf(head: string[], rows: string[][]): string {
  const rule = `|${'---|'.repeat(head.length)}`;
  return [rowOf(head), rule, ...rows.map(rowOf)].join('\n');
}

const rowOf = (cells: string[]): string => `| ${cells.join(' | ')} |`;

/** The names of the fields, as JSON without values. */
function fieldsOf(data: z.ZodType): string {
  if (data instanceof z.ZodArray) return `[${fieldsOf(data.element as z.ZodType)}]`;
  if (!(data instanceof z.ZodObject)) throw new Error('neither an object nor a list of objects');
  const fields = Object.entries(data.shape).map(
    ([name, schema]) => `"${name}"${schema instanceof z.ZodOptional ? '?' : ''}`,
  );
  return `{${fields.join(',')}}`;
}

function withTable(page: string, { name, table }: { name: string; table: string }): string {
  const [begin, end] = [`<!-- ${name}: generated -->`, '<!-- end -->'];
  const start = page.indexOf(begin);
  const stop = page.indexOf(end, start);
  if (start < 0 || stop < 0) throw new Error(`docs/stream.md has no place for ${name}`);
  return `${page.slice(0, start + begin.length)}\n\n${table}\n\n${page.slice(stop)}`;
}
