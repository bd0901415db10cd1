/** Something that happens once, and that any number may wait for. */
export interface Latch<T> {
  readonly happened: Promise<T>;
  /** What it came with; undefined until then. */
  value(): T | undefined;
  /** The first call counts. */
  set(value: T): void;
}

export function createLatch<T extends object | string | number | true>(): Latch<T> {
  let value: T | undefined;
  let resolve: (value: T) => void = () => {};
  const happened = new Promise<T>((settle) => {
    resolve = settle;
  });
  return {
    happened,
    value: () => value,
    set(given) {
      if (value !== undefined) return;
      value = given;
      resolve(given);
    },
  };
}
