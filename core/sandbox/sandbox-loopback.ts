/**
 * Whether a host, as the parser of addresses writes it but without brackets, is the sandbox that
 * asks for it: what its agent calls without the proxy, see sandbox/entry/agent-env.ts.
 */
export function isSandboxLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}
