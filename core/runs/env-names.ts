const namePattern = /^[A-Za-z_][A-Za-z0-9_]*$/;
const reservedPrefixes = ['CLAUDE_', 'ANTHROPIC_', 'FLOW_', 'LD_', 'DYLD_'];
const reserved: ReadonlySet<string> = new Set([
  'PATH',
  'HOME',
  'NODE_OPTIONS',
  'NODE_PATH',
  'SIGNED_TOKEN',
  'SESSION_ID',
  'MAIN_BACKEND_URL',
]);

/** The names that a client may set, as a regular expression. */
export const envNamePattern = `^(?!${reservedPrefixes.join('|')}|(?:${[...reserved].join('|')})$)[A-Za-z_][A-Za-z0-9_]*$`;

/** Why a client may not set this variable; null if it may. */
export function envNameError(name: string): string | null {
  if (!namePattern.test(name))
    return 'a name consists of letters, digits and underscores, and does not start with a digit';
  const prefix = reservedPrefixes.find((each) => name.startsWith(each));
  if (prefix !== undefined) return `names that start with ${prefix} are reserved`;
  return reserved.has(name) ? 'this name is reserved' : null;
}
