import type { CheckOutcome } from './run-checks.ts';

const stateWidth = 'skipped'.length;
const nameWidth = 'encryption key'.length;

/** The facts on one line if there is no problem; each problem takes two lines. */
export function formatOutcome({ name, state, facts, problems, fixed }: CheckOutcome): string {
  const lines = [
    ...(facts.length > 0 && problems.length === 0 ? [facts.join(', ')] : facts),
    ...fixed.map((message) => `Fixed: ${message}`),
    ...problems.flatMap(({ code, message, advice, fixable }) => [
      `${message} [${code}]`,
      `→ ${advice}${fixable ? ' Or: flowrun doctor --fix' : ''}`,
    ]),
  ];
  const label = state === 'failed' ? 'FAILED' : state;
  const head = `${label.padEnd(stateWidth)}  ${name.padEnd(nameWidth)}  `;
  const [first = '', ...others] = lines;
  return [head + first, ...others.map((line) => ' '.repeat(head.length) + line)]
    .map((line) => line.trimEnd())
    .join('\n');
}
