import { oneLine, stripControlCodes } from '../../core/sanitize-text.ts';
import type { FieldChange, FlowPlan } from './plan.ts';

/** One block of lines per flow. Stored texts may have terminal codes, so they are sanitized. */
export function formatPlan(plans: readonly FlowPlan[]): string {
  const blocks = plans.map(({ action, name, fields, files }) => {
    const changes = [
      ...fields.flatMap(fieldLines),
      ...files.map(({ path, status }) => `files/${path}: ${status}`),
    ];
    return [`${action} ${JSON.stringify(name)}`, ...changes.map((line) => `  ${line}`)];
  });
  return stripControlCodes(blocks.map((lines) => lines.join('\n')).join('\n'));
}

function fieldLines(change: FieldChange): string[] {
  const { field } = change;
  if ('secret' in change) return [`${field}: ${change.secret}`];
  const { before, after } = change;
  const texts = [before, after].map((value) => (typeof value === 'string' ? value : ''));
  if (!texts.some((text) => text.includes('\n')))
    return [`${field}: ${valueText(before)} → ${valueText(after)}`];
  return [`${field}:`, ...lineChanges(before, after).map((line) => `  ${line}`)];
}

const valueMaxChars = 200;
const shownLinesMax = 20;

/** Shows a field that is not set as `(none)`, not as null. */
function valueText(value: unknown): string {
  return value === null || value === undefined
    ? '(none)'
    : oneLine(JSON.stringify(value), valueMaxChars);
}

/** The lines between the first and the last difference. */
function lineChanges(before: unknown, after: unknown): string[] {
  const [old, now] = [linesOf(before), linesOf(after)];
  const longest = Math.min(old.length, now.length);
  let start = 0;
  while (start < longest && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < longest - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  return [
    ...shown('-', old.slice(start, old.length - end)),
    ...shown('+', now.slice(start, now.length - end)),
  ];
}

const linesOf = (value: unknown): string[] => (typeof value === 'string' ? value.split('\n') : []);

function shown(sign: string, lines: string[]): string[] {
  const first = lines.slice(0, shownLinesMax).map((line) => `${sign} ${line}`.trimEnd());
  const more = lines.length - first.length;
  return more === 0 ? first : [...first, `${sign} … ${more} more lines`];
}
