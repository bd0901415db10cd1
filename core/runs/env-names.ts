const form = /^[A-Za-z_][A-Za-z0-9_]*$/;
const reservedBeginnings = ['CLAUDE_', 'ANTHROPIC_', 'FLOW_', 'LD_', 'DYLD_'];
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
export function envNameFault(name: string): string | null {
  if (!form.test(name)) return 'a name is letters, digits and underscores, no digit first';
  const beginning = reservedBeginnings.find((each) => name.startsWith(each));
  if (beginning !== undefined) return `names beginning ${beginning} are reserved`;
  return reserved.has(name) ? 'this name is reserved' : null;
}
