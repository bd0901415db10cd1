/** The agent CLI's own options, as far as the service uses them, by how many values each takes. */
const arity = {
  '-p': 'none',
  '--print': 'none',
  '--verbose': 'none',
  '--replay-user-messages': 'none',
  '--dangerously-skip-permissions': 'none',
  '--strict-mcp-config': 'none',
  '--include-partial-messages': 'none',
  '--output-format': 'one',
  '--input-format': 'one',
  '--setting-sources': 'one',
  '--append-system-prompt': 'one',
  '--append-system-prompt-file': 'one',
  '--system-prompt-snapshot': 'one',
  '--permission-prompt-tool': 'one',
  '--model': 'one',
  '--max-turns': 'one',
  '--max-budget-usd': 'one',
  '--json-schema': 'one',
  '--session-id': 'one',
  '--resume': 'one',
  '--mcp-config': 'many',
  '--disallowedTools': 'many',
} as const;

export type Option = keyof typeof arity;

export class UsageError extends Error {}

export interface Arguments {
  has(option: Option): boolean;
  one(option: Option): string | undefined;
  many(option: Option): readonly string[];
}

/** Reads the command line as the CLI does: an option with many values takes all words up to the next option. */
export function readArguments(argv: readonly string[]): Arguments {
  const found = new Map<string, string[]>();
  for (let at = 0; at < argv.length; ) {
    const option = argv[at] ?? '';
    if (!isOption(option)) throw new UsageError(`error: unknown option '${option}'`);
    const count = valuesAfter(argv, at);
    if (arity[option] !== 'none' && count === 0) {
      throw new UsageError(`error: option '${option}' argument missing`);
    }
    found.set(option, [...(found.get(option) ?? []), ...argv.slice(at + 1, at + 1 + count)]);
    at += 1 + count;
  }
  return checked({
    has: (option) => found.has(option),
    one: (option) => found.get(option)?.at(-1),
    many: (option) => found.get(option) ?? [],
  });
}

function isOption(word: string): word is Option {
  return Object.hasOwn(arity, word);
}

function valuesAfter(argv: readonly string[], at: number): number {
  const option = argv[at] ?? '';
  const takes = isOption(option) ? arity[option] : 'none';
  if (takes === 'none') return 0;
  if (takes === 'one') return at + 1 < argv.length ? 1 : 0;
  const rest = argv.slice(at + 1);
  const next = rest.findIndex((word) => word.startsWith('-'));
  return next === -1 ? rest.length : next;
}

const uuid = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

function checked(args: Arguments): Arguments {
  if (args.one('--output-format') === 'stream-json' && !args.has('--verbose')) {
    throw new UsageError(
      'Error: When using --print, --output-format=stream-json requires --verbose',
    );
  }
  const sessionId = args.one('--session-id');
  if (sessionId !== undefined && !uuid.test(sessionId)) {
    throw new UsageError('Error: Invalid session ID. Must be a valid UUID.');
  }
  return args;
}
