/** Milliseconds of this process's own work, which other load on the machine does not lengthen. */
export function cpuTimeMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
