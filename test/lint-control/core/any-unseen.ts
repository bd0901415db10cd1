// breaks: typescript(no-unsafe-assignment)
const parsed = JSON.parse('{}');

export const text = String(parsed);
