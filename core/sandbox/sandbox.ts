/**
 * What the entry program fetches once over the run's socket. It holds every secret of the run, so
 * it is never written to disk by the host and is deleted once acknowledged.
 */
export interface SandboxConfig {
  /** The agent's arguments, without the program itself. */
  args: string[];
  /** Environment of the agent process; the platform's own variables win and are set last. */
  env: Record<string, string>;
  /** Small files for the agent alone (system prompt, MCP configuration), below `filesDir`. */
  files: { name: string; content: string }[];
}

/** Fixed places inside every sandbox. */
export const sandboxPaths = {
  entry: '/opt/frs/entry',
  agent: '/opt/frs/agent',
  workspace: '/workspace',
  spoolDir: '/spool',
  spoolFile: '/spool/out',
  stderrFile: '/spool/err',
  socket: '/run/egress/x',
  configDir: '/home/agent/.claude',
  filesDir: '/home/agent/.frs',
  proxyPort: 8118,
  uid: 10001,
  gid: 10001,
} as const;
