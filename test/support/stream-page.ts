import { isObject } from '../../core/json.ts';
import { pageOf } from './pages.ts';

interface Field {
  name: string;
  isOptional: boolean;
}

const page = pageOf('docs/stream.md');

/** All events on the page, including those of the agent. */
export const eventsOfPage = [...page.matchAll(/^\| `([a-z_]+)` \| [^|]+ \|/gm)]
  .map(([, name = '']) => name)
  .filter((name) => !reasonsOfPage().includes(name));

/** The reasons for `finished` on the page. */
export function reasonsOfPage(): string[] {
  const [, table = ''] = page.split('| reason | what has happened |');
  const [rows = ''] = table.split('\n\n');
  return [...rows.matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, name = '']) => name);
}

/** The documented fields of the service's own events, by event. */
export const fieldsOfPage = new Map(
  [...page.matchAll(/^\| `([a-z_]+)` \| `\[?\{(.+?)\}\]?` \|/gm)].map(
    ([, event = '', fields = '']) => [event, fieldsIn(fields)] as const,
  ),
);

function fieldsIn(text: string): Field[] {
  return text.split(',').map((field) => {
    return { name: field.replaceAll(/["?]/g, ''), isOptional: field.endsWith('?') };
  });
}

interface Event {
  event?: string | undefined;
  data: string;
}

/** The undocumented and the missing fields of an event. The agent's own events may have any. */
export function wrongIn(sent: Event | undefined): string[] {
  if (sent === undefined) return ['no such event'];
  const { event = '', data } = sent;
  const fields = fieldsOfPage.get(event);
  if (fields === undefined) return [];
  const values = [JSON.parse(data) as unknown].flat().filter(isObject);
  return values.flatMap((value) => {
    const unknown = Object.keys(value).filter((key) => !fields.some(({ name }) => name === key));
    const missing = fields.filter(({ name, isOptional }) => !isOptional && !(name in value));
    return [...unknown, ...missing.map(({ name }) => name)].map((name) => `${event}.${name}`);
  });
}
