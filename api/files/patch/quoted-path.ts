/** A path in a patch. Git reads it up to the end of the line, or between quotes. */
export function quotedPath(path: string): string {
  if (!/[\p{Cc}\s"\\]/u.test(path)) return path;
  const escaped = path.replaceAll(/["\\]|\p{Cc}/gu, (character) =>
    character === '"' || character === '\\' ? `\\${character}` : octalEscapes(character),
  );
  return `"${escaped}"`;
}

const octalEscapes = (character: string): string =>
  [...Buffer.from(character)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');

/**
 * Whether `git apply` accepts the path. It rejects git's own names, also in the forms that other
 * systems take for them.
 */
export const isAcceptedByGit = (path: string): boolean =>
  !path.split('/').some((segment) => /^(\.git|git~1)[ .]*($|[:\\])/i.test(segment));
