import type { PatchHunk } from '../../client/transcript/entries.ts';

/** The parts of a patch in the format of git, by the path of their file. */
export function hunksByFile(patch: string): Map<string, PatchHunk[]> {
  const files = new Map<string, PatchHunk[]>();
  for (const part of patch.split(/^diff --git /m).slice(1)) {
    const path = pathOf(part);
    if (path !== null) files.set(path, hunksIn(part));
  }
  return files;
}

/** A deleted file has its path in the line before. */
function pathOf(part: string): string | null {
  const after = /^\+\+\+ "?b\/(.+?)"?\t?$/m.exec(part)?.[1];
  return after ?? /^--- "?a\/(.+?)"?\t?$/m.exec(part)?.[1] ?? null;
}

function hunksIn(part: string): PatchHunk[] {
  return part
    .split(/^(?=@@ )/m)
    .slice(1)
    .map((text) => {
      const [head = '', ...lines] = text.replace(/\n$/, '').split('\n');
      const [, oldStart = '0', newStart = '0'] = /^@@ -(\d+)\S* \+(\d+)/.exec(head) ?? [];
      return { oldStart: Number(oldStart), newStart: Number(newStart), lines };
    });
}
