import type { CheckOutcome } from './run-checks.ts';

const stateWidth = 'skipped'.length;
const nameWidth = 'encryption key'.length;

/** A line for each thing that was seen, and two for each that is wrong. */
export function formatOutcome({ name, state, said, troubles, mended }: CheckOutcome): string {
  const lines = [
    ...(said.length > 0 && troubles.length === 0 ? [said.join(', ')] : said),
    ...mended.map((what) => `Mended: ${what}`),
    ...troubles.flatMap(({ code, what, advice, mendable }) => [
      `${what} [${code}]`,
      `→ ${advice}${mendable ? ' Or: flowrun doctor --fix' : ''}`,
    ]),
  ];
  const head = `${(state === 'wrong' ? 'WRONG' : state).padEnd(stateWidth)}  ${name.padEnd(nameWidth)}  `;
  const [first = '', ...others] = lines;
  return [head + first, ...others.map((line) => ' '.repeat(head.length) + line)]
    .map((line) => line.trimEnd())
    .join('\n');
}
