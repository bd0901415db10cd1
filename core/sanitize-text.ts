/** Replaces NUL and lone surrogates, which the stores reject. */
export function stripUnstorable(text: string): string {
  return text.replaceAll(unstorable, '\ufffd');
}

/** Removes terminal escape sequences and control characters. */
export function stripControlCodes(text: string): string {
  return stripUnstorable(text)
    .replaceAll(escapeSequence, '')
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(otherControl, '');
}

/** The start of a text on one line, with an ellipsis if truncated. */
export function oneLine(text: string, maxChars: number): string {
  const line = text
    .slice(0, maxChars * 2)
    .replaceAll(/\s+/g, ' ')
    .trim();
  const cut = line.length > maxChars || text.length > maxChars * 2;
  return cut ? truncateText(line, maxChars) : line;
}

/** The start of a text with an ellipsis; never splits a surrogate pair. */
export function truncateText(text: string, maxChars: number): string {
  return `${text.slice(0, maxChars - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

const unstorable = /[\0\ud800-\udfff]/gu;

// Operating-system commands and the like up to their end, then control sequences, then two-letter
// escapes. Each is linear: the classes before the final character never match it.
const escapeSequence =
  /\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-~]?/g;
const otherControl = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;
