/**
 * Work and its CPU milliseconds in this process, which do not depend on other load on the machine.
 */
export function cpuTimeOf<T>(work: () => T): { timeMs: number; result: T } {
  const before = process.cpuUsage();
  const result = work();
  const { user, system } = process.cpuUsage(before);
  return { timeMs: (user + system) / 1_000, result };
}
