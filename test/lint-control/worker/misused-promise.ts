// breaks: typescript(no-misused-promises)
export function all(list: number[]): void {
  list.forEach(async (item) => {
    await Promise.resolve(item);
  });
}
