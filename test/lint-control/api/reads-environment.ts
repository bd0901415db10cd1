// breaks: node(no-process-env)
export const home = process.env.HOME;
