// Expressions in workflow files of GitHub Actions: https://docs.github.com/actions/reference
// Contexts, strings, `==`, `!=`, `!`, `&&`, `||` and the status functions.

import { runInNewContext } from 'node:vm';

export type Contexts = Record<string, unknown>;
type Status = 'success' | 'failure' | 'skipped';

/** Replaces each `${{ … }}` of a text with its value. */
export const interpolate = (text: string, contexts: Contexts): string =>
  text.replaceAll(/\$\{\{(.*?)\}\}/g, (_, expression: string) =>
    String(evaluate(expression, contexts, 'success') ?? ''),
  );

/** Whether a step runs. Without a status function in its condition, it needs success. */
export function isMet(condition: string | undefined, contexts: Contexts, status: Status): boolean {
  const text = condition ?? 'success()';
  const asksForStatus = /\b(?:success|failure|always|cancelled)\(\)/.test(text);
  if (!asksForStatus && status !== 'success') return false;
  return Boolean(evaluate(text, contexts, status));
}

const tokens = /'(?:[^']|'')*'|[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*(\(\))?/g;

/** The recipes use expressions of single values. */
type Value = string | number | boolean | null;

function evaluate(expression: string, contexts: Contexts, status: Status): Value {
  const inner = expression.trim().replace(/^\$\{\{(.*)\}\}$/s, '$1');
  const script = inner.replaceAll(tokens, (token, call: string | undefined) => {
    if (call !== undefined) return token;
    if (token.startsWith("'")) return JSON.stringify(token.slice(1, -1).replaceAll("''", "'"));
    return `at(${JSON.stringify(token)})`;
  });
  return runInNewContext(script, {
    at: (path: string) => valueAt(contexts, path),
    success: () => status === 'success',
    failure: () => status === 'failure',
    always: () => true,
    cancelled: () => false,
  }) as Value;
}

/** Null, like GitHub's, if a part of the path is missing. Throws at an unknown context. */
function valueAt(contexts: Contexts, path: string): unknown {
  const [name = '', ...rest] = path.split('.');
  if (!Object.hasOwn(contexts, name)) throw new Error(`no context ${name}`);
  return rest.reduce<unknown>(
    (value, key) => (value as Record<string, unknown> | null | undefined)?.[key] ?? null,
    contexts[name],
  );
}
