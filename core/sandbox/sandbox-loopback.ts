/**
 * Whether a host name (as normalized by the URL parser, without brackets) is the sandbox itself.
 * The agent bypasses the proxy for these, see agent-network.ts.
 */
export function isSandboxLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}
