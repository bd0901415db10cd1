/** Every run of a flow that is bound to an unknown host would be rejected. */
export function runnerError(runner: unknown, hosts: { hostId: string }[]): string | null {
  if (typeof runner !== 'string' || hosts.some(({ hostId }) => hostId === runner)) return null;
  return 'is not the ID of a known host; `flowrun host list` shows them';
}
