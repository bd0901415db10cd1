import { type Fields, isFields } from './json.ts';

const opening = /(?:^|\s)@agent\s*(?:```[a-z]*\s*)?(?=\[)/;
const maxRepeat = 1_000_000;

/** The steps in a message after `@agent`, or undefined where it has none; throws where they cannot be read. */
export function findSteps(text: string): Fields[] | undefined {
  const match = opening.exec(text);
  if (match === null) return undefined;
  const list: unknown = JSON.parse(jsonListAt(text, match.index + match[0].length));
  if (!Array.isArray(list) || !list.every(isFields)) {
    throw new Error('a script is a list of objects');
  }
  return list.flatMap(repeated);
}

/** `{"repeat":n,"steps":[…]}` written out; `{{n}}` in its texts is the number of the repetition, from 1. */
function repeated(step: Fields): Fields[] {
  const { repeat, steps } = step;
  if (typeof repeat !== 'number' || !Array.isArray(steps)) return [step];
  const text = JSON.stringify(steps);
  return Array.from({ length: Math.min(repeat, maxRepeat) }, (_, index) => {
    const inner: unknown = JSON.parse(text.replaceAll('{{n}}', String(index + 1)));
    return Array.isArray(inner) ? inner.filter(isFields) : [];
  }).flat();
}

/** The text of the JSON list that begins at `start`: brackets inside strings do not count. */
function jsonListAt(text: string, start: number): string {
  let depth = 0;
  let inString = false;
  for (let at = start; at < text.length; at += 1) {
    const char = text[at];
    if (inString && char === '\\') at += 1;
    else if (char === '"') inString = !inString;
    else if (!inString && char === '[') depth += 1;
    else if (!inString && char === ']') depth -= 1;
    if (depth === 0) return text.slice(start, at + 1);
  }
  throw new Error('the list of steps is never closed');
}
