/** What stands between `${` and the next `}`, or after a `${` that is never closed. */
const reference = /\$\{([^}]*)\}?/g;

/** The names that the agent would put values in for, as they are written. */
export function namesIn(text: string): string[] {
  return Array.from(text.matchAll(reference), ([, name = '']) => name);
}

/** A text as the agent reads it; a name without a value stays as it is written. */
export function expandNames(text: string, env: Readonly<Record<string, string>>): string {
  return text.replaceAll(reference, (whole, name: string) =>
    Object.hasOwn(env, name) ? (env[name] ?? '') : whole,
  );
}
