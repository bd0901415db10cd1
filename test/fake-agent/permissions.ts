import type { Session } from './session.ts';

/** Plain names vanish from the offered tools; `Tool(prefix:*)` refuses single calls. */
export function disallowedNames({ args }: Session): ReadonlySet<string> {
  return new Set(args.many('--disallowedTools').filter((name) => !name.includes('(')));
}

/** Why a call of a tool is refused, or undefined where it may run. `subject` is its command or path. */
export function refusal(session: Session, tool: string, subject: string): string | undefined {
  if (disallowedNames(session).has(tool)) return `No such tool available: ${tool}`;
  const refused = session.args.many('--disallowedTools').some((name) => {
    const [, of, pattern] = /^([^(]+)\((.*)\)$/s.exec(name) ?? [];
    return of === tool && pattern !== undefined && covers(pattern, subject);
  });
  return refused ? `Permission to use ${tool} with ${subject} has been denied.` : undefined;
}

function covers(pattern: string, subject: string): boolean {
  if (!pattern.endsWith(':*')) return subject === pattern;
  const prefix = pattern.slice(0, -2);
  return subject === prefix || subject.startsWith(`${prefix} `);
}
