/** Text that every store takes: no NUL, and no half of a surrogate pair. */
export function stripUnstorable(text: string): string {
  return text.replaceAll(unstorable, '\ufffd');
}

/** Text as a terminal would show it, without what would move its cursor or change its colours. */
export function stripControlCodes(text: string): string {
  return stripUnstorable(text)
    .replaceAll(escapeSequence, '')
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(otherControl, '');
}

/** The beginning of a text on one line, marked where it was cut. */
export function oneLine(text: string, maxChars: number): string {
  const line = text
    .slice(0, maxChars * 2)
    .replaceAll(/\s+/g, ' ')
    .trim();
  const cut = line.length > maxChars || text.length > maxChars * 2;
  return cut ? truncateText(line, maxChars) : line;
}

/** The beginning of a text, cut between whole characters and marked. */
export function truncateText(text: string, maxChars: number): string {
  return `${text.slice(0, maxChars - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

const unstorable = /[\0\ud800-\udfff]/gu;

// Operating-system commands and the like up to their end, then control sequences, then two-letter
// escapes. Each is linear: the classes before the final character never match it.
const escapeSequence =
  /\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-~]?/g;
const otherControl = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;
