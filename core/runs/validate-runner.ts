/** A flow that is bound to a host which never was there would have every run refused. */
export function runnerError(runner: unknown, hosts: { hostId: string }[]): string | null {
  if (typeof runner !== 'string' || hosts.some(({ hostId }) => hostId === runner)) return null;
  return 'is the id of no host that was ever seen; `flowrun host list` shows them';
}
