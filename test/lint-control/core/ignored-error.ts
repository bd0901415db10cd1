// breaks: typescript(ban-ts-comment)
// Planted: a mistake that is hushed up is what the linter has to find here.
// @ts-ignore
export const count: number = 'one';
