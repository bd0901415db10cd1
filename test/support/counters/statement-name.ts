const maxChars = 140;

/**
 * The beginning of an SQL text on one line, without a select list. Long texts keep the beginning,
 * which names the table or the function.
 */
export function nameOfText(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  const short = line.replace(/^select (?!from\b).+? from /, 'select … from ');
  return short.length <= maxChars ? short : `${short.slice(0, maxChars).trimEnd()}…`;
}
