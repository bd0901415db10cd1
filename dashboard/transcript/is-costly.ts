// The lexer of Markdown needs more than linear time for some texts, and an agent can write them.

/** Real answers are shorter, and need a few milliseconds. */
const maxChars = 16_384;
const maxMarksInParagraph = 500;
const maxNesting = 40;

const emphasis = /[*_~]/g;
const nested = new RegExp(`^(?:[ \\t]*(?:[>*+-]|\\d+[.)])){${maxNesting}}`, 'm');

/** Whether a text is shown as it is, because its Markdown could stop the page for long. */
export function isCostly(text: string): boolean {
  if (text.length > maxChars || nested.test(text)) return true;
  return text
    .split(/\n[ \t]*\n/)
    .some((paragraph) => (paragraph.match(emphasis)?.length ?? 0) > maxMarksInParagraph);
}
