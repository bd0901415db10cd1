// breaks: typescript(await-thenable)
export async function one(count: number): Promise<void> {
  await count;
}
