import { diffLines, type LineChange } from './diff-lines.ts';

const contextLines = 3;

/** The hunks of a unified diff; empty if the texts are the same. */
export function textHunks(before: string, after: string): string {
  const oldLines = linesOf(before);
  const newLines = linesOf(after);
  return groupsOf(diffLines(oldLines, newLines))
    .map((group) => hunkOf(oldLines, newLines, group))
    .join('');
}

/** The lines with their line ends. Only the last line may have none. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Groups of changes that share lines of context. */
function groupsOf(changes: LineChange[]): LineChange[][] {
  const groups: LineChange[][] = [];
  for (const change of changes) {
    const last = groups.at(-1)?.at(-1);
    if (last !== undefined && change.oldStart - last.oldEnd <= 2 * contextLines) {
      groups.at(-1)?.push(change);
    } else {
      groups.push([change]);
    }
  }
  return groups;
}

function hunkOf(oldLines: string[], newLines: string[], group: LineChange[]): string {
  const parts: string[] = [];
  const [first, last] = [group[0], group.at(-1)];
  if (first === undefined || last === undefined) return '';
  const lead = Math.min(contextLines, first.oldStart);
  const tail = Math.min(contextLines, oldLines.length - last.oldEnd);
  const from = { old: first.oldStart - lead, new: first.newStart - lead };
  const to = { old: last.oldEnd + tail, new: last.newEnd + tail };
  let reached = from.old;
  for (const { oldStart, oldEnd, newStart, newEnd } of group) {
    parts.push(...marked(' ', oldLines.slice(reached, oldStart)));
    parts.push(...marked('-', oldLines.slice(oldStart, oldEnd)));
    parts.push(...marked('+', newLines.slice(newStart, newEnd)));
    reached = oldEnd;
  }
  parts.push(...marked(' ', oldLines.slice(reached, to.old)));
  return `@@ -${rangeOf(from.old, to.old)} +${rangeOf(from.new, to.new)} @@\n${parts.join('')}`;
}

function marked(mark: string, lines: string[]): string[] {
  return lines.map((line) =>
    line.endsWith('\n') ? `${mark}${line}` : `${mark}${line}\n\\ No newline at end of file\n`,
  );
}

/** Lines count from 1. An empty range is after the line that it names. */
function rangeOf(start: number, end: number): string {
  return `${start === end ? start : start + 1},${end - start}`;
}
