export const bytes = Buffer.from('text');
