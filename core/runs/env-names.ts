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

/** Why a caller may not set this variable; null where nothing stands against it. */
export function envNameError(name: string): string | null {
  if (!namePattern.test(name)) return 'a name is letters, digits and underscores, no digit first';
  const beginning = reservedPrefixes.find((each) => name.startsWith(each));
  if (beginning !== undefined) return `names beginning ${beginning} are reserved`;
  return reserved.has(name) ? 'this name is reserved' : null;
}
