// breaks: node(no-process-env)
export const { HOME: home } = process.env;
