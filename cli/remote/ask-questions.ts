import type { Answers } from '../../client/index.ts';
import { isObject, type JsonObject, listIn, textIn } from '../../core/json.ts';
import { oneLine, stripControlCodes } from '../../core/sanitize-text.ts';
import { CliError } from '../format-error.ts';
import { note } from '../print.ts';

/** Reads one line of the user; null at the end of the input. */
export type ReadLine = (prompt: string) => Promise<string | null>;

/** Asks the questions of the agent one after the other. An empty answer is asked again. */
export async function askQuestions(
  questions: readonly JsonObject[],
  readLine: ReadLine,
): Promise<Answers> {
  const answers: Answers = {};
  for (const question of questions) {
    const { text, options, isMultiple } = partsOf(question);
    note(`? ${shown(text)}`);
    for (const [index, { label, description }] of options.entries())
      note(
        `  ${index + 1}) ${shown(label)}${description === '' ? '' : ` - ${shown(description)}`}`,
      );
    const hint =
      options.length === 0
        ? ''
        : isMultiple
          ? ' (numbers or text, with commas)'
          : ' (number or text)';
    answers[text] = answerOf(question, await untilAnswered(`answer${hint}: `, readLine));
  }
  return answers;
}

/** An answer as the service expects it: the numbers of options become their labels. */
export function answerOf(question: JsonObject, line: string): string | string[] {
  const { options, isMultiple } = partsOf(question);
  const labelOf = (part: string): string =>
    (/^\d+$/.test(part) ? options[Number(part) - 1]?.label : undefined) ?? part;
  if (!isMultiple) return labelOf(line.trim());
  const parts = line.split(',').map((part) => part.trim());
  return parts.filter((part) => part !== '').map(labelOf);
}

export const textOf = (question: JsonObject): string => partsOf(question).text;

async function untilAnswered(prompt: string, readLine: ReadLine): Promise<string> {
  for (;;) {
    const line = await readLine(prompt);
    if (line === null) throw new CliError('The input has ended before the answer.');
    if (line.trim() !== '') return line;
  }
}

function partsOf(question: JsonObject) {
  const options = listIn(question, 'options').filter(isObject);
  return {
    text: textIn(question, 'question') ?? '',
    options: options.map((option) => ({
      label: textIn(option, 'label') ?? '',
      description: textIn(option, 'description') ?? '',
    })),
    isMultiple: question['multiSelect'] === true,
  };
}

const lineMaxChars = 400;

/** The text comes from the agent. */
const shown = (text: string): string => oneLine(stripControlCodes(text), lineMaxChars);
