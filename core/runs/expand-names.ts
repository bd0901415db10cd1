/** The text between `${` and the next `}`, or to the end if there is none. */
const reference = /\$\{([^}]*)\}?/g;

/** The names that the agent would expand. */
export function namesIn(text: string): string[] {
  return Array.from(text.matchAll(reference), ([, name = '']) => name);
}

/** The text after the agent's expansion; a name without a value stays as it is. */
export function expandNames(text: string, env: Readonly<Record<string, string>>): string {
  return text.replaceAll(reference, (whole, name: string) =>
    Object.hasOwn(env, name) ? (env[name] ?? '') : whole,
  );
}
