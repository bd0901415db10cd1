/**
 * The configuration that the entry program fetches once over the run's socket. It contains all
 * secrets of the run: the host never writes it to disk and deletes it once acknowledged.
 */
export interface SandboxConfig {
  /** The agent's arguments, without the program name. */
  args: string[];
  /** Environment of the agent process; the platform's variables take precedence. */
  env: Record<string, string>;
  /** Small files for the agent (system prompt, MCP configuration), in `filesDir`. */
  files: { name: string; content: string }[];
}

/** Fixed paths and IDs inside every sandbox. */
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
