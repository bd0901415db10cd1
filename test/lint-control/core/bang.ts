// breaks: typescript(no-non-null-assertion)
export function first(list: string[]): string {
  return list[0]!;
}
