import type { NetworkPolicy } from '../flows/flow.ts';

/** The flags that the pinned agent sends. A new version of the agent may send others. */
const agentFlags = [
  'claude-code-20250219',
  'interleaved-thinking-2025-05-14',
  'context-management-2025-06-27',
  'context-1m-2025-08-07',
  'per-turn-control-2026-07-01',
  'mid-conversation-tool-changes-2026-07-01',
  'thinking-token-count-2026-05-13',
  'thinking-display-updates-2026-08-18',
  'advanced-tool-use-2025-11-20',
  'effort-2025-11-24',
  'fallback-credit-2026-06-01',
  'token-counting-2024-11-01',
];

/** The flags of features that act outside the sandbox, which the policy `open` permits. */
const serverFlags = [
  'web-search-2025-03-05',
  'web-fetch-2025-09-10',
  'code-execution-2025-05-22',
  'code-execution-2025-08-25',
  'files-api-2025-04-14',
  'skills-2025-10-02',
  'mcp-client-2025-04-04',
  'mcp-client-2025-11-20',
];

const permitted: Readonly<Record<NetworkPolicy, ReadonlySet<string>>> = {
  none: new Set(agentFlags),
  limited: new Set(agentFlags),
  open: new Set([...agentFlags, ...serverFlags]),
};

/** Splits the flags of an `anthropic-beta` header into those that are forwarded and the others. */
export function splitBetaFlags(
  header: string,
  policy: NetworkPolicy,
): { kept: string[]; removed: string[] } {
  const flags = header.split(',').map((flag) => flag.trim());
  const isKept = (flag: string): boolean => permitted[policy].has(flag);
  return {
    kept: flags.filter(isKept),
    removed: flags.filter((flag) => flag !== '' && !isKept(flag)),
  };
}
