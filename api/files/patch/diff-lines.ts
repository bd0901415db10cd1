/** A part in which two texts differ, as indexes of lines. An end is exclusive. */
export interface LineChange {
  oldStart: number;
  oldEnd: number;
  newStart: number;
  newEnd: number;
}

/** With more edits, everything between the first and the last difference is one change. */
const editsMax = 500;

/**
 * The changes in order, with as few changed lines as possible, by the algorithm of Myers ("An O(ND)
 * Difference Algorithm and Its Variations").
 */
export function diffLines(before: string[], after: string[]): LineChange[] {
  const start = commonStart(before, after);
  const end = commonEnd(before, after, start);
  const oldEnd = before.length - end;
  const newEnd = after.length - end;
  if (start === oldEnd && start === newEnd) return [];
  const ids = new Map<string, number>();
  const path = shortestPath(
    idsOf(ids, before.slice(start, oldEnd)),
    idsOf(ids, after.slice(start, newEnd)),
  );
  if (path === null) return [{ oldStart: start, oldEnd, newStart: start, newEnd }];
  return changesOf(path).map((change) => ({
    oldStart: start + change.oldStart,
    oldEnd: start + change.oldEnd,
    newStart: start + change.newStart,
    newEnd: start + change.newEnd,
  }));
}

function commonStart(before: string[], after: string[]): number {
  let count = 0;
  while (count < before.length && count < after.length && before[count] === after[count])
    count += 1;
  return count;
}

function commonEnd(before: string[], after: string[], start: number): number {
  const most = Math.min(before.length, after.length) - start;
  let count = 0;
  while (count < most && before.at(-1 - count) === after.at(-1 - count)) count += 1;
  return count;
}

/** Equal lines have equal numbers, which are compared faster. */
function idsOf(ids: Map<string, number>, lines: string[]): number[] {
  return lines.map((line) => {
    const known = ids.get(line);
    if (known !== undefined) return known;
    ids.set(line, ids.size);
    return ids.size - 1;
  });
}

/** One line that is removed or added, at the position before it. */
interface Edit {
  x: number;
  y: number;
  isAdded: boolean;
}

/** The position in `before` on each diagonal (`x - y`) after a number of edits. */
type Furthest = Map<number, number>;

/** Null if too many edits are needed. */
function shortestPath(before: number[], after: number[]): Edit[] | null {
  const rounds: Furthest[] = [];
  let furthest: Furthest = new Map([[1, 0]]);
  for (let edits = 0; edits <= editsMax; edits += 1) {
    rounds.push(furthest);
    const next: Furthest = new Map();
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = startOf(furthest, diagonal, edits);
      while (
        x < before.length &&
        x - diagonal < after.length &&
        before[x] === after[x - diagonal]
      ) {
        x += 1;
      }
      next.set(diagonal, x);
      if (x >= before.length && x - diagonal >= after.length) {
        return trace(rounds, before.length, after.length);
      }
    }
    furthest = next;
  }
  return null;
}

const at = (furthest: Furthest, diagonal: number): number => furthest.get(diagonal) ?? -1;

/** Whether the best path to a diagonal adds a line rather than removes one. */
const isByAdding = (furthest: Furthest, diagonal: number, edits: number): boolean =>
  diagonal === -edits ||
  (diagonal !== edits && at(furthest, diagonal - 1) < at(furthest, diagonal + 1));

const startOf = (furthest: Furthest, diagonal: number, edits: number): number =>
  isByAdding(furthest, diagonal, edits)
    ? at(furthest, diagonal + 1)
    : at(furthest, diagonal - 1) + 1;

/** Follows the path back from the end of both texts. */
function trace(rounds: Furthest[], beforeLength: number, afterLength: number): Edit[] {
  const edits: Edit[] = [];
  let diagonal = beforeLength - afterLength;
  for (let count = rounds.length - 1; count > 0; count -= 1) {
    const furthest = rounds[count] ?? new Map<number, number>();
    const isAdded = isByAdding(furthest, diagonal, count);
    diagonal += isAdded ? 1 : -1;
    const x = at(furthest, diagonal);
    edits.push({ x, y: x - diagonal, isAdded });
  }
  return edits.reverse();
}

/** Joins edits that follow each other. */
function changesOf(edits: Edit[]): LineChange[] {
  const changes: LineChange[] = [];
  for (const { x, y, isAdded } of edits) {
    const last = changes.at(-1);
    const change =
      last?.oldEnd === x && last.newEnd === y
        ? last
        : { oldStart: x, oldEnd: x, newStart: y, newEnd: y };
    if (change !== last) changes.push(change);
    if (isAdded) change.newEnd += 1;
    else change.oldEnd += 1;
  }
  return changes;
}
