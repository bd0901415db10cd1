/**
 * Work that many ask for at once and that is done for all of them together: whoever asks while it goes
 * on shares the next round, which sees what has happened by then. It rests as long as it worked.
 */
export function coalesce<T>(work: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const rounds = new Map<string, { running: Promise<unknown>; next: Promise<T> | null }>();

  function begin(key: string): Promise<T> {
    const began = performance.now();
    const result = work(key);
    const rested = result.then(rest, rest).then(() => {
      if (rounds.get(key)?.next === null) rounds.delete(key);
    });
    rounds.set(key, { running: rested, next: null });
    return result;

    function rest(): Promise<void> {
      return new Promise((resolve) => setTimeout(resolve, performance.now() - began).unref());
    }
  }

  return (key) => {
    const round = rounds.get(key);
    if (round === undefined) return begin(key);
    round.next ??= round.running.then(() => begin(key));
    return round.next;
  };
}
