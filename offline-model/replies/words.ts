/** Puts a text on one line and truncates it after a word. */
export function shortened(text: string, maxLength: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  if (line.length <= maxLength) return line;
  const cut = line.slice(0, maxLength - 1);
  return `${cut.slice(0, Math.max(cut.lastIndexOf(' '), maxLength / 2)).trimEnd()}…`;
}

export function quoted(text: string, maxLength = 200): string {
  return `“${shortened(text, maxLength)}”`;
}
